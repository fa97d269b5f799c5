# SPDX-License-Identifier: Apache-2.0
"""The pages of the tutorial are those that its lessons give, and what a lesson is made of is read rightly."""
import glob
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "cmake", "dev"))
import tutorial


class TutorialTest(unittest.TestCase):
    def test_pages_are_current(self):
        wanted = tutorial.pages()
        for path, text in wanted.items():
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text, "`./dev bless docs/tutorial` writes it")
        self.assertEqual(sorted(wanted), sorted(glob.glob(os.path.join(ROOT, tutorial.PAGES, "*.md"))))

    def test_ten_lessons_in_order(self):
        numbers = []
        for path in tutorial.lessons():
            with open(path, encoding="utf-8") as file:
                numbers.append(int(re.search(r"^// Lesson (\d+): ", file.read(), re.MULTILINE)[1]))
        self.assertEqual(numbers, list(range(1, 11)))

    def test_every_lesson_is_built(self):
        with open(os.path.join(ROOT, tutorial.SOURCES, "CMakeLists.txt"), encoding="utf-8") as file:
            built = set(re.findall(r"\blesson_\d\d_\w+", file.read()))
        stems = {os.path.basename(path)[:-len(".cpp")] for path in tutorial.lessons()}
        self.assertEqual(stems - built, set())

    def test_no_code_and_no_text_is_lost(self):
        """Counted in another way: every word of a source is in its page, but for the licence line."""
        for path in tutorial.lessons():
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                page = set(re.findall(r"\w+", tutorial.render(path)))
                source = [line for line in file if "SPDX" not in line and not re.match(r"// (file|refused)", line)]
                self.assertEqual(set(re.findall(r"\w+", "".join(source))) - page, set())

    def test_files_of_schedules_are_blocks_that_are_executed(self):
        page = tutorial.render(os.path.join(ROOT, "apps", "tutorial", "lesson_05_loops.cpp"))
        self.assertIn("<!-- file: lesson_05_loops.split.tws -->\n<!-- for: apps/tutorial/lesson_05_loops.tw -->\n"
                      "```tws\nschedule split for scaled", page)


if __name__ == "__main__":
    unittest.main()
