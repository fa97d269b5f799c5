# SPDX-License-Identifier: Apache-2.0
"""Markdown: every relative link leads to a file of the repository, and every #anchor to a heading."""
import posixpath
import re
import urllib.parse

from tree import Problem

_LINK = re.compile(r"!?\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def prose(text):
    """The text with fenced and inline code blanked out; lines keep their numbers."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or mark.group(1).startswith(fence)):
            fence = mark.group(1)[:3] if fence is None else None
            lines.append("")
        else:
            lines.append("" if fence else re.sub(r"`[^`]*`", "", line))
    return lines


def anchors(text):
    """Anchors of headings as code hosts derive them: lower case, blanks to dashes, punctuation dropped."""
    found, fence = set(), False
    for line in text.split("\n"):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        heading = None if fence else _HEADING.match(line)
        if heading:
            slug = re.sub(r"[^\w\- ]", "", heading.group(1).lower()).replace(" ", "-")
            candidate, number = slug, 0
            while candidate in found:
                number += 1
                candidate = f"{slug}-{number}"
            found.add(candidate)
    return found


def check(tree):
    problems = []
    for path in tree.sources(".md"):
        for number, line in enumerate(prose(tree.text(path)), 1):
            for target in _LINK.findall(line):
                if re.match(r"[a-z][a-z0-9+.\-]*:", target):
                    continue
                name, _, anchor = urllib.parse.unquote(target).partition("#")
                file = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
                if name.startswith("/") or file.startswith("..") or not tree.has(file):
                    problems.append(Problem(path, number, "links", f"`{target}` leads to no file of the repository"))
                elif anchor and file.endswith(".md") and anchor not in anchors(tree.text(file)):
                    problems.append(Problem(path, number, "links", f"`{file}` has no heading `#{anchor}`"))
    return problems
