# SPDX-License-Identifier: Apache-2.0
"""Rooms: every #include against the rows of cmake/rooms.cmake, the list that the build reads too.

Laws: includes go one way (a room sees itself, the rooms of its row and what those see); a third-party header is
seen only in the .cpp files and *_wall.h headers of a room whose row names it; no file includes itself through
others; libraries never print, exit, abort or read the environment.
"""
import posixpath
import re

from tree import CPP_SUFFIXES, ROOM_ROOTS, Problem, code_only, line_of

# Third-party header -> the name that a row of rooms.cmake gives it after WALL.
WALLS = (
    ("fmt/", "fmt"), ("nlohmann/", "nlohmann_json"), ("xxhash.h", "xxhash"), ("toml++/", "tomlplusplus"),
    ("toml.hpp", "tomlplusplus"), ("isl/", "isl"), ("llvm/", "llvm"), ("llvm-c/", "llvm"), ("mlir/", "mlir"),
    ("z3", "z3"), ("sqlite3.h", "sqlite"), ("CLI/", "cli11"), ("gtest/", "gtest"), ("gmock/", "gtest"),
    ("benchmark/", "benchmark"), ("mpfr.h", "mpfr"), ("gmp.h", "mpfr"), ("gmpxx.h", "gmp"), ("cuda", "cuda"), ("Halide", "halide"),
)

# Headers of C, POSIX, Linux and the compilers. Anything else with a suffix or a folder belongs to a wall.
SYSTEM_HEADERS = set("""
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
cpuid dirent dlfcn elf fcntl link poll pthread pwd sched semaphore spawn strings unistd
immintrin x86intrin xmmintrin emmintrin pmmintrin tmmintrin smmintrin nmmintrin arm_neon arm_sve
""".split())
SYSTEM_FOLDERS = ("sys/", "linux/", "asm/")

# Folders whose headers are installed, as <tilewright/...>.
PUBLIC = ("runtime/include/", "frontend/language/include/", "apps/generator/include/")

_ROW = re.compile(r"tilewright_room\(\s*([^\s()]+)\s+DEPS([^()]*?)\bWALL\b([^()]*)\)")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)

_MANNERS = (
    (re.compile(r"(?<![\w.>])(?:std::)?(?:secure_)?getenv\s*\("), "reads the environment"),
    (re.compile(r"\bstd::(?:cout|cerr|clog)\b"), "prints"),
    (re.compile(r"\bfmt::print\s*\("), "prints"),
    (re.compile(r"(?<![\w.>:])(?:std::)?v?f?(?:printf|puts|putchar|perror)\s*\("), "prints"),
    (re.compile(r"(?<![\w.>:])(?:std::)?(?:_exit|exit|quick_exit|_Exit)\s*\("), "exits"),
    (re.compile(r"(?<![\w.>:])(?:std::)?abort\s*\(|\bstd::terminate\s*\("), "aborts"),
    (re.compile(r"#[ \t]*include[ \t]*<iostream>"), "includes <iostream>, a static constructor that prints"),
)


class Rooms:
    """The rows of rooms.cmake in their order."""

    def __init__(self, text):
        self.deps, self.walls, self.line, self.duplicates = {}, {}, {}, []
        text = re.sub(r"#[^\n]*", lambda match: " " * len(match.group(0)), text)
        for row in _ROW.finditer(text):
            room, deps, walls = row.group(1), row.group(2).split(), row.group(3).split()
            if room in self.deps:
                self.duplicates.append(room)
            self.deps[room], self.walls[room] = deps, walls
            self.line[room] = line_of(text, row.start())

    def of(self, path):
        """The room whose folder holds the file, or None."""
        folder = posixpath.dirname(path).removesuffix("/include/tilewright")
        return folder if folder in self.deps else None

    def seen_from(self, room):
        """The room itself and everything it may include."""
        seen, todo = set(), [room]
        while todo:
            name = todo.pop()
            if name in self.deps and name not in seen:
                seen.add(name)
                todo += self.deps[name]
        return seen


def wall_of(header):
    """The third party of a header; "" for a header of the language or the system."""
    if header.startswith(SYSTEM_FOLDERS) or re.fullmatch(r"[a-z_]+", header):
        return ""
    if header.endswith(".h") and header[:-2] in SYSTEM_HEADERS:
        return ""
    for prefix, wall in WALLS:
        if header.startswith(prefix):
            return wall
    return header


def _allowed_walls(path, rooms):
    """Third parties that a file may include, and whether its kind of file may do so at all."""
    room = rooms.of(path)
    if room:
        return set(rooms.walls[room])
    if path.startswith("apps/cli/"):
        return {"cli11"}
    if path.startswith("tests/bench/"):
        return {"benchmark", "gtest"}
    if path.startswith("tests/unit/packages/"):
        return {"gtest", "llvm", "z3"}
    if path.startswith("tests/"):
        tested = posixpath.dirname(path).removeprefix("tests/unit/")
        oracle = {"mpfr"} if path.startswith("tests/differential/") else set()
        return {"gtest"} | oracle | set(rooms.walls.get(tested, []))
    return set()


