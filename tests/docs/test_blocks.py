# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the documents are executed, each as one case. A comment directly before a block says more:

    ```tw, ```twp      must be read by `tilewright opt`
    ```tw canonical    `opt` prints it as it stands;  ```tw error E0203  reading it fails with this code first
    ```tws             <!-- for: NAME --> first: an algorithm of a ```tw block before it, or a path in the tree
    ```toml            <!-- machine --> first: must be a machine file
    ```sh              <!-- run --> first: runs in a folder of this document, with the built programs in PATH;
                       `run: 1` expects this exit status
    ```text            <!-- prints --> first: exactly what the ```sh block before it prints, both streams

    <!-- file: NAME -->     the block also lies in that folder under this name
    <!-- becomes -->        the block is exactly what `tilewright opt` prints for the block before it
    <!-- golden -->         the `#|` lines of the block are what `tilewright opt` prints for it
    <!-- refused: E0304 --> reading the block fails with this code; a list of codes is allowed

Several comments may stand in a row. `test_blocks.py --bless` rewrites the blocks that say `becomes`; review the diff.
Law: a block of these languages is never passed over in silence: a comment or an info string
that is not understood, a fence that is not closed, and a ```tws without algorithm, fail.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("TILEWRIGHT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.environ.get("TILEWRIGHT_BIN", "")
LANGUAGES = {"tw", "twp", "tws", "toml", "sh"}
KEYS = {"for", "file", "refused", "becomes", "run", "machine", "prints", "golden"}
INFO = re.compile(r"\A(canonical|error E\d{4})\Z")
COMMENT = re.compile(r"<!--\s*([a-z]+)(?::\s*(.*?))?\s*-->\s*")


class Block:
    def __init__(self, line, language, text, notes, info=""):
        self.line, self.language, self.text, self.notes, self.info = line, language, text, notes, info


def parse_blocks(text):
    """All blocks of one document, with the comments directly before each (blank lines may stand between)."""
    blocks, notes = [], {}
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = re.fullmatch(r"(\s*)(`{3,})\s*([^\s`]*)\s*([^`]*?)\s*", line)
        if fence:
            indent, ticks, language, info = fence.groups()
            begin = at + 1
            end = begin
            while end < len(lines) and lines[end].strip() != ticks:
                end += 1
            if end == len(lines):
                raise ValueError(f"line {begin}: the block is not closed")
            body = "".join(row[len(indent):] + "\n" for row in lines[begin:end])
            blocks.append(Block(begin, language, body, notes, info))
            notes = {}
            at = end + 1
            continue
        comment = COMMENT.fullmatch(line.strip())
        if comment:
            notes[comment[1]] = comment[2] or ""
        elif line.strip():
            notes = {}
        at += 1
    return blocks


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


