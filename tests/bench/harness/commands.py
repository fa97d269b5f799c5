# SPDX-License-Identifier: Apache-2.0
"""Figures of whole commands: processor time of a compile, wall time of a build, a demo, the tests."""
import os
import resource
import shutil
import subprocess
import time
from pathlib import Path


class CommandFailed(Exception):
    """A command that was to be timed did not succeed; its time means nothing."""


def time_steps(steps, clock, values, root, log):
    """Runs the steps in order and returns the last one's time: user and system time in ms of it and its
    children, or wall time in s. Steps before it prepare and are not counted."""
    used = 0.0
    for step in steps:
        argv = [word.format_map(values) for word in step]
        # Tells `./dev` that the machine lock is held already, by us.
        environment = dict(os.environ, TILEWRIGHT_LOCK_HELD="1")
        while argv and "=" in argv[0]:
            name, _, value = argv.pop(0).partition("=")
            environment[name] = value
        begin, cpu_begin = time.monotonic(), _children_cpu()
        with open(log, "ab") as output:
            output.write(f"$ {' '.join(argv)}\n".encode())
            output.flush()
            try:
                status = subprocess.run(argv, cwd=root, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=output, stderr=output, check=False, timeout=3600).returncode
            except (OSError, subprocess.TimeoutExpired) as error:
                raise CommandFailed(f"`{' '.join(argv)}`: {error}") from None
        if status != 0:
            tail = Path(log).read_text(errors="replace").strip().splitlines()[-3:]
            raise CommandFailed(f"`{' '.join(argv)}`: status {status}" + "".join(f"\n  {t}" for t in tail))
        used = (_children_cpu() - cpu_begin) * 1e3 if clock == "cpu_ms" else time.monotonic() - begin
    return used


def _children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_command_figure(figure, values, root, scratch):
    """All samples of one run. {tmp} in a step names a folder that is new for every sample."""
    samples = []
    for index in range(figure.repeat):
        folder = scratch / f"sample{index}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            samples.append(time_steps(figure.steps, figure.clock, {**values, "tmp": str(folder)}, root,
                                      scratch / "command.log"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return samples
