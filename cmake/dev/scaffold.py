# SPDX-License-Identifier: Apache-2.0
"""./dev new: writes the files of a new directive, pass, op or app from cmake/templates.

A kind is a folder cmake/templates/<kind>. Each `*.template` file in it is written to its own path with NAME
replaced; its text has @NAME@, @Name@ and @title@ replaced. edits.toml lists lines to put into files that exist (at
the end, or before a given text). NEXT.txt says what remains to be written by hand.
Law: nothing that exists is overwritten, and a scaffold is no finished work: its tests fail until someone wrote
what they expect.
"""
import os
import re
import tomllib

import trees

TEMPLATES = os.path.join(trees.ROOT, "cmake", "templates")


def kinds():
    return sorted(name for name in os.listdir(TEMPLATES) if os.path.isdir(os.path.join(TEMPLATES, name)))


def _filled(text, name):
    camel = "".join(part.capitalize() for part in name.split("_"))
    return text.replace("@NAME@", name).replace("@Name@", camel).replace("@title@", name.replace("_", " "))


def _planned(kind, name):
    """Destination -> text of every file of the kind."""
    base, plan = os.path.join(TEMPLATES, kind), {}
    for folder, _, files in os.walk(base):
        for file in files:
            if file.endswith(".template"):
                source = os.path.join(folder, file)
                with open(source, encoding="utf-8") as text:
                    target = os.path.relpath(source, base).removesuffix(".template").replace("NAME", name)
                    plan[target] = _filled(text.read(), name)
    return plan


def _edit(row, name):
    """Puts a row's text into its file; says so when its place is not found."""
    path, text = os.path.join(trees.ROOT, row["file"]), _filled(row["text"], name)
    before = row.get("before")
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    place = len(old) if before is None else old.find(before)
    if not old or place < 0:
        print(f"no place found in {row['file']} for:\n{text.rstrip()}")
        return
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(old[:place] + text + old[place:])
    print(f"changed {row['file']}")


def new(kind, name):
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise trees.Failed(f"`{name}` is not snake_case")
    plan = _planned(kind, name)
    existing = [target for target in plan if os.path.exists(os.path.join(trees.ROOT, target))]
    if existing:
        raise trees.Failed("already there: " + ", ".join(existing))
    for target, text in sorted(plan.items()):
        path = os.path.join(trees.ROOT, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        print(f"wrote {target}")
    edits = os.path.join(TEMPLATES, kind, "edits.toml")
    if os.path.exists(edits):
        with open(edits, "rb") as file:
            for row in tomllib.load(file)["edit"]:
                _edit(row, name)
    steps = os.path.join(TEMPLATES, kind, "NEXT.txt")
    if os.path.exists(steps):
        with open(steps, encoding="utf-8") as file:
            print(_filled(file.read(), name), end="")
    return 0
