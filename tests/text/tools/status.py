# SPDX-License-Identifier: Apache-2.0
"""Runs a command and succeeds when it ends with exactly the given exit status: `%status 2 %tilewright ...`.

`not` of LLVM accepts any failure; the exit status of the tool is an interface, so tests pin its value. A
command that dies by a signal never has the wanted status.
"""
import subprocess
import sys


def main(arguments):
    if len(arguments) < 2 or not arguments[0].isdigit():
        sys.exit("usage: status.py N COMMAND...")
    wanted = int(arguments[0])
    sys.stdout.flush()
    status = subprocess.run(arguments[1:], check=False).returncode
    if status == wanted:
        return 0
    seen = f"signal {-status}" if status < 0 else f"exit status {status}"
    print(f"status: {seen}, but {wanted} was expected: {' '.join(arguments[1:])}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
