# SPDX-License-Identifier: Apache-2.0
"""The rules for single files. What they refuse is spelled in pieces, so that this file itself passes."""
import files
from wrong_tree import LICENCE, LintTest


class FilesTest(LintTest):
    rule = files.check

    def test_sound_tree_is_accepted(self):
        self.assert_accepted()

    def test_size(self):
        self.assert_accepted({"frontend/ir/a.cpp": LICENCE + "int a;\n" * 499})
        long = self.assert_refused("frontend/ir/a.cpp", "501 lines", {"frontend/ir/a.cpp": LICENCE + "int a;\n" * 500})
        self.assertTrue(long.warning)
        longer = self.assert_refused("frontend/ir/a.cpp", "701 lines", {"frontend/ir/a.cpp": LICENCE + "int a;\n" * 700})
        self.assertFalse(longer.warning)

    def test_size_of_a_table_with_a_reason(self):
        table = {"tests/lint/exceptions.toml": LICENCE.replace("//", "#") + '[size]\n"frontend/ir/t.cpp" = "opcodes"\n'}
        self.assert_accepted({**table, "frontend/ir/t.cpp": LICENCE + "int a;\n" * 900})
        self.assert_refused("tests/lint/exceptions.toml", "does not exist", table)

    def test_licence(self):
        self.assert_refused("frontend/ir/a.cpp", "Apache-2.0", {"frontend/ir/a.cpp": "int a;\n"})
        self.assert_refused("dev", "Apache-2.0", {"dev": "#!/bin/sh\n"})

    def test_inputs_of_tests_need_none(self):
        self.assert_accepted({"tests/text/bad.tw": b"algorithm \xff\t \n", "tests/corpus/tw/1": b"\x00"})

    def test_characters(self):
        self.assert_refused("frontend/ir/a.cpp", "not ASCII", {"frontend/ir/a.cpp": LICENCE + "// caf\u00e9\n"})
        self.assert_refused("frontend/ir/a.cpp", "tab", {"frontend/ir/a.cpp": LICENCE + "\tint a;\n"})
        self.assert_refused("frontend/ir/a.cpp", "end of the line", {"frontend/ir/a.cpp": LICENCE + "int a; \n"})
        self.assert_refused("frontend/ir/a.cpp", "end of the line", {"frontend/ir/a.cpp": LICENCE + "int a;\r\n"})
        self.assert_refused("frontend/ir/a.cpp", "no newline", {"frontend/ir/a.cpp": LICENCE + "int a;"})

    def test_names(self):
        for name in ("text_utils.cpp", "common.h", "pass_manager.cpp", "expr_impl.h"):
            with self.subTest(name):
                self.assert_refused(f"frontend/ir/{name}", "says nothing", {f"frontend/ir/{name}": LICENCE})
        self.assert_refused("frontend/ir/Expr.cpp", "snake_case", {"frontend/ir/Expr.cpp": LICENCE})
        self.assert_accepted({"frontend/ir/commonness.cpp": LICENCE})

    def test_machine_paths(self):
        for path in ("/" + "home/someone/x", "/" + "root/x", "/" + "Users/someone", "/" + "work/tree"):
            with self.subTest(path):
                self.assert_refused("docs/a.md", "one machine", {"docs/a.md": f"see {path}\n"})
        self.assert_accepted({"docs/a.md": "docs/ho" + "me/page, https://example.org/ho" + "me/page and /usr/lib\n"})

    def test_unfinished_marks(self):
        for mark in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            with self.subTest(mark):
                self.assert_refused("frontend/ir/a.cpp", mark, {"frontend/ir/a.cpp": LICENCE + f"// {mark}: later\n"})
        self.assert_accepted({"frontend/ir/a.cpp": LICENCE + "// XX" + "XX and METHOD" + "OLOGY\n"})
