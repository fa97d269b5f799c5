# SPDX-License-Identifier: Apache-2.0
"""./dev fmt and ./dev lint. The rules of the lint stand in tests/lint; this adds formatting."""
import os
import shutil
import subprocess
import sys

import trees

SUFFIXES = (".h", ".cpp", ".c")


def _files():
    done = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=trees.ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise trees.Failed("not a git checkout, so the files to format are unknown")
    return sorted(name for name in set(done.stdout.split("\0"))
                  if name.endswith(SUFFIXES) and os.path.isfile(os.path.join(trees.ROOT, name)))


def _clang_format():
    path = shutil.which("clang-format-22") or os.path.join(trees.LLVM_BIN, "clang-format")
    if not os.path.exists(path):
        raise trees.Failed("clang-format-22 is not installed; run ./dev setup")
    return path


def format_files(check=False):
    names = _files()
    flags = ["--dry-run", "-Werror"] if check else ["-i"]
    size = max(1, -(-len(names) // (2 * trees.jobs())))
    running = [subprocess.Popen([_clang_format(), *flags, *names[i:i + size]], cwd=trees.ROOT, text=True,
                                stderr=subprocess.PIPE) for i in range(0, len(names), size)]
    complaints = [process.communicate()[1] for process in running]
    bad = sorted({line.split(":")[0] for text in complaints for line in text.splitlines()
                  if "clang-format-violations" in line})
    for name in bad:
        print(f"{name}: error: not formatted; run ./dev fmt [format]")
    if any(process.returncode for process in running) and not bad:
        raise trees.Failed("clang-format failed: " + "".join(complaints))
    print(f"fmt: {len(names)} files" + (f", {len(bad)} not formatted" if check else ""))
    return 1 if bad else 0


def lint():
    rules = trees.run([sys.executable, "-B", os.path.join(trees.ROOT, "tests/lint/run.py"), trees.ROOT], check=False)
    return max(rules, format_files(check=True))
