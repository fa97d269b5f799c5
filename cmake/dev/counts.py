# SPDX-License-Identifier: Apache-2.0
"""Counts single test cases from the JUnit files of ctest, GoogleTest, lit and tests/dev/junit.py.

Law: nothing that went wrong is lost. A program that died before it wrote its file, or failed without a failing
case, counts as one failure; a case skipped for want of data that is there counts as a failure, too.
"""
import dataclasses
import os
import re
import xml.etree.ElementTree as xml

NEEDS_DATA = re.compile(r"needs TILEWRIGHT_TEST_DATA|required feature\(s\):[^\n]*\btest-data\b")


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)   # names
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def total(self):
        return self.passed + len(self.failed) + len(self.skipped)

    def closing_line(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def _reason(element):
    text = (element.get("message") or "") + "\n" + (element.text or "")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    # GoogleTest puts the source position on a line of its own.
    lines = [line for line in lines if not re.fullmatch(r"\S+:\d+", line)]
    return lines[0] if lines else "no reason given"


def read_cases(path):
    """The cases of one JUnit file; None when it is absent or was cut off."""
    try:
        root = xml.parse(path).getroot()
    except (OSError, xml.ParseError):
        return None
    counts = Counts()
    for case in root.iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        skipped = case.find("skipped")
        if skipped is not None and "Test not selected" in (skipped.get("message") or ""):
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(name)
        elif skipped is not None:
            counts.skipped.append((name, _reason(skipped)))
        elif case.get("status") == "notrun":
            counts.skipped.append((name, "disabled"))
        else:
            counts.passed += 1
    return counts


def read_results(folder):
    """Everything that ctest ran, from <folder>/ctest.xml and the files named after its tests."""
    counts = Counts()
    try:
        programs = list(xml.parse(os.path.join(folder, "ctest.xml")).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        counts.failed.append("ctest wrote no results")
        return counts
    for program in programs:
        name, status = program.get("name"), program.get("status")
        cases = read_cases(os.path.join(folder, name + ".xml"))
        if cases is None:
            skipped = program.find("skipped")
            if status == "run":
                counts.passed += 1
            elif status in ("disabled", "notrun") and skipped is not None:
                counts.skipped.append((name, _reason(skipped)))
            else:
                counts.failed.append(f"{name} (see its output above)")
            continue
        counts.add(cases)
        if status != "run" and not cases.failed:
            counts.failed.append(f"{name} (ended badly: crash, time limit or sanitizer report)")
    return counts


def refuse_false_skips(counts, data_folder):
    """With the data at hand, a test that says it needs them has not run for no reason."""
    if not data_folder or not os.path.isdir(data_folder):
        return
    false = [name for name, reason in counts.skipped if NEEDS_DATA.search(reason)]
    counts.skipped = [row for row in counts.skipped if row[0] not in false]
    counts.failed += [f"{name} (skipped for want of data, but TILEWRIGHT_TEST_DATA is set)" for name in false]
