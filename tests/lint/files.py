# SPDX-License-Identifier: Apache-2.0
"""Single files: size, licence line, characters, names, machine paths, unfinished marks.

Law: what a reader meets in any file is finished, in plain characters, short enough to be read at once, and
says nothing about the machine it was written on.
"""
import posixpath
import re

from tree import CPP_SUFFIXES, Problem, line_of

WARN_LINES, MAX_LINES = 500, 700
CODE_SUFFIXES = CPP_SUFFIXES + (".def", ".py", ".cmake", ".sh")
SOURCE_SUFFIXES = CODE_SUFFIXES + (".toml", ".tw", ".tws", ".twp")
SOURCE_NAMES = ("CMakeLists.txt", "dev", ".ci/run", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore")
# Inputs of tests: they may be deliberately malformed.
INPUT_FOLDERS = ("tests/text/", "tests/corpus/")

_BAD_WORDS = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc", "impl", "stuff"}
_MACHINE_PATH = re.compile(r"(?<![\w.$}%])/(?:home|root|Users|work|mnt|media)/(?=[\w.])")
# Spelled in pieces, so that this file does not contain what it refuses.
_MARKS = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")


def is_source(path):
    # A template is what it becomes.
    path = re.sub(r"^cmake/templates/\w+/(.*)\.template$", r"\1", path)
    name = posixpath.basename(path)
    if path.startswith(INPUT_FOLDERS) and not path.endswith(".py"):
        return False
    return path.endswith(SOURCE_SUFFIXES) or name in SOURCE_NAMES or path in SOURCE_NAMES


def check_size(tree):
    tables = tree.exceptions("size")
    problems = []
    for path in tree.sources(*CODE_SUFFIXES):
        lines = tree.text(path).count("\n")
        if path in tables or lines <= WARN_LINES:
            continue
        problems.append(Problem(path, 0, "size", f"{lines} lines; aim near 300, at most {MAX_LINES}",
                                warning=lines <= MAX_LINES))
    for path in tables:
        if path not in tree.files:
            problems.append(Problem("tests/lint/exceptions.toml", 0, "size", f"`{path}` does not exist"))
    return problems


def check_licence(tree):
    line = "SPDX-License-" + "Identifier: Apache-2.0"
    return [Problem(path, 1, "licence", f"the first lines must hold `{line}`")
            for path in tree.files if is_source(path) and path != "CMakePresets.json"
            and line not in "\n".join(tree.text(path).split("\n")[:3])]


def check_characters(tree):
    problems = []
    for path in filter(is_source, tree.files):
        raw = tree.raw(path)
        for number, line in enumerate(raw.split(b"\n"), 1):
            if not line.isascii():
                problems.append(Problem(path, number, "characters", "not ASCII"))
            if line.endswith((b" ", b"\t", b"\r")):
                problems.append(Problem(path, number, "characters", "blank or carriage return at the end of the line"))
            if b"\t" in line:
                problems.append(Problem(path, number, "characters", "tab character"))
        if raw and not raw.endswith(b"\n"):
            problems.append(Problem(path, raw.count(b"\n") + 1, "characters", "no newline at the end of the file"))
    return problems


def check_names(tree):
    problems = []
    for path in tree.files:
        stem = posixpath.basename(path).split(".")[0]
        folders = posixpath.dirname(path).split("/")
        bad = {word for part in [stem] + folders for word in re.split(r"[_\-]", part.lower())} & _BAD_WORDS
        if bad:
            problems.append(Problem(path, 0, "names", f"`{min(bad)}` says nothing; name the file for what it holds"))
        if path.endswith(CPP_SUFFIXES + (".def", ".py")) and not re.fullmatch(r"[a-z][a-z0-9_]*|__init__", stem):
            problems.append(Problem(path, 0, "names", "source files are named in snake_case"))
    return problems


def check_marks(tree):
    problems = []
    for path in tree.files:
        if path == "LICENSE" or not (is_source(path) or path.endswith((".md", ".json", ".expected"))):
            continue
        text = tree.text(path)
        for match in _MACHINE_PATH.finditer(text):
            problems.append(Problem(path, line_of(text, match.start()), "paths", "an absolute path of one machine"))
        for match in _MARKS.finditer(text):
            problems.append(Problem(path, line_of(text, match.start()), "marks",
                                    f"`{match.group(0)}`: finish it, or file an issue and say what holds today"))
    return problems


def check(tree):
    return (check_size(tree) + check_licence(tree) + check_characters(tree) + check_names(tree) + check_marks(tree))
