# SPDX-License-Identifier: Apache-2.0
"""Small trees for the tests of the lint: a sound one, to which a test does one wrong thing."""
import os
import tempfile
import unittest

from tree import Tree

LICENCE = "// SPDX-License-" + "Identifier: Apache-2.0\n"
ROWS = """tilewright_room(frontend/base    DEPS WALL fmt)
tilewright_room(frontend/ir      DEPS frontend/base WALL)
tilewright_room(schedules/tree   DEPS frontend/ir WALL)
tilewright_room(schedules/polyhedra DEPS frontend/ir WALL isl)
"""
SOUND = {
    "cmake/rooms.cmake": "# SPDX-License-" + "Identifier: Apache-2.0\n" + ROWS,
    "frontend/base/ids.h": LICENCE + "#pragma once\n#include <vector>\n",
    "frontend/ir/expr.h": LICENCE + '#pragma once\n#include "frontend/base/ids.h"\n',
    "frontend/ir/expr.cpp": LICENCE + '#include "frontend/ir/expr.h"\n',
    "schedules/tree/tree.cpp": LICENCE + '#include "frontend/base/ids.h"\n#include "frontend/ir/expr.h"\n',
    "schedules/polyhedra/domain.cpp": LICENCE + "#include <isl/cpp.h>\n",
    "README.md": "# Sound\n\nSee [the rooms](cmake/rooms.cmake) and [above](#sound).\n",
}


class LintTest(unittest.TestCase):
    """Gives `problems_with(changes)`: what one rule says about the sound tree with some files changed."""

    rule = None

    def problems_with(self, changes=None):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**SOUND, **(changes or {})}.items():
                target = os.path.join(root, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text if isinstance(text, bytes) else text.encode())
            return sorted(type(self).rule(Tree(root)))

    def assert_refused(self, path, part, changes):
        """Exactly one problem, in this file, whose message holds this part."""
        problems = self.problems_with(changes)
        self.assertEqual([problem.path for problem in problems], [path], [str(problem) for problem in problems])
        self.assertIn(part, problems[0].message)
        return problems[0]

    def assert_accepted(self, changes=None):
        self.assertEqual([str(problem) for problem in self.problems_with(changes)], [])
