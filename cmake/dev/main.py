# SPDX-License-Identifier: Apache-2.0
"""./dev: the commands, their help, and nothing else; the work is done in the modules beside this file.

Exit status: 0 all is well, 1 something failed, 2 the command line was wrong.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ci
import fuzzing
import packages
import scaffold
import style
import testing
import trees

COMMANDS = {}


def command(summary, lesson=""):
    """Registers `def <name>(parser)`, which adds arguments and returns the function to run."""
    def register(function):
        COMMANDS[function.__name__] = (summary, lesson, function)
        return function
    return register


def add_preset(parser):
    parser.add_argument("preset", nargs="?", default="dev", choices=trees.presets(),
                        help="a preset of CMakePresets.json (default: dev)")


@command("install the Debian packages that the project needs", """
Asks dpkg what is missing. Nothing missing: nothing is done. As root, or with a sudo that asks no
password, it runs apt-get; otherwise it prints the one line to run and exits 1.""")
def setup(parser):
    parser.add_argument("--print", action="store_true", help="only print the apt line for all packages")
    return lambda options: packages.setup(only_print=options.print)


@command("configure and build a preset (default: dev)", """
Programs go to build/<preset>/bin. The presets: dev (optimised, with checks), release (what users run),
asan (address and undefined behaviour), tsan (data races), fuzz (libFuzzer). ccache is used when present.""")
def build(parser):
    add_preset(parser)
    parser.add_argument("--target", action="append", help="build only this target; may be repeated")
    return lambda options: trees.build(options.preset, options.target or [])


@command("build and run the tests; the last line is `N passed, N failed, N skipped`", """
Counts single cases: GoogleTest cases, text tests, cases of the tooling's own tests. -k selects those whose
name contains a pattern (of a text test: its path). Tests that need data too large for the repository find
it in the folder TILEWRIGHT_TEST_DATA, and are skipped with a reason without it.""")
def test(parser):
    add_preset(parser)
    parser.add_argument("-k", dest="pattern", help="run only cases whose name contains this")
    parser.add_argument("--slow", action="store_true", help="run the slow tests too (exhaustive proofs over all floats)")
    return lambda options: testing.test(options.preset, options.pattern, options.slow)


@command("rewrite the expected output of text tests, for review as a diff", """
Runs the text tests below a path (default: all) and writes what they print into their `# EXPECT:` blocks and
.expected files. Read the diff before you commit it: the tool does not know what is right.""")
def bless(parser):
    parser.add_argument("path", nargs="*", help="a file or folder below tests/text")
    return lambda options: testing.bless(options.path)


@command("format all C and C++ files with clang-format-22")
def fmt(parser):
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a file is not formatted")
    return lambda options: style.format_files(check=options.check)


@command("check rooms, files, diagnostics, links and formatting", """
Rules: tests/lint, one file each. rooms: every #include against cmake/rooms.cmake; files: size, licence line,
characters, names, machine paths, unfinished marks; diagnostics: each code is seen by a text test; links:
markdown links lead somewhere. Exceptions with their reasons: tests/lint/exceptions.toml.""")
def lint(parser):
    return lambda options: style.lint()


@command("run benchmarks against peers: ./dev bench NAME, ./dev bench setup PEER", """
Runs `tests/bench/bench.py` with the rest of the line; `./dev bench --help` is its help.""")
def bench(parser):
    return lambda arguments: trees.delegate("tests/bench/bench.py", arguments)


@command("print the project's figures, one JSON line each with --json", """
Runs `tests/bench/bench.py figures` with the rest of the line.""")
def figures(parser):
    return lambda arguments: trees.delegate("tests/bench/bench.py", ["figures", *arguments])


@command("fuzz the parsers with libFuzzer under sanitizers: ./dev fuzz [name] [seconds]", """
Runs each target of tests/fuzz (or the named one) on tests/corpus/<name>, 60 s each unless told. New inputs
go to build/fuzz/corpus; --keep merges those that reach new code into tests/corpus. A crash is written to
build/fuzz/crashes; add its minimised form to tests/corpus, where `./dev test` replays it.""")
def fuzz(parser):
    parser.add_argument("name", nargs="?", help="one target, without `fuzz_` (default: all)")
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    parser.add_argument("--keep", action="store_true", help="merge useful new inputs into tests/corpus")
    return lambda options: fuzzing.fuzz(options.name, options.seconds, options.keep)


@command("set up, build, and run the main job on real input", """
Runs setup, builds the preset release and hands the rest of the line to apps/demo.py.""")
def demo(parser):
    return ci.demo


@command("write the files of a new directive, pass, op or app", """
Creates source, test and text from cmake/templates and says which lines remain to be written by hand.""")
def new(parser):
    parser.add_argument("kind", choices=scaffold.kinds())
    parser.add_argument("name", help="in snake_case")
    return lambda options: scaffold.new(options.kind, options.name)


@command("continuous integration: setup, lint, all tests (g++; clang, asan), runtime (tsan)")
def ci_command(parser):
    return lambda options: ci.run()


COMMANDS["ci"] = COMMANDS.pop("ci_command")
# Commands whose whole command line belongs to another program.
PASS_THROUGH = ("bench", "figures", "demo")


def print_help():
    print("./dev COMMAND: everything a developer of Tilewright runs. `./dev COMMAND --help` teaches.\n")
    for name, (summary, _, _) in COMMANDS.items():
        print(f"  {name:<8} {summary}")
    print(f"  {'help':<8} print this list")


def main(arguments):
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        if len(arguments) == 2 and arguments[1] in COMMANDS:
            return main([arguments[1], "--help"])
        print_help()
        return 0
    name, rest = arguments[0], arguments[1:]
    if name not in COMMANDS:
        print(f"dev: no command `{name}`; ./dev help lists them", file=sys.stderr)
        return 2
    summary, lesson, declare = COMMANDS[name]
    parser = argparse.ArgumentParser(prog=f"./dev {name}", description=summary + "." + lesson, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    action = declare(parser)
    return action(rest if name in PASS_THROUGH else parser.parse_args(rest)) or 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except trees.Failed as failure:
        print(f"dev: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
