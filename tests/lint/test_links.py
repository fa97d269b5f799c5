# SPDX-License-Identifier: Apache-2.0
"""Links in markdown."""
import links
from wrong_tree import LintTest


class LinksTest(LintTest):
    rule = links.check

    def test_sound_tree_is_accepted(self):
        self.assert_accepted()

    def test_missing_file(self):
        problem = self.assert_refused("docs/a.md", "`gone.md`", {"docs/a.md": "# A\n\n[b](gone.md)\n"})
        self.assertEqual(problem.line, 3)

    def test_relative_to_the_page(self):
        self.assert_accepted({"docs/a.md": "[b](b.md) [up](../README.md)\n", "docs/b.md": "# B\n"})
        self.assert_refused("docs/a.md", "README.md", {"docs/a.md": "[up](README.md)\n"})

    def test_link_out_of_the_repository(self):
        self.assert_refused("README.md", "../other", {"README.md": "[x](../other)\n"})

    def test_anchor(self):
        pages = {"docs/b.md": "# The `two` laws\n\n```\n# not a heading\n```\n"}
        self.assert_accepted({**pages, "docs/a.md": "[x](b.md#the-two-laws)\n"})
        self.assert_refused("docs/a.md", "#not-a-heading", {**pages, "docs/a.md": "[x](b.md#not-a-heading)\n"})

    def test_code_and_web_addresses_are_no_links(self):
        self.assert_accepted({"docs/a.md": "`[x](y)` [w](https://example.org/a)\n```\n[x](y)\n```\n"})