def _check_third_party(path, line, header, rooms):
    wall = wall_of(header)
    if not wall:
        return []
    if wall not in _allowed_walls(path, rooms):
        return [Problem(path, line, "rooms", f"<{header}> stands behind the wall `{wall}`, which this folder's row in "
                        "cmake/rooms.cmake does not name")]
    if rooms.of(path) and path.endswith((".h", ".def")) and not path.endswith("_wall.h"):
        return [Problem(path, line, "rooms", f"<{header}> may be included in .cpp files and *_wall.h headers only")]
    return []


def _check_own(tree, path, line, header, rooms):
    """An include in quotes: it must exist from the root, and lie in a room that this file may see."""
    if header.startswith("tilewright/"):
        header = next((folder + header for folder in PUBLIC if tree.has(folder + header)), header)
    room, target_room = rooms.of(path), rooms.of(header)
    if not tree.has(header):
        generated = path.startswith(("apps/", "tests/")) and not path.startswith("apps/cli/") and "/" not in header
        if generated:
            return []
        return [Problem(path, line, "rooms", f'"{header}" does not exist; includes are relative to the repository root')]
    if header.endswith("_wall.h") and posixpath.dirname(header) not in (
            room, posixpath.dirname(path).removeprefix("tests/unit/")):
        return [Problem(path, line, "rooms", f'"{header}" is private to its room')]
    if path.startswith("runtime/"):
        allowed = header.startswith("runtime/")
    elif room:
        allowed = target_room in rooms.seen_from(room) or header.startswith("runtime/") and header.endswith(".h")
        if header.startswith("apps/check/"):
            allowed = "checker" in rooms.walls[room] and path.endswith(".cpp")
    elif path.startswith(("apps/cli/", "tests/bench/")) and header.startswith("apps/probe/"):
        allowed = True
    elif path.startswith(("apps/cli/", "tests/")):
        allowed = True
    elif path.startswith("apps/"):
        allowed = header.startswith((*PUBLIC, "runtime/", "apps/npy/", "apps/runner/", posixpath.dirname(path) + "/"))
    else:
        allowed = False
    if allowed:
        return []
    return [Problem(path, line, "rooms", f'"{header}" is not among what `{room or posixpath.dirname(path)}` may include '
                    "(cmake/rooms.cmake)")]


def _check_rows(tree, rooms):
    where = "cmake/rooms.cmake"
    problems = [Problem(where, rooms.line[room], "rooms", f"`{room}` has two rows") for room in rooms.duplicates]
    seen = set()
    for room, deps in rooms.deps.items():
        for dep in deps:
            if dep not in rooms.deps:
                problems.append(Problem(where, rooms.line[room], "rooms", f"`{room}` names `{dep}`, which has no row"))
            elif dep not in seen:
                problems.append(Problem(where, rooms.line[room], "rooms",
                                        f"`{room}` names `{dep}`, whose row comes later: rooms would form a cycle"))
        seen.add(room)
    for path in tree.sources(*CPP_SUFFIXES, ".def"):
        if path.startswith(ROOM_ROOTS) and not rooms.of(path):
            problems.append(Problem(path, 0, "rooms", f"`{posixpath.dirname(path)}` has no row in {where}"))
    return problems


def _check_cycles(graph):
    """Files that include themselves through others; each cycle is reported once, at its first file."""
    problems, state = [], {}

    def visit(path, trail):
        state[path] = "open"
        for target in graph.get(path, []):
            if state.get(target) == "open":
                cycle = trail[trail.index(target):] + [target] if target in trail else [path, target]
                problems.append(Problem(target, 0, "rooms", "include cycle: " + " -> ".join(cycle)))
            elif target not in state:
                visit(target, trail + [target])
        state[path] = "done"

    for path in sorted(graph):
        if path not in state:
            visit(path, [path])
    return problems


def _check_manners(path, code):
    problems = []
    for pattern, what in _MANNERS:
        for match in pattern.finditer(code):
            problems.append(Problem(path, line_of(code, match.start()), "manners",
                                    f"a library never does this: it {what}; return a Result, or let apps/cli do it"))
    return problems


def check(tree):
    if not tree.has("cmake/rooms.cmake"):
        return [Problem("cmake/rooms.cmake", 0, "rooms", "the list of rooms is missing")]
    rooms = Rooms(tree.text("cmake/rooms.cmake"))
    problems = _check_rows(tree, rooms)
    graph = {}
    for path in tree.sources(*CPP_SUFFIXES, ".def"):
        if not path.startswith(ROOM_ROOTS + ("runtime/", "apps/", "tests/")):
            continue
        code = code_only(tree.text(path), keep_strings=True)
        for match in _INCLUDE.finditer(code):
            line, (quote, header) = line_of(code, match.start()), match.groups()
            if quote == "<" and not header.startswith("tilewright/"):
                problems += _check_third_party(path, line, header, rooms)
            else:
                problems += _check_own(tree, path, line, header, rooms)
                graph.setdefault(path, []).append(header)
        if path.startswith(ROOM_ROOTS + ("runtime/",)):
            problems += _check_manners(path, code_only(tree.text(path)))
    return problems + _check_cycles(graph)
