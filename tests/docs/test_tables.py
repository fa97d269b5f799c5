# SPDX-License-Identifier: Apache-2.0
"""The documents against the tables of the code that they describe."""
import glob
import os
import re
import unittest

ROOT = os.environ.get("TILEWRIGHT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Directives(unittest.TestCase):
    """docs/schedules.md has one section per row of directives.def."""

    def setUp(self):
        rows = re.findall(r'^TILEWRIGHT_DIRECTIVE\(\w+, "(\w+)", "([^"]+)"', text_of(
            "schedules/directives/directives.def"), re.MULTILINE)
        self.rows = dict(rows)
        document = text_of("docs/schedules.md")
        self.sections = {name: body for name, body in re.findall(
            r"^### `(\w+)`\n(.*?)(?=^##)", document, re.MULTILINE | re.DOTALL)}

    def test_every_directive_has_a_section_and_no_other(self):
        self.assertGreater(len(self.rows), 10)
        self.assertEqual(sorted(self.sections), sorted(self.rows))

    def test_sections_show_use_result_and_refusal(self):
        for keyword, body in self.sections.items():
            with self.subTest(keyword):
                uses = re.findall(r"^```tws\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)
                self.assertTrue(all(re.search(rf"^\s*{keyword}\b", use, re.MULTILINE) for use in (uses[0], uses[-1])))
                self.assertIn("<!-- becomes -->", body)
                self.assertIn("<!-- refused:", body)
                self.assertIn("Refused:", body)


class Codes(unittest.TestCase):
    """Codes named in documents exist, and the tables of codes are complete."""

    def setUp(self):
        self.codes = set(re.findall(r'"(E\d{4})"', text_of("frontend/base/diagnostics.def")))

    def test_codes_in_documents_exist(self):
        for path in glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True):
            with self.subTest(os.path.relpath(path, ROOT)):
                self.assertEqual(set(re.findall(r"\bE\d{4}\b", text_of(path))) - self.codes, set())

    def test_tables_of_ranges(self):
        for path, prefix in (("docs/machines.md", "E04"), ("docs/schedules.md", "E03")):
            with self.subTest(path):
                rows = re.findall(r"^\| (E\d{4}) \|", text_of(path), re.MULTILINE)
                self.assertEqual(rows, sorted(code for code in self.codes if code.startswith(prefix)))


class MachineKeys(unittest.TestCase):
    """docs/machines.md shows every key that a machine file or an instruction file may have."""

    def test_every_key_is_shown(self):
        keys = re.findall(r'v\.\w+\("(\w+)"', text_of("schedules/machine/fields.h"))
        self.assertGreater(len(keys), 20)
        block = "".join(re.findall(r"^```(?:toml|text)\n((?:format|\[\[space\]\]).*?)```", text_of("docs/machines.md"), re.MULTILINE | re.DOTALL))
        shown = set(re.findall(r"^(\w+) = |^\[+(\w+)\]", block, re.MULTILINE))
        shown = {name for pair in shown for name in pair if name}
        self.assertEqual(shown, set(keys) | {"format"})


class HowTo(unittest.TestCase):
    """Each page of docs/howto lists the files that it touches, and counts them."""

    def pages(self):
        pages = sorted(glob.glob(os.path.join(ROOT, "docs/howto/*.md")))
        self.assertTrue(pages)
        return pages

    def test_files_are_counted(self):
        for path in self.pages():
            with self.subTest(os.path.basename(path)):
                page = text_of(path)
                steps = re.findall(r"^\d+\. `([^`]+)`", page, re.MULTILINE)
                count = re.search(r"^files touched: (\d+)\n\Z", page, re.MULTILINE)
                self.assertIsNotNone(count, "the last line says `files touched: N`")
                self.assertEqual(int(count[1]), len(set(steps)), steps)

    def test_files_exist(self):
        for path in self.pages():
            for step in re.findall(r"^\d+\. `([^`]+)`", text_of(path), re.MULTILINE):
                with self.subTest(step):
                    place = os.path.dirname(step.split("NAME")[0] + "x") if "NAME" in step else step
                    # The folder of a kind of text test appears with its first test.
                    if not place.startswith("tests/text/"):
                        self.assertTrue(os.path.exists(os.path.join(ROOT, place)), place)


if __name__ == "__main__":
    unittest.main()
