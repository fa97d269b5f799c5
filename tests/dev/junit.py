# SPDX-License-Identifier: Apache-2.0
"""Runs the unittest files of a folder and writes a JUnit file, so that `./dev test` counts single cases.

    junit.py FOLDER OUTPUT.xml

The variable TILEWRIGHT_TEST_PATTERN selects cases whose name contains it (`./dev test -k`).
"""
import os
import sys
import unittest
import xml.etree.ElementTree as xml


class Recorder(unittest.TextTestResult):
    """Keeps (name, outcome, text) of every case; a failed sub-test fails its case."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.bad_cases = {}
        self.records = []

    def addError(self, test, err):
        super().addError(test, err)
        self.bad_cases[test.id()] = self._exc_info_to_string(err, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad_cases[test.id()] = self._exc_info_to_string(err, test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.bad_cases[test.id()] = self._exc_info_to_string(err, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.records.append((test.id(), "skipped", reason))

    def stopTest(self, test):
        super().stopTest(test)
        if test.id() in self.bad_cases:
            return
        if not any(name == test.id() for name, _, _ in self.records):
            self.records.append((test.id(), "passed", ""))

    def all_records(self):
        return self.records + [(name, "failure", text) for name, text in self.bad_cases.items()]


def write_junit(records, path):
    suite = xml.Element("testsuite", name="python", tests=str(len(records)))
    for name, outcome, text in records:
        group, _, case = name.rpartition(".")
        element = xml.SubElement(suite, "testcase", classname=group, name=case)
        if outcome != "passed":
            xml.SubElement(element, outcome, message=text)
    xml.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: junit.py FOLDER OUTPUT.xml")
    folder, output = arguments
    pattern = os.environ.get("TILEWRIGHT_TEST_PATTERN")
    loader = unittest.TestLoader()
    if pattern:
        loader.testNamePatterns = [f"*{pattern}*"]
    tests = loader.discover(folder, pattern="test_*.py", top_level_dir=folder)
    result = unittest.TextTestRunner(resultclass=Recorder, verbosity=1).run(tests)
    write_junit(result.all_records(), output)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
