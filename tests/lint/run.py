# SPDX-License-Identifier: Apache-2.0
"""Runs every rule over a tree: run.py [ROOT]. Prints one line per problem; exits 1 when one is an error."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import diagnostics
import files
import links
import rooms
from tree import Tree

RULES = (rooms.check, files.check, diagnostics.check, links.check)


def problems_of(tree):
    return sorted(problem for rule in RULES for problem in rule(tree))


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(here))
    tree = Tree(root)
    problems = problems_of(tree)
    for problem in problems:
        print(problem)
    errors = sum(not problem.warning for problem in problems)
    print(f"lint: {len(tree.files)} files, {errors} errors, {len(problems) - errors} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
