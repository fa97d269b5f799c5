#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`interrupt.py DIR COMMAND... -o`: runs the command with a folder after its last word, once to its end and then
with SIGINT after more and more of that time. Whatever is in the folder then must be whole: a file of the
uninterrupted run, byte for byte, under its own name."""
import os
import shutil
import signal
import subprocess
import sys
import time

ROUNDS = 25


def files(folder):
    if not os.path.isdir(folder):
        return {}
    return {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}


def main():
    base, command = sys.argv[1], sys.argv[2:]
    whole = os.path.join(base, "whole")
    shutil.rmtree(base, ignore_errors=True)
    begin = time.monotonic()
    subprocess.run(command + [whole], check=True)
    duration = time.monotonic() - begin
    wanted = files(whole)
    stopped = 0
    for number in range(ROUNDS):
        folder = os.path.join(base, f"cut{number}")
        child = subprocess.Popen(command + [folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(duration * 1.1 * number / ROUNDS)
        child.send_signal(signal.SIGINT)
        status = child.wait()
        if status not in (0, -signal.SIGINT):
            sys.exit(f"round {number}: exit status {status}")
        stopped += status != 0
        for name, data in files(folder).items():
            if name not in wanted:
                sys.exit(f"round {number}: {name} stays behind")
            if data != wanted[name]:
                sys.exit(f"round {number}: {name} is not whole")
    if stopped < 3:
        sys.exit(f"only {stopped} of {ROUNDS} runs were interrupted")
    print("whole or not there")


main()
