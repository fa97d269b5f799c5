# SPDX-License-Identifier: Apache-2.0
"""Compares standard input with an expectation, or rewrites the expectation when TILEWRIGHT_BLESS=1.

    # RUN: %tilewright ... | %golden %s            the block `# EXPECT:` of the test itself
    # RUN: %tilewright ... | %golden %s loops      the block `# EXPECT loops:` of the test itself
    # RUN: %tilewright ... | %golden %S/inputs/matmul.h.expected     a whole file

A block is the line `# EXPECT:` and the `#|` lines below it, one for each line of output. Law: a comparison that follows a bless passes, and a bless of a passing test leaves the
file as it was. Paths of this machine never reach an expectation: the folder of the test is dropped, its
temporary file or folder becomes `%t`, and the folder of temporary files `%T`.
"""
import difflib
import os
import sys
import tempfile


def normalised(text, path, scratch):
    """The output as it stands in an expectation: no machine paths, no trailing blanks, no final blank lines."""
    folder = os.path.dirname(path).removesuffix(os.sep + "inputs")
    for name, sign in ((os.path.join(scratch, "Output", os.path.basename(path) + ".tmp"), "%t"), (scratch, "%T"),
                       (folder + os.sep, "")):
        text = text.replace(name, sign)
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def bar_of(lines, path):
    """The comment sign of a test file is the one its first RUN line uses."""
    for line in lines:
        if "RUN:" in line:
            return line.split("RUN:")[0].strip()
    sys.exit(f"golden: no RUN line in {path}")


def find_block(lines, bar, label):
    """Half-open range of the lines of a block below its heading, and the heading."""
    heading = f"{bar} EXPECT{' ' + label if label else ''}:"
    found = [i for i, line in enumerate(lines) if line.rstrip() == heading]
    if len(found) > 1:
        sys.exit(f"golden: `{heading}` stands more than once")
    if not found:
        return heading, None, None
    end = begin = found[0] + 1
    while end < len(lines) and lines[end].startswith(bar + "|"):
        end += 1
    return heading, begin, end


def block_text(lines, bar):
    return "\n".join(line[len(bar) + 1:].removeprefix(" ") for line in lines)


def with_block(lines, bar, label, text):
    """The lines of the test with its block replaced, or appended at the end when it is new."""
    heading, begin, end = find_block(lines, bar, label)
    block = [f"{bar}| {line}".rstrip() for line in text.split("\n")] if text else []
    if begin is None:
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        return lines + ["", heading] + block
    return lines[:begin] + block + lines[end:]


def write_whole(path, text):
    """Writes to a temporary name and renames, so an interrupted bless leaves no half test."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    if os.path.exists(path):
        os.chmod(temporary, os.stat(path).st_mode & 0o777)
    else:
        os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: ... | golden.py FILE [LABEL]")
    path = os.path.abspath(arguments[0])
    label = arguments[1] if len(arguments) == 2 else ""
    whole_file = path.endswith(".expected")
    actual = normalised(sys.stdin.buffer.read().decode("utf-8", "backslashreplace"), path, os.getcwd())
    bless = os.environ.get("TILEWRIGHT_BLESS") == "1"

    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()

    if whole_file:
        expected = text.rstrip("\n") if os.path.exists(path) else None
        fresh = actual + "\n" if actual else ""
    else:
        bar = bar_of(lines, path)
        _, begin, end = find_block(lines, bar, label)
        expected = block_text(lines[begin:end], bar) if begin is not None else None
        fresh = "\n".join(with_block(lines, bar, label, actual)) + "\n"

    if bless:
        if fresh != text:
            write_whole(path, fresh)
        return 0
    if expected == actual:
        return 0
    if expected is None:
        print(f"golden: {os.path.basename(path)} has no expectation {label!r}; ./dev bless writes it. Output:")
        print(actual)
        return 1
    name = os.path.basename(path)
    for line in difflib.unified_diff(expected.split("\n"), actual.split("\n"), f"expected in {name}", "output",
                                     lineterm=""):
        print(line)
    print("golden: the output changed; if that is intended run ./dev bless and review the diff")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
