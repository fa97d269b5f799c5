# SPDX-License-Identifier: Apache-2.0
"""Every diagnostic has a text test that expects it."""
import diagnostics
from wrong_tree import LICENCE, LintTest

DEFINITIONS = {"frontend/base/diagnostics.def": LICENCE + (
    "// E09xx: example in a comment: TILEWRIGHT_DIAGNOSTIC(Nothing, \"E0999\", Error, \"never\")\n"
    'TILEWRIGHT_DIAGNOSTIC(BadNumber, "E0103", Error, "a number")\n')}
TOOL = {"apps/cli/main.cpp": LICENCE}


class DiagnosticsTest(LintTest):
    rule = diagnostics.check

    def test_before_there_is_a_tool_nothing_is_asked(self):
        self.assert_accepted(DEFINITIONS)

    def test_code_without_a_test(self):
        problem = self.assert_refused("frontend/base/diagnostics.def", "E0103", {**DEFINITIONS, **TOOL})
        self.assertEqual(problem.line, 3)

    def test_each_kind_of_expectation_counts(self):
        for name, text in (("a.tw", "// RUN: x\n//| a.tw:1:2: error: a number [E0103]\n"),
                           ("a.toml", "# RUN: x\n#| error [E0103]\n"), ("a.test", "# CHECK-NEXT: E0103\n"),
                           ("a.tw", "  // ERROR: E0103\n"), ("inputs/a.expected", "error E0103\n")):
            with self.subTest(text):
                self.assert_accepted({**DEFINITIONS, **TOOL, f"tests/text/{name}": text})

    def test_a_mention_is_no_expectation(self):
        for text in ("// E0103 is tested elsewhere\n", "// RUN: tool --explain E0103\n", "E0103\n"):
            with self.subTest(text):
                self.assert_refused("frontend/base/diagnostics.def", "E0103", {
                    **DEFINITIONS, **TOOL, "tests/text/a.tw": text})

    def test_exception_with_a_unit_test(self):
        exception = {"tests/lint/exceptions.toml": '[diagnostics]\nE0103 = "tests/unit/a_test.cpp"\n'}
        self.assert_accepted({**DEFINITIONS, **TOOL, **exception, "tests/unit/a_test.cpp": "Code::BadNumber\n"})
        self.assert_refused("tests/lint/exceptions.toml", "does not mention", {
            **DEFINITIONS, **TOOL, **exception, "tests/unit/a_test.cpp": "Code::BadNumbers\n"})

    def test_exception_that_is_no_longer_needed(self):
        self.assert_refused("tests/lint/exceptions.toml", "remove", {
            **DEFINITIONS, **TOOL, "tests/text/a.tw": "//| [E0103]\n",
            "tests/lint/exceptions.toml": '[diagnostics]\nE0103 = "tests/unit/a_test.cpp"\n'})

    def test_code_declared_twice(self):
        twice = DEFINITIONS["frontend/base/diagnostics.def"] + 'TILEWRIGHT_DIAGNOSTIC(Other, "E0103", Error, "b")\n'
        self.assert_refused("frontend/base/diagnostics.def", "twice", {"frontend/base/diagnostics.def": twice})
