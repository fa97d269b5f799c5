# SPDX-License-Identifier: Apache-2.0
"""The line protocol between the harness and whoever it times.

A line is a verb, then words, then NAME=VALUE fields, separated by single spaces; words and values are
percent-encoded, so a path with spaces is one word. The harness asks on the child's standard input, the
child answers with one line on its standard output:

    hello 1                              ready name=torch version=2.15.0 threads=2 ...
    case gemm dir=D inputs=2 out=64x64 M=64 ...   ok formulations=mm,addmm
    use mm                               ok
    output D/out.npy                     ok          one run into poisoned memory, written as .npy
    time 5                               times 1203 1187 1190 1201 1195      nanoseconds each
    quit                                 bye

Any answer may be `fail code=... message=...` instead. Law: parse_line(format_line(x)) == x.
"""
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

VERSION = 1
_SAFE = "/:.,+-_*()[]"


class ProtocolError(Exception):
    """A line that does not follow the protocol, or an answer that was not asked for."""


@dataclass
class Line:
    verb: str
    words: list = field(default_factory=list)
    fields: dict = field(default_factory=dict)


def format_line(line):
    if not line.verb.isidentifier():
        raise ProtocolError(f"`{line.verb}` is no verb")
    parts = [line.verb]
    parts += [quote(str(word), safe=_SAFE) for word in line.words]
    for name, value in line.fields.items():
        if not name.isidentifier():
            raise ProtocolError(f"`{name}` is no field name")
        parts.append(f"{name}={quote(str(value), safe=_SAFE)}")
    if "" in parts:
        raise ProtocolError("an empty word has no spelling")
    return " ".join(parts)


def parse_line(text):
    text = text.rstrip("\n")
    if not text.isascii() or not text.isprintable():
        raise ProtocolError(f"not printable ASCII: {text!r}")
    parts = text.split(" ")
    if not parts[0].isidentifier():
        raise ProtocolError(f"no verb in {text!r}")
    line = Line(parts[0])
    for part in parts[1:]:
        name, equals, value = part.partition("=")
        if part == "":
            raise ProtocolError(f"two separators in a row in {text!r}")
        if not equals:
            if line.fields:
                raise ProtocolError(f"word `{part}` after the fields in {text!r}")
            line.words.append(_decode(part, text))
        elif not name.isidentifier() or name in line.fields:
            raise ProtocolError(f"bad or repeated field `{name}` in {text!r}")
        else:
            line.fields[name] = _decode(value, text)
    return line


def _decode(part, text):
    try:
        decoded = unquote(part, errors="strict")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"`{part}` is not UTF-8 in {text!r}") from error
    if quote(decoded, safe=_SAFE) != part:
        raise ProtocolError(f"`{part}` is not percent-encoded as the protocol says in {text!r}")
    return decoded


def times_of(line, count):
    """The nanoseconds of a `times` answer to `time count`."""
    if line.verb != "times" or line.fields or len(line.words) != count:
        raise ProtocolError(f"asked for {count} times, got `{format_line(line)[:200]}`")
    try:
        times = [int(word) for word in line.words]
    except ValueError as error:
        raise ProtocolError(f"a time is no whole number: {error}") from error
    if any(time <= 0 for time in times):
        raise ProtocolError("a time is not above zero")
    return times
