# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial: the lessons of apps/tutorial as pages. `./dev bless` writes them; tests/dev/test_tutorial.py holds
them to their sources.

A lesson is a C++ file. Comments on lines of their own are the text, in Markdown; what stands between is code. The
first line of text is the title. A line `file: NAME` of a comment shows a file beside it, `refused E0304: NAME` a
schedule that is refused with that code.
"""
import glob
import os
import re
import textwrap

import trees

SOURCES = "apps/tutorial"
PAGES = "docs/tutorial"
_SHOWN = re.compile(r"(?:file|refused (E\d{4})): (\S+)")


def lessons():
    """The sources in order: those that begin with the title of a lesson."""
    found = []
    for path in sorted(glob.glob(os.path.join(trees.ROOT, SOURCES, "lesson_*.cpp"))):
        with open(path, encoding="utf-8") as file:
            if re.search(r"^// Lesson \d+: ", file.read(), re.MULTILINE):
                found.append(path)
    return found


def _without_licence(text):
    text = re.sub(r"^(?://|#) SPDX-License-Identifier: [^\n]*\n(?://\n)?", "", text)
    return re.sub(r"^/\* SPDX-License-Identifier: [^\n]* \*/\n", "", text)


def _show(name, refused):
    """The file as a block that the tests of the documents execute."""
    with open(os.path.join(trees.ROOT, SOURCES, name), encoding="utf-8") as file:
        text = _without_licence(file.read())
    language = name.rsplit(".", 1)[1]
    lines = []
    if language in ("tw", "tws"):
        lines.append(f"<!-- file: {name} -->")
    if language == "tws":
        lines.append(f"<!-- for: {SOURCES}/{name.split('.')[0]}.tw -->")
    if refused:
        lines.append(f"<!-- refused: {refused} -->")
    return "\n".join(lines + [f"`{name}`:" if not lines else "", f"```{language}", text + "```"]).replace("\n\n```", "\n```")


def _parts(text):
    """Runs of ("text", lines) and ("code", lines)."""
    parts = []
    for line in text.split("\n"):
        comment = re.fullmatch(r"\s*//(?: (.*))?", line)
        kind, body = ("text", comment[1] or "") if comment else ("code", line)
        if parts and parts[-1][0] == kind:
            parts[-1][1].append(body)
        else:
            parts.append((kind, [body]))
    return parts


def _prose(lines):
    out = []
    for line in lines:
        shown = _SHOWN.fullmatch(line)
        out.append("\n" + _show(shown[2], shown[1]) + "\n" if shown else line)
    return "\n".join(out).strip("\n")


def render(path):
    """The page of one lesson."""
    with open(path, encoding="utf-8") as file:
        text = _without_licence(file.read())
    out = []
    for kind, lines in _parts(text):
        if kind == "text":
            out.append(_prose(lines))
            continue
        code = textwrap.dedent("\n".join(lines)).strip("\n")
        if code.strip():
            out.append("```cpp\n" + code + "\n```")
    title = out[0].split("\n", 1)
    source = os.path.relpath(path, trees.ROOT)
    out[0] = f"# {title[0]}\n\n<!-- generated from {source} by ./dev bless -->\n\n" + title[1].strip("\n")
    out.append(f"Source: [{source}](../../{source}). " + _neighbours(path))
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part for part in out if part)) + "\n"


def _page(path):
    return os.path.splitext(os.path.basename(path))[0] + ".md"


def _title(path):
    with open(path, encoding="utf-8") as file:
        return re.search(r"^// (Lesson \d+: .*)$", file.read(), re.MULTILINE)[1]


def _neighbours(path):
    every = lessons()
    at = every.index(path)
    if at + 1 < len(every):
        return f"Next: [{_title(every[at + 1])}]({_page(every[at + 1])})."
    return "This is the last one; [the list](README.md)."


def index():
    """The list of the lessons."""
    rows = "\n".join(f"- [{_title(path)}]({_page(path)})" for path in lessons())
    return ("# Tutorial\n\n<!-- generated from apps/tutorial by ./dev bless -->\n\n"
            "Ten lessons, from one equation to a small attention. Each is a program in `apps/tutorial` that the tests\n"
            "compile and run; it ends with an error when what it says does not hold. The pages are made from the\n"
            "programs, so they cannot say anything else.\n\n" + rows + "\n\n"
            "Afterwards: [the C++ language](../cpp_language.md), [the language](../language.md),\n"
            "[schedules](../schedules.md), and the applications in `apps`.\n")


def pages():
    """Path -> text of every page."""
    folder = os.path.join(trees.ROOT, PAGES)
    out = {os.path.join(folder, _page(path)): render(path) for path in lessons()}
    out[os.path.join(folder, "README.md")] = index()
    return out


def write():
    """Writes the pages and removes those of lessons that are gone. Returns how many changed."""
    changed = 0
    wanted = pages()
    folder = os.path.join(trees.ROOT, PAGES)
    os.makedirs(folder, exist_ok=True)
    for path in glob.glob(os.path.join(folder, "*.md")):
        if path not in wanted:
            os.remove(path)
            changed += 1
    for path, text in wanted.items():
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        if old != text:
            changed += 1
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return changed