class Document(unittest.TestCase):
    """One document; a test method per block is added below."""
    blocks = []

    def run_nothing(self):
        """The method of an instance that only lends its functions."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tilewright-docs-")
        for block in cls.blocks:
            if "file" in block.notes:
                cls.write(block.notes["file"], block.text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def algorithm(self, index):
        """The file of the algorithm that a schedule is for; `becomes` blocks share that of the block before."""
        block = self.blocks[index]
        name = block.notes.get("for")
        if name is None and "becomes" in block.notes and index > 0:
            return self.algorithm(index - 1)
        if not name:
            self.fail("a ```tws block needs <!-- for: ALGORITHM --> before it")
        if "/" in name:
            return os.path.join(ROOT, name)
        for other in reversed(self.blocks[:index]):
            if other.language == "tw" and re.search(rf"^algorithm {re.escape(name)}\(", other.text, re.MULTILINE):
                return self.write(f".algorithm/{name}.tw", other.text)
        return self.fail(f"no ```tw block above holds `algorithm {name}(`")

    def opt(self, index):
        block = self.blocks[index]
        path = self.write(f".block/line_{block.line}.{block.language}", block.text)
        tool = os.path.join(BIN, "tilewright")
        if block.language == "toml":
            return run([tool, "machine", "show", path])
        command = [tool, "opt", path]
        if block.language == "tws":
            command += ["--algorithm", self.algorithm(index)]
        return run(command)

    def check(self, index):
        block = self.blocks[index]
        for key in block.notes:
            self.assertIn(key, KEYS, "a comment before a block that is not understood")
        if block.info:
            self.assertEqual(block.language, "tw")
            self.assertRegex(block.info, INFO, "an info string that is not understood")
        self.maxDiff = None
        if block.language == "sh":
            self.run_shell(block)
            return None
        if "prints" in block.notes:
            before = self.blocks[index - 1]
            self.assertTrue(index > 0 and executed(before) and before.language == "sh", "a ```sh block must stand before")
            self.assertEqual(block.text, self.run_shell(before))
            return None
        done = self.opt(index)
        if block.info.startswith("error"):
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertEqual(re.findall(r"\[(E\d{4})\]", done.stderr)[:1], [block.info.split()[1]], done.stderr)
            return None
        if "refused" in block.notes:
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            seen = re.findall(r"\[(E\d{4})\]", done.stderr)
            self.assertEqual(sorted(set(seen)), sorted(re.findall(r"E\d{4}", block.notes["refused"])), done.stderr)
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        if "becomes" in block.notes:
            before = self.opt(index - 1)
            self.assertEqual(before.returncode, 0, before.stderr)
            self.assertEqual(block.text, before.stdout)
        if block.info == "canonical":
            self.assertEqual(block.text, done.stdout)
        if "golden" in block.notes:
            self.assertEqual("".join(re.findall(r"^#\| ?(.*\n)", block.text, re.MULTILINE)), done.stdout)
        return None

    def run_shell(self, block):
        """Runs a block and returns what it printed, without the name of the folder."""
        environment = {**os.environ, "PATH": BIN + os.pathsep + os.environ["PATH"], "TILEWRIGHT_SOURCE_DIR": ROOT}
        done = run(["bash", "-euo", "pipefail", "-c", block.text], cwd=self.folder.name, env=environment)
        self.assertEqual(done.returncode, int(block.notes.get("run") or 0), done.stdout + done.stderr)
        return (done.stdout + done.stderr).replace(self.folder.name + os.sep, "")


def executed(block):
    """Shell, TOML and plain text blocks only when they are marked."""
    marks = {"sh": "run", "toml": "machine"}
    if block.language == "twp" and block.info:
        return False  # tests/unit/lowering/program/program_page_test.cpp runs them
    if block.language not in LANGUAGES:
        return "prints" in block.notes
    return block.language not in marks or marks[block.language] in block.notes


def documents():
    patterns = ("*.md", "docs/**/*.md", "apps/**/*.md", "tests/**/*.md")
    return sorted({path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)})


def define(path):
    with open(path, encoding="utf-8") as file:
        blocks = parse_blocks(file.read())
    name = re.sub(r"\W", "_", os.path.relpath(path, ROOT))
    methods = {f"test_line_{block.line:04}_{block.language}": (lambda self, at=index: self.check(at))
               for index, block in enumerate(blocks) if executed(block)}
    if methods:
        globals()[name] = type(name, (Document,), {"blocks": blocks, "__module__": __name__, **methods})


for document in documents():
    define(document)


class Parser(unittest.TestCase):
    """The reader of documents itself."""

    def test_notes_belong_to_the_next_block(self):
        text = "<!-- for: a -->\n<!-- file: x.tws -->\n\n```tws\none\n```\n\n```tw\ntwo\n```\n"
        blocks = parse_blocks(text)
        self.assertEqual([(b.language, b.text, b.notes) for b in blocks],
                         [("tws", "one\n", {"for": "a", "file": "x.tws"}), ("tw", "two\n", {})])
        self.assertEqual([b.line for b in blocks], [4, 8])

    def test_text_between_ends_the_notes(self):
        self.assertEqual(parse_blocks("<!-- run -->\nwords\n```sh\nx\n```\n")[0].notes, {})

    def test_other_languages_and_indents(self):
        self.assertFalse(executed(parse_blocks("```cpp\nx\n```\n")[0]))
        self.assertEqual(parse_blocks("- item\n  ```tw\n  a\n    b\n  ```\n")[0].text, "a\n  b\n")

    def test_marks(self):
        self.assertFalse(executed(Block(1, "sh", "", {})))
        self.assertTrue(executed(Block(1, "sh", "", {"run": ""})))
        self.assertTrue(executed(Block(1, "tws", "", {})))
        self.assertFalse(executed(Block(1, "text", "", {})))
        self.assertTrue(executed(Block(1, "text", "", {"prints": ""})))

    def test_info_strings_and_open_fences(self):
        blocks = parse_blocks("```tw canonical\none\n```\n```tw error E0203\ntwo\n```\n\n```tw\nthree\n```\n")
        self.assertEqual([(b.info, b.text) for b in blocks],
                         [("canonical", "one\n"), ("error E0203", "two\n"), ("", "three\n")])
        with self.assertRaisesRegex(ValueError, "line 1"):
            parse_blocks("```tw\none\n")

    def test_every_fence_of_the_documents_is_a_block(self):
        """Counted in another way than they are read: fences are the lines that begin with three backticks."""
        seen = 0
        for path in documents():
            with self.subTest(os.path.relpath(path, ROOT)), open(path, encoding="utf-8") as file:
                text = file.read()
                blocks = parse_blocks(text)
                fences = [line.strip() for line in text.split("\n") if line.strip().startswith("```")]
                self.assertEqual(len(fences), 2 * len(blocks))
                opened = [line.strip("` ").split(" ")[0] for line in fences[::2]]
                self.assertEqual(opened, [block.language for block in blocks])
                for language in ("tw", "tws", "twp"):
                    if (os.path.basename(path), language) != ("program.md", "twp"):  # a test of its own runs them
                        self.assertEqual(opened.count(language), sum(b.language == language and executed(b) for b in blocks))
                seen += len(blocks)
        self.assertGreater(seen, 80)


def bless(path):
    """Writes what the tool prints into the blocks of one document that say `becomes`, the last one first."""
    name = re.sub(r"\W", "_", os.path.relpath(path, ROOT))
    if name not in globals():
        return
    case = globals()[name]("run_nothing")
    case.setUpClass()
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for index in reversed(range(len(case.blocks))):
        block = case.blocks[index]
        if "becomes" not in block.notes:
            continue
        done = case.opt(index - 1)
        if done.returncode:
            print(f"{path}:{case.blocks[index - 1].line}: {done.stderr}")
            continue
        begin = block.line
        lines[begin:begin + block.text.count("\n")] = done.stdout.rstrip("\n").split("\n")
    case.tearDownClass()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    if "--bless" in sys.argv:
        for document in documents():
            bless(document)
    else:
        unittest.main()
