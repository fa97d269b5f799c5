# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: codes are unique, and every code is seen in the expected output of a text test.

A code that no input can provoke (a failure of a library, a limit) may instead be seen by a unit test, named in
the table [diagnostics] of tests/lint/exceptions.toml as `E0702 = "tests/unit/..._test.cpp"`.
"""
import re

from tree import Problem, code_only, line_of

DEFINITIONS = "frontend/base/diagnostics.def"
_ROW = re.compile(r'TILEWRIGHT_DIAGNOSTIC\(\s*(\w+)\s*,\s*"(\w+)"\s*,\s*(\w+)\s*,\s*"((?:\\.|[^"\\])*)"\s*\)')
_EXPECTED = re.compile(r"^\s*(?:(?://|#)\||(?://|#)\s*(?!RUN:|REQUIRES:|EXPECT\b)[A-Z][A-Z0-9_-]*:)(.*)$", re.MULTILINE)


def definitions(text):
    code = code_only(text, keep_strings=True)
    return [(line_of(code, row.start()), row.group(1), row.group(2)) for row in _ROW.finditer(code)]


def expected_codes(tree):
    """Every code in the expectations (golden blocks, FileCheck lines, .expected files) of the text tests."""
    seen = set()
    for path in tree.files:
        if not path.startswith("tests/text/") or path.startswith("tests/text/tools/"):
            continue
        text = tree.text(path)
        lines = [text] if path.endswith(".expected") else _EXPECTED.findall(text)
        for line in lines:
            seen.update(re.findall(r"\bE\d{4}\b", line))
    return seen


def check(tree):
    if not tree.has(DEFINITIONS):
        return []
    rows = definitions(tree.text(DEFINITIONS))
    problems, first = [], {}
    for line, name, code in rows:
        for key in (name, code):
            if key in first:
                problems.append(Problem(DEFINITIONS, line, "diagnostics", f"`{key}` is declared twice"))
            first[key] = line
        if not re.fullmatch(r"E\d{4}", code):
            problems.append(Problem(DEFINITIONS, line, "diagnostics", f"`{code}` is not E and four digits"))
    # Without a command line tool there is no text test to write yet.
    if not any(path.startswith("apps/cli/") and path.endswith(".cpp") for path in tree.files):
        return problems
    seen, excepted = expected_codes(tree), tree.exceptions("diagnostics")
    for line, name, code in rows:
        if code in seen:
            if code in excepted:
                problems.append(Problem("tests/lint/exceptions.toml", 0, "diagnostics",
                                        f"{code} has a text test now; remove its exception"))
        elif code not in excepted:
            problems.append(Problem(DEFINITIONS, line, "diagnostics",
                                    f"no text test under tests/text expects {code} ({name})"))
        elif not tree.has(excepted[code]) or not re.search(rf"\b(?:{name}|{code})\b", tree.text(excepted[code])):
            problems.append(Problem("tests/lint/exceptions.toml", 0, "diagnostics",
                                    f"`{excepted[code]}` does not mention {name}"))
    for code in set(excepted) - {code for _, _, code in rows}:
        problems.append(Problem("tests/lint/exceptions.toml", 0, "diagnostics", f"{code} does not exist"))
    return problems
