# SPDX-License-Identifier: Apache-2.0
"""The closing line: every way in which a test can end is counted once, and nothing bad is lost."""
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "cmake", "dev"))
import counts as counting

CTEST = ('<testsuite><testcase name="unit" status="{unit}"/><testcase name="text" status="{text}"/>'
         '<testcase name="package" status="{package}"/></testsuite>')
GTEST = ('<testsuites><testsuite><testcase name="A" classname="Ids" status="run" result="completed"/>'
         '<testcase name="B" classname="Ids" status="run" result="completed"><failure message="x"/></testcase>'
         '<testcase name="C" classname="Ids" status="run" result="skipped">'
         '<skipped message="tests/a_test.cpp:3&#x0A;needs TILEWRIGHT_TEST_DATA: vectors"/></testcase>'
         '<testcase name="DISABLED_D" classname="Ids" status="notrun" result="suppressed"/></testsuite></testsuites>')
GTEST_GOOD = '<testsuites><testsuite><testcase name="A" classname="Ids" status="run" result="completed"/></testsuite></testsuites>'
LIT = ('<testsuites><testsuite><testcase classname="text" name="a.tw"/><testcase classname="text" name="b.tw">'
       '<skipped message="Missing required feature(s): test-data"/></testcase></testsuite></testsuites>')


class CountsTest(unittest.TestCase):
    def results(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                with open(os.path.join(folder, name + ".xml"), "w", encoding="utf-8") as file:
                    file.write(text)
            return counting.read_results(folder)

    def test_single_cases_are_counted(self):
        found = self.results(ctest=CTEST.format(unit="fail", text="run", package="run"), unit=GTEST, text=LIT)
        self.assertEqual(found.closing_line(), "3 passed, 1 failed, 3 skipped")
        self.assertEqual(found.failed, ["Ids.B"])
        self.assertIn(("Ids.C", "needs TILEWRIGHT_TEST_DATA: vectors"), found.skipped)

    def test_text_tests_that_a_pattern_left_out_are_not_skipped(self):
        text = LIT.replace("Missing required feature(s): test-data", "Test not selected (--filter, --max-tests)")
        self.assertEqual(self.results(ctest=CTEST.format(unit="run", text="run", package="run"), unit=GTEST_GOOD,
                                      text=text).closing_line(), "3 passed, 0 failed, 0 skipped")

    def test_crash_before_the_file_was_written(self):
        found = self.results(ctest=CTEST.format(unit="fail", text="run", package="run"), text=LIT)
        self.assertEqual(found.failed, ["unit (see its output above)"])

    def test_crash_that_cut_the_file_off(self):
        found = self.results(ctest=CTEST.format(unit="fail", text="run", package="run"), unit=GTEST[:90], text=LIT)
        self.assertEqual(found.failed, ["unit (see its output above)"])

    def test_bad_end_after_good_cases(self):
        found = self.results(ctest=CTEST.format(unit="fail", text="run", package="run"), unit=GTEST_GOOD, text=LIT)
        self.assertEqual(len(found.failed), 1)
        self.assertIn("ended badly", found.failed[0])

    def test_program_without_cases_and_no_results_at_all(self):
        found = self.results(ctest=CTEST.format(unit="run", text="run", package="fail"), unit=GTEST_GOOD, text=LIT)
        self.assertEqual(found.failed, ["package (see its output above)"])
        self.assertEqual(self.results().failed, ["ctest wrote no results"])

    def test_skip_for_want_of_data_that_is_there_is_a_failure(self):
        for data, failed in ((None, 1), (os.path.join(ROOT, "no such folder"), 1), (ROOT, 3)):
            with self.subTest(data):
                found = self.results(ctest=CTEST.format(unit="fail", text="run", package="run"), unit=GTEST, text=LIT)
                counting.refuse_false_skips(found, data)
                self.assertEqual(len(found.failed), failed)
                self.assertEqual(found.total(), 7)

    def test_sum_over_trees(self):
        total = counting.Counts(passed=2, failed=["a"])
        total.add(counting.Counts(passed=3, skipped=[("b", "reason")]))
        self.assertEqual(total.closing_line(), "5 passed, 1 failed, 1 skipped")
