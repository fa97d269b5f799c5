# SPDX-License-Identifier: Apache-2.0
"""Golden expectations and exit statuses of text tests: golden.py, status.py, and lit with lit.cfg.py itself."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tests", "text", "tools")
LIT = "/usr/lib/llvm-22/bin/lit"


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = os.path.realpath(self.temporary.name)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def golden(self, output, *arguments, bless=False):
        environment = {**os.environ, "TILEWRIGHT_BLESS": "1" if bless else "0"}
        scratch = os.path.join(self.folder, "scratch")
        os.makedirs(scratch, exist_ok=True)
        return subprocess.run([sys.executable, "-I", "-S", os.path.join(TOOLS, "golden.py"), *arguments], input=output,
                              text=True, capture_output=True, env=environment, cwd=scratch, check=False)

    def test_equal_block_passes(self):
        path = self.write("a.tw", "// RUN: x\nalgorithm\n\n// EXPECT:\n//| one\n//|\n//|   three\n")
        self.assertEqual(self.golden("one\n\n  three\n", path).returncode, 0)

    def test_different_block_fails_and_shows_the_difference(self):
        path = self.write("a.tw", "// RUN: x\n\n// EXPECT:\n//| one\n")
        done = self.golden("two\n", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-one", done.stdout)
        self.assertIn("+two", done.stdout)

    def test_output_that_goes_on_fails(self):
        path = self.write("a.tw", "// RUN: x\n// EXPECT:\n//| one\n")
        self.assertEqual(self.golden("one\ntwo\n", path).returncode, 1)

    def test_missing_block_fails_until_blessed(self):
        path = self.write("a.tws", "// RUN: x\nschedule\n")
        self.assertEqual(self.golden("one\n", path).returncode, 1)
        self.assertEqual(self.golden("one\n", path, bless=True).returncode, 0)
        self.assertEqual(self.read(path), "// RUN: x\nschedule\n\n// EXPECT:\n//| one\n")
        self.assertEqual(self.golden("one\n", path).returncode, 0)

    def test_bless_of_a_passing_test_changes_nothing(self):
        text = "# RUN: x\n[machine]\n\n# EXPECT:\n#| one\n\n# EXPECT errors:\n#| two\n#|\n#| three\n"
        path = self.write("a.toml", text)
        self.golden("one\n", path, bless=True)
        self.golden("two\n\nthree\n", path, "errors", bless=True)
        self.assertEqual(self.read(path), text)

    def test_bless_replaces_only_the_named_block(self):
        path = self.write("a.tw", "// RUN: x\n// EXPECT a:\n//| one\n//| old\nx\n// EXPECT b:\n//| two\n")
        self.golden("new\n", path, "a", bless=True)
        self.assertEqual(self.read(path), "// RUN: x\n// EXPECT a:\n//| new\nx\n// EXPECT b:\n//| two\n")

    def test_empty_output_is_an_expectation(self):
        path = self.write("a.tw", "// RUN: x\n// EXPECT:\n")
        self.assertEqual(self.golden("", path).returncode, 0)
        self.assertEqual(self.golden("one\n", path).returncode, 1)

    def test_machine_paths_do_not_reach_expectations(self):
        path = self.write("a.tw", "// RUN: x\n")
        output = f"{self.folder}/a.tw:1:2: error\nwrote {self.folder}/scratch/lib.a\n"
        self.golden(output, path, bless=True)
        self.assertIn("//| a.tw:1:2: error\n//| wrote %T/lib.a\n", self.read(path))
        self.assertEqual(self.golden(output, path).returncode, 0)

    def test_whole_file(self):
        path = os.path.join(self.write("inputs/x", "")[:-1] + "gemm.h.expected")
        self.assertEqual(self.golden("int gemm;\n", path).returncode, 1)
        self.assertEqual(self.golden("int gemm;\n", path, bless=True).returncode, 0)
        self.assertEqual(self.read(path), "int gemm;\n")
        self.assertEqual(self.golden("int gemm;\n", path).returncode, 0)
        self.assertEqual(self.golden("int gemv;\n", path).returncode, 1)

    def test_status(self):
        def status(wanted, program):
            return subprocess.run([sys.executable, os.path.join(TOOLS, "status.py"), wanted, sys.executable, "-c", program],
                                  capture_output=True, check=False).returncode
        self.assertEqual(status("2", "import sys; sys.exit(2)"), 0)
        self.assertEqual(status("1", "import sys; sys.exit(2)"), 1)
        self.assertEqual(status("0", "pass"), 0)
        self.assertEqual(status("1", "import os; os.kill(os.getpid(), 11)"), 1)

    @unittest.skipUnless(os.path.exists(LIT), "lit of llvm-22-tools is not installed")
    def test_lit_runs_checks_and_blesses(self):
        """The real configuration with a stand-in for the tool that prints its input's first word twice."""
        tool = self.write("build/bin/tilewright", f"#!{sys.executable}\nimport sys\n"
                          "word = open(sys.argv[1]).read().split()[-1]\nprint(word); print(sys.argv[1] + ': error')\nsys.exit(2)\n")
        os.chmod(tool, 0o755)
        path = self.write("suite/a.tw", "// RUN: %status 2 %tilewright %s | %golden %s\n// RUN: not %tilewright %s | "
                          "FileCheck %s\n// CHECK: {{w.rd}}\n// EXPECT:\n//| wrong\nword\n")
        config = self.read(os.path.join(ROOT, "tests", "text", "lit.cfg.py"))
        self.write("suite/lit.cfg.py", config.replace(
            "os.path.dirname(os.path.abspath(__file__))", repr(os.path.join(self.folder, "suite"))).replace(
            'os.path.join(source, "tools")', repr(TOOLS)))

        def lit(**environment):
            return subprocess.run([sys.executable, LIT, "-v", "--param", f"build={self.folder}/build", f"{self.folder}/suite"],
                                  env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        before = lit()
        self.assertEqual(before.returncode, 1, before.stdout)
        self.assertIn("-wrong", before.stdout)
        blessed = lit(TILEWRIGHT_BLESS="1")
        self.assertEqual(blessed.returncode, 0, blessed.stdout)
        self.assertIn("// EXPECT:\n//| word\n//| a.tw: error\nword\n", self.read(path))
        self.assertEqual(lit().returncode, 0)
