# SPDX-License-Identifier: Apache-2.0
"""./dev ci and ./dev demo: sequences of the other commands.

Law of ci: every step runs even when one before it failed, each failed step counts as a failure, and the very last
line of output is the sum over the trees.
"""
import os
import time

import counts as counting
import packages
import style
import testing
import trees

# Preset, compilers: g++ 12 builds what developers use, clang 22 the tree with address and undefined behaviour.
# The thread sanitizer sees the tests of the runtime alone: of the rest only tools that measure have threads.
CI_TREES = (("dev", {"CC": "gcc", "CXX": "g++"}, None), ("asan", {}, None), ("tsan", {}, ["unit_runtime"]))


def _step(name, counts, action):
    """Runs one step; a failure is counted under its name."""
    print(f"\n==== {name}", flush=True)
    started = time.monotonic()
    try:
        failed = bool(action())
    except trees.Failed as failure:
        print(f"dev: {failure}")
        failed = True
    if failed:
        counts.failed.append(name)
    print(f"==== {name}: {'failed' if failed else 'well'}, {time.monotonic() - started:.0f} s", flush=True)
    return not failed


def _test_tree(preset, programs, counts):
    """All tests of a tree, or the programs named; these must have cases."""
    found = testing.run_tests(preset, programs=programs)
    if programs and not found.total():
        found.failed.append("no case ran")
    found.failed = [f"{preset}: {name}" for name in found.failed]
    found.skipped = [(f"{preset}: {name}", reason) for name, reason in found.skipped]
    counts.add(found)
    return 0


def run():
    counts = counting.Counts()
    if _step("setup", counts, packages.setup):
        if _step("lint", counts, style.lint):
            counts.passed += 1
        for preset, compilers, programs in CI_TREES:
            if _step(f"build {preset}", counts, lambda: trees.build(preset, programs or (), compilers)):
                _step(f"test {preset}", counts, lambda: _test_tree(preset, programs, counts))
    print()
    return testing.report(counts)


def demo(arguments):
    if packages.setup():
        return 1
    # What users get and what the demo times; the tests of this tree are not needed.
    trees.build("release", ["apps/all", "runtime/all", "bench_programs"])
    os.environ["TILEWRIGHT_BIN"] = os.path.join(trees.build_folder("release"), "bin")
    return trees.delegate("apps/demo.py", arguments)
