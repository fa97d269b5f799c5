# SPDX-License-Identifier: Apache-2.0
"""The tree that the lint reads, and the problems it reports.

Law: a rule sees only what git would commit (tracked files, and new ones that are not ignored), so lint gives
the same answer in a working tree and in a clean clone.
"""
import dataclasses
import os
import re
import subprocess
import tomllib

CPP_SUFFIXES = (".h", ".cpp", ".c", ".cc", ".hpp")
ROOM_ROOTS = ("frontend/", "schedules/", "lowering/", "autoscheduler/")


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    path: str
    line: int
    rule: str
    message: str
    warning: bool = False

    def __str__(self):
        kind = "warning" if self.warning else "error"
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {kind}: {self.message} [{self.rule}]"


class Tree:
    """Files below a root, as sorted paths relative to it with '/'."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = sorted(self._from_git() or self._from_folder())
        self._texts = {}

    def _from_git(self):
        if not os.path.exists(os.path.join(self.root, ".git")):
            return None
        command = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            return None
        names = set(done.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""}
        return [name for name in names if os.path.isfile(os.path.join(self.root, name))]

    def _from_folder(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            skipped = {".git", "__pycache__"} | ({"build"} if folder == self.root else set())
            folders[:] = [name for name in folders if name not in skipped]
            found += [os.path.relpath(os.path.join(folder, name), self.root).replace(os.sep, "/") for name in names]
        return found

    def raw(self, path):
        with open(os.path.join(self.root, path), "rb") as file:
            return file.read()

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = self.raw(path).decode("utf-8", "replace")
        return self._texts[path]

    def has(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def sources(self, *suffixes):
        return [path for path in self.files if path.endswith(suffixes)]

    def exceptions(self, table):
        """One table of tests/lint/exceptions.toml: what a rule lets pass, with the reason."""
        path = "tests/lint/exceptions.toml"
        if not self.has(path):
            return {}
        return tomllib.loads(self.text(path)).get(table, {})


_TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/'                                     # comments
    r'|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'                                   # strings
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",                 # characters, not digit separators
    re.DOTALL)


def code_only(text, keep_strings=False):
    """C++ text with comments (and strings) blanked out; line numbers stay as they were."""
    def blank(match):
        token = match.group(0)
        if keep_strings and not token.startswith(("//", "/*")):
            return token
        return "\n" * token.count("\n") if token.startswith(("//", "/*")) else '""' + "\n" * token.count("\n")
    return _TOKENS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
