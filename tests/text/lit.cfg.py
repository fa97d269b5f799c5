# SPDX-License-Identifier: Apache-2.0
# Configuration of the text tests (docs/testing.md explains how to write one). Run by `./dev test` and
# `./dev bless`, which pass the build folder as `--param build=...`.
import os
import sys

import lit.formats

source = os.path.dirname(os.path.abspath(__file__))
build = lit_config.params.get("build") or lit_config.fatal("pass --param build=<build folder>")
tools = os.path.join(source, "tools")
llvm_bin = "/usr/lib/llvm-22/bin"

config.name = "text"
# The internal shell: the same behaviour everywhere, and no shell started per line.
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tw", ".tws", ".twp", ".test", ".toml"]
config.excludes = ["tools", "inputs"]
config.test_source_root = source
config.test_exec_root = os.path.join(build, "text")

# Slow tests lie in folders named `slow` and are selected by `./dev test --slow`.
if os.environ.get("TILEWRIGHT_SLOW_TESTS") != "1":
    config.excludes.append("slow")

for name in ("TILEWRIGHT_TEST_DATA", "TILEWRIGHT_BLESS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
             "ASAN_SYMBOLIZER_PATH", "HOME", "CC", "CXX"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["PATH"] = os.pathsep.join([llvm_bin, os.environ["PATH"]])
config.environment["NO_COLOR"] = "1"
if os.environ.get("TILEWRIGHT_TEST_DATA"):
    config.available_features.add("test-data")
    config.substitutions.append(("%data", os.environ["TILEWRIGHT_TEST_DATA"]))

python = f"{sys.executable} -I -S -B"
config.substitutions += [
    ("%tilewright", os.path.join(build, "bin", "tilewright")),
    ("%mistakes", os.path.join(build, "bin", "tests", "cpp_mistakes")),
    ("%golden", f"{python} {tools}/golden.py"),
    ("%status", f"{python} {tools}/status.py"),
    ("%write_npy", f"{python} {tools}/npy.py"),
    ("%nested", f"{python} {tools}/nested.py"),
    ("%interrupt", f"{python} {tools}/interrupt.py"),
    ("%json", f"{python} {tools}/json_document.py"),
]
