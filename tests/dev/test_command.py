# SPDX-License-Identifier: Apache-2.0
"""The command ./dev itself: help, usage errors, set-up without root, scaffolds."""
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "cmake", "dev"))
import ci
import counts
import packages
import scaffold
import testing
import trees

COMMANDS = "setup build test bless fmt lint bench figures fuzz demo new ci help".split()


def dev(*arguments):
    return subprocess.run([os.path.join(ROOT, "dev"), *arguments], capture_output=True, text=True, check=False)


class CommandTest(unittest.TestCase):
    def test_help_explains_each_command_in_a_line(self):
        done = dev("help")
        self.assertEqual(done.returncode, 0)
        listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()))

    def test_each_command_teaches(self):
        for name in set(COMMANDS) - {"help", "bench", "figures", "demo"}:
            with self.subTest(name):
                done = dev(name, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"usage: ./dev {name}", done.stdout)

    def test_wrong_command_lines(self):
        for line in (["no_such_command"], ["build", "no_such_preset"], ["test", "--no-such-option"], ["new", "pass"]):
            with self.subTest(line):
                done = dev(*line)
                self.assertEqual(done.returncode, 2)
                self.assertNotIn("Traceback", done.stderr)


class SetupTest(unittest.TestCase):
    def run_setup(self, missing, privilege):
        with mock.patch.object(packages, "missing", side_effect=missing), \
                mock.patch.object(packages, "_privilege", return_value=privilege), \
                mock.patch.object(trees, "run") as run, mock.patch("sys.stderr") as stderr, mock.patch("sys.stdout"):
            status = packages.setup()
        printed = "".join(call.args[0] for call in stderr.write.call_args_list)
        return status, [call.args[0] for call in run.call_args_list], printed

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg-query"), "not a Debian machine")
    def test_nothing_missing_does_nothing(self):
        self.assertEqual(self.run_setup([[]], []), (0, [], ""))

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg-query"), "not a Debian machine")
    def test_without_root_prints_the_line_and_fails(self):
        status, commands, printed = self.run_setup([["libisl-dev", "g++"]], None)
        self.assertEqual((status, commands), (1, []))
        self.assertIn("apt-get update && apt-get install -y --no-install-recommends libisl-dev g++\n", printed)

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg-query"), "not a Debian machine")
    def test_with_sudo_installs_only_what_is_missing(self):
        status, commands, _ = self.run_setup([["libisl-dev"], []], ["sudo", "-n"])
        self.assertEqual(status, 0)
        self.assertEqual(commands[0], ["sudo", "-n", "apt-get", "update"])
        self.assertEqual(commands[1][-1], "libisl-dev")
        self.assertNotIn("g++", commands[1])

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg-query"), "not a Debian machine")
    def test_a_failing_installation_names_the_source_of_llvm(self):
        with mock.patch.object(packages, "missing", return_value=["llvm-22-dev"]), \
                mock.patch.object(packages, "_privilege", return_value=[]), \
                mock.patch.object(trees, "run", side_effect=[0, trees.Failed("exit status 100")]), \
                self.assertRaisesRegex(trees.Failed, "(?s)exit status 100\n.*bookworm-security"):
            packages.setup()


class CiTest(unittest.TestCase):
    def run_ci(self, build=lambda *_: 0, found=lambda preset: counts.Counts(passed=10)):
        """Runs the sequence on trees that are not there; returns its status, closing line and built trees."""
        built = []

        def note(preset, targets, environment):
            built.append((preset, list(targets), environment.get("CXX")))
            return build(preset)

        with mock.patch.object(packages, "setup", return_value=0), \
                mock.patch.object(ci.style, "lint", return_value=0), mock.patch.object(trees, "build", note), \
                mock.patch.object(testing, "run_tests", side_effect=lambda preset, programs: found(preset)), \
                mock.patch("builtins.print") as printed:
            status = ci.run()
        return status, printed.call_args.args[0], built

    def test_sums_the_trees(self):
        status, closing, built = self.run_ci()
        self.assertEqual((status, closing), (0, "31 passed, 0 failed, 0 skipped"))
        self.assertEqual(built, [("dev", [], "g++"), ("asan", [], None), ("tsan", ["unit_runtime"], None)])

    def test_a_failed_build_is_counted_and_the_next_tree_runs(self):
        def build(preset):
            if preset == "dev":
                raise trees.Failed("no compiler")
        status, closing, built = self.run_ci(build)
        self.assertEqual((status, closing), (1, "21 passed, 1 failed, 0 skipped"))
        self.assertEqual(len(built), 3)

    def test_a_program_without_cases_fails(self):
        status, closing, _ = self.run_ci(found=lambda preset: counts.Counts(passed=0 if preset == "tsan" else 10))
        self.assertEqual((status, closing), (1, "21 passed, 1 failed, 0 skipped"))


class ScaffoldTest(unittest.TestCase):
    def test_every_kind_writes_sound_files_once(self):
        for kind in scaffold.kinds():
            with self.subTest(kind), tempfile.TemporaryDirectory() as root, \
                    mock.patch.object(trees, "ROOT", root), mock.patch("sys.stdout"):
                self.assertEqual(scaffold.new(kind, "hoist_loads"), 0)
                written = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
                self.assertGreaterEqual(len(written), 1)
                for path in written:
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                    self.assertNotIn("@NAME@", text)
                    self.assertNotIn("NAME", path)
                with self.assertRaisesRegex(trees.Failed, "already there"):
                    scaffold.new(kind, "hoist_loads")

    def test_rows_go_into_the_lists_that_exist(self):
        with tempfile.TemporaryDirectory() as root, mock.patch.object(trees, "ROOT", root), mock.patch("sys.stdout"):
            os.makedirs(os.path.join(root, "lowering/passes"))
            for name, text in (("passes.def", "ROW(first)\n"), ("passes.h", "a\n\nstruct Pass {\n};\n")):
                with open(os.path.join(root, "lowering/passes", name), "w", encoding="utf-8") as file:
                    file.write(text)
            scaffold.new("pass", "hoist_loads")
            with open(os.path.join(root, "lowering/passes/passes.def"), encoding="utf-8") as file:
                self.assertRegex(file.read(), r"^ROW\(first\)\nTILEWRIGHT_PASS\(hoist_loads, \".*\"\)\n$")
            with open(os.path.join(root, "lowering/passes/passes.h"), encoding="utf-8") as file:
                self.assertRegex(file.read(), r"(?s)^a\n.*Program hoist_loads\(.*\);\n\nstruct Pass {\n};\n$")

    def test_names_are_snake_case(self):
        for name in ("HoistLoads", "hoist-loads", "../up", "1a", "a__b"):
            with self.subTest(name), self.assertRaisesRegex(trees.Failed, "snake_case"):
                scaffold.new(scaffold.kinds()[0], name)
