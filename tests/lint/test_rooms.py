# SPDX-License-Identifier: Apache-2.0
"""The rooms rule: accepts what the rows allow, refuses each way of breaking them."""
import rooms
from wrong_tree import LICENCE, SOUND, LintTest


class RoomsTest(LintTest):
    rule = rooms.check

    def test_sound_tree_is_accepted(self):
        self.assert_accepted()

    def test_include_against_the_direction(self):
        problem = self.assert_refused("frontend/base/ids.cpp", "`frontend/base`", {
            "frontend/base/ids.cpp": LICENCE + "\n" + '#include "frontend/ir/expr.h"\n'})
        self.assertEqual(problem.line, 3)

    def test_include_of_a_sibling_without_an_edge(self):
        self.assert_refused("schedules/tree/tree.cpp", "may include", {
            "schedules/polyhedra/set.h": LICENCE,
            "schedules/tree/tree.cpp": LICENCE + '#include "schedules/polyhedra/set.h"\n'})

    def test_rooms_seen_through_other_rooms_are_allowed(self):
        self.assert_accepted({"schedules/tree/more.cpp": LICENCE + '#include "frontend/base/ids.h"\n'})

    def test_third_party_outside_its_wall(self):
        self.assert_refused("frontend/ir/expr.cpp", "wall `isl`", {
            "frontend/ir/expr.cpp": LICENCE + "#include <isl/set.h>\n"})

    def test_third_party_in_a_header_of_its_own_room(self):
        self.assert_refused("schedules/polyhedra/set.h", "*_wall.h", {
            "schedules/polyhedra/set.h": LICENCE + "#include <isl/set.h>\n"})

    def test_wall_header_may_include_it_and_stays_private(self):
        wall = {"schedules/polyhedra/isl_wall.h": LICENCE + "#include <isl/set.h>\n"}
        include = '#include "schedules/polyhedra/isl_wall.h"\n'
        self.assert_accepted({**wall, "schedules/polyhedra/domain.cpp": LICENCE + include})
        self.assert_accepted({**wall, "tests/unit/schedules/polyhedra/set_test.cpp": LICENCE + include})
        self.assert_refused("tests/laws/set_test.cpp", "private", {
            **wall, "tests/laws/set_test.cpp": LICENCE + include})

    def test_unknown_third_party(self):
        self.assert_refused("frontend/base/ids.cpp", "boost/graph.hpp", {
            "frontend/base/ids.cpp": LICENCE + "#include <boost/graph.hpp>\n"})

    def test_system_headers_are_no_third_party(self):
        self.assert_accepted({"frontend/base/ids.cpp": LICENCE + "#include <sys/mman.h>\n#include <bit>\n"})

    def test_include_that_does_not_exist(self):
        self.assert_refused("frontend/ir/expr.cpp", "does not exist", {
            "frontend/ir/expr.cpp": LICENCE + '#include "expr.h"\n'})

    def test_commented_include_does_not_count(self):
        self.assert_accepted({"frontend/ir/expr.cpp": LICENCE + '// #include "no/where.h"\n/*\n#include <isl/set.h>\n*/\n'})

    def test_folder_without_a_row(self):
        self.assert_refused("lowering/new_room/a.cpp", "no row", {"lowering/new_room/a.cpp": LICENCE})

    def test_row_that_names_a_later_row(self):
        rows = SOUND["cmake/rooms.cmake"].replace("frontend/base    DEPS", "frontend/base DEPS frontend/ir")
        problem = self.assert_refused("cmake/rooms.cmake", "cycle", {"cmake/rooms.cmake": rows})
        self.assertEqual(problem.line, 2)

    def test_row_that_names_an_unknown_room(self):
        rows = SOUND["cmake/rooms.cmake"] + "tilewright_room(lowering/a DEPS lowering/b WALL)\n"
        self.assert_refused("cmake/rooms.cmake", "has no row", {"cmake/rooms.cmake": rows})

    def test_second_row_of_a_room(self):
        rows = SOUND["cmake/rooms.cmake"] + "tilewright_room(frontend/ir DEPS WALL)\n"
        self.assertIn("two rows", "".join(map(str, self.problems_with({"cmake/rooms.cmake": rows}))))

    def test_include_cycle_of_files(self):
        self.assert_refused("frontend/ir/a.h", "frontend/ir/a.h -> frontend/ir/b.h -> frontend/ir/a.h", {
            "frontend/ir/a.h": LICENCE + '#include "frontend/ir/b.h"\n',
            "frontend/ir/b.h": LICENCE + '#include "frontend/ir/a.h"\n'})

    def test_runtime_includes_no_room_but_rooms_may_include_its_headers(self):
        header = {"runtime/include/tilewright/runtime.h": LICENCE}
        self.assert_accepted({**header, "frontend/ir/a.cpp": LICENCE + '#include "tilewright/runtime.h"\n',
                              "runtime/pool.c": LICENCE + "#include <tilewright/runtime.h>\n#include <pthread.h>\n"})
        self.assert_refused("runtime/pool.cpp", "may include", {
            "runtime/pool.cpp": LICENCE + '#include "frontend/base/ids.h"\n'})

    def test_command_line_library_only_in_the_tool(self):
        self.assert_accepted({"apps/cli/main.cpp": LICENCE + "#include <CLI/CLI.hpp>\n" + '#include "frontend/ir/expr.h"\n'})
        self.assert_refused("frontend/ir/expr.cpp", "cli11", {
            "frontend/ir/expr.cpp": LICENCE + "#include <CLI/CLI.hpp>\n"})

    def test_application_sees_no_compiler(self):
        self.assert_accepted({"apps/gemm/main.c": LICENCE + '#include "gemm.h"\n'})
        self.assert_accepted({"apps/gemm/main.cpp": LICENCE + '#include "apps/runner/runner.h"\n', "apps/runner/runner.h": LICENCE + "#pragma once\n"})
        self.assert_refused("apps/gemm/main.c", "may include", {
            "apps/gemm/main.c": LICENCE + '#include "frontend/ir/expr.h"\n'})


class MannersTest(LintTest):
    rule = rooms.check

    def test_each_bad_manner_is_refused(self):
        for statement, what in (("std::cout << 1;", "prints"), ("printf(s);", "prints"), ("std::fprintf(f, s);", "prints"),
                                ('fmt::print("x");', "prints"), ("std::exit(1);", "exits"), ("abort();", "aborts"),
                                ("std::terminate();", "aborts"), ('auto* e = std::getenv("HOME");', "environment")):
            with self.subTest(statement):
                self.assert_refused("frontend/ir/expr.cpp", what, {"frontend/ir/expr.cpp": LICENCE + statement + "\n"})

    def test_words_in_text_and_like_names_are_accepted(self):
        self.assert_accepted({"frontend/ir/expr.cpp": LICENCE + (
            '// abort() is never called\nconst char* a = "printf(s)";\nauto b = R"(exit(1))";\n'
            "snprintf(buffer, 3, s);\nloop.exit();\nint c = 1'000'000; int d = on_exit_count(2);\n")})

    def test_the_tool_may_print(self):
        self.assert_accepted({"apps/cli/main.cpp": LICENCE + "#include <iostream>\nvoid f() { std::cout << 1; exit(2); }\n"})
