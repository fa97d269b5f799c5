# SPDX-License-Identifier: Apache-2.0
"""Succeeds when standard input is one JSON document whose first members are these: `... | %json version status`."""
import json
import sys


def main(names):
    text = sys.stdin.read()
    try:
        value = json.loads(text)
    except ValueError as error:
        sys.exit(f"json_document: {error}: {text[:300]!r}")
    found = list(value)[:len(names)] if isinstance(value, dict) else []
    if found != names:
        sys.exit(f"json_document: members {names} were expected: {text[:300]!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
