# SPDX-License-Identifier: Apache-2.0
"""./dev test and ./dev bless."""
import glob
import json
import os
import re
import subprocess
import sys
import time

import counts as counting
import trees
import tutorial

LABELS = {"gtest", "lit", "python"}
# GoogleTest suites whose name ends in Slow run with --slow only.
SLOW_SUITES = "*Slow.*:*Slow/*"


def _environment(pattern, slow):
    environment = dict(os.environ)
    for name in ("GTEST_FILTER", "LIT_FILTER", "TILEWRIGHT_TEST_PATTERN", "TILEWRIGHT_SLOW_TESTS", "TILEWRIGHT_BLESS"):
        environment.pop(name, None)
    negative = "" if slow else f"-{SLOW_SUITES}"
    environment["GTEST_FILTER"] = (f"*{pattern}*" if pattern else "*") + negative
    environment["GTEST_BRIEF"] = "1"
    if slow:
        environment["TILEWRIGHT_SLOW_TESTS"] = "1"
    if pattern:
        environment["LIT_FILTER"] = re.escape(pattern)
        environment["TILEWRIGHT_TEST_PATTERN"] = pattern
    return environment


def _selected(preset, pattern):
    """Names of the ctest tests to run for a pattern: those that select their own cases, and matching names."""
    done = subprocess.run(["ctest", "--test-dir", trees.build_folder(preset), "--show-only=json-v1"],
                          capture_output=True, text=True, check=True)
    names = []
    for row in json.loads(done.stdout)["tests"]:
        labels = {label for property in row.get("properties", []) if property["name"] == "LABELS"
                  for label in property["value"]}
        if labels & LABELS or pattern in row["name"]:
            names.append(row["name"])
    return names


def run_tests(preset, pattern=None, slow=False, programs=None):
    """Runs ctest in a built tree, all of it or the programs named, and counts the cases."""
    results = os.path.join(trees.build_folder(preset), "results")
    os.makedirs(results, exist_ok=True)
    for path in glob.glob(os.path.join(results, "*.xml")):
        os.remove(path)
    command = ["ctest", "--test-dir", trees.build_folder(preset), "--parallel", str(trees.jobs() + 1), "--output-on-failure",
               "--no-tests=ignore", "--output-junit", os.path.join(results, "ctest.xml")]
    if not slow:
        command += ["--label-exclude", "^slow$"]
    if pattern:
        programs = _selected(preset, pattern)
    if programs is not None:
        command += ["--tests-regex", "^(" + "|".join(map(re.escape, programs)) + ")$"]
    started = time.monotonic()
    trees.run(command, check=False, env=_environment(pattern, slow))
    found = counting.read_results(results)
    counting.refuse_false_skips(found, os.environ.get("TILEWRIGHT_TEST_DATA"))
    print(f"\ntests of {preset}: {time.monotonic() - started:.1f} s" + ("" if slow else ", without the slow ones"))
    return found


def report(found):
    """Names what failed and why things were skipped, then the closing line. Returns the exit status."""
    for name in found.failed:
        print(f"failed: {name}")
    for name, reason in found.skipped:
        print(f"skipped: {name}: {reason}")
    print(found.closing_line(), flush=True)
    return 1 if found.failed or not found.total() else 0


def test(preset, pattern, slow):
    found = counting.Counts()
    try:
        trees.build(preset)
        found = run_tests(preset, pattern, slow)
    except trees.Failed as failure:
        print(f"dev: {failure}")
        found.failed.append(str(failure))
    if not found.total():
        print(f"dev: no test matches `{pattern}`" if pattern else "dev: there are no tests")
    return report(found)


def _golden_tests(paths):
    """The text tests below the paths that have an expectation to rewrite."""
    found = []
    for path in paths or ["tests/text"]:
        absolute = os.path.abspath(path)
        if not os.path.exists(absolute):
            raise trees.Failed(f"no such file or folder: {path}")
        for folder, _, names in os.walk(absolute) if os.path.isdir(absolute) else [("", [], [absolute])]:
            for name in names:
                file = os.path.join(folder, name)
                with open(file, encoding="utf-8", errors="replace") as text:
                    if not file.endswith(".py") and re.search(r"RUN:.*%golden", text.read()):
                        found.append(file)
    return sorted(found)


def bless(paths):
    pages = [path for path in paths if os.path.abspath(path).startswith(os.path.join(trees.ROOT, tutorial.PAGES))]
    if pages or not paths:
        print(f"bless: {tutorial.write()} pages of {tutorial.PAGES} changed")
    if pages and len(pages) == len(paths):
        return 0
    paths = [path for path in paths if path not in pages]
    tests = _golden_tests(paths)
    if not tests:
        print("bless: no text test with %golden there")
        return 0
    trees.build("dev", ["tilewright", "cpp_mistakes"])
    lit = os.path.join(trees.LLVM_BIN, "lit")
    status = trees.run([sys.executable, lit, "-q", "--param", f"build={trees.build_folder('dev')}", *tests], check=False,
                       env={**os.environ, "TILEWRIGHT_BLESS": "1", "TILEWRIGHT_SLOW_TESTS": "1"})
    changed = subprocess.run(["git", "diff", "--stat", "--", "tests/text"], cwd=trees.ROOT, capture_output=True,
                             text=True, check=False).stdout
    print(f"bless: ran {len(tests)} tests; what differs from the last commit, for review:\n{changed or '  nothing'}")
    return 1 if status else 0
