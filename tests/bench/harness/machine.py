# SPDX-License-Identifier: Apache-2.0
"""The machine while it measures: the lock, what others take of it, and its peak in the same run."""
import fcntl
import json
import os
import platform
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from .child import raise_priority


class Busy(Exception):
    """Another of our benchmarks, builds or tests holds the machine."""


def lock_path():
    """One lock per user and machine, whatever the checkout. A build or test takes it shared (flock -s)."""
    return Path(tempfile.gettempdir()) / f"tilewright-bench-{os.getuid()}.lock"


@contextmanager
def machine_lock(wait_s=0.0, path=None):
    path = path or lock_path()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Busy(f"{path} is locked: another build, test or benchmark of ours runs; "
                               "wait for it, or give --wait SECONDS") from None
                time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


class ForeignLoad:
    """The share of the processors that went to others: all busy time less that of our own processes."""

    def __init__(self):
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._wall, self._busy = time.monotonic(), self._busy_seconds()
        self._own = time.process_time()

    def _busy_seconds(self):
        try:
            fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return None
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields)
        return (user + nice + system + irq + softirq + steal) / self._ticks

    def share(self, children_s):
        busy = self._busy_seconds()
        if busy is None or self._busy is None:
            return None
        foreign = busy - self._busy - children_s - (time.process_time() - self._own)
        wall = time.monotonic() - self._wall
        return max(0.0, foreign / (wall * (os.cpu_count() or 1)))


def peak(program, threads, seconds=0.04, realtime=False):
    """The figures of bench-peak by name, for one thread and for `threads`; none for no seconds."""
    if seconds <= 0:
        return {}
    argv = [program, "--seconds", str(seconds)]
    for count in sorted({1, threads}):
        argv += ["--threads", str(count)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        raise_priority(process.pid, realtime)
        output = process.communicate(timeout=120)[0]
    if process.returncode:
        raise OSError(f"{program}: status {process.returncode}")
    return {f"{entry['name']}_{entry['threads']}t": entry for entry in json.loads(output)["figures"]}


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def about(root):
    commit = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"processor": processor(), "processors": os.cpu_count(), "system": platform.release(),
            "load_average": os.getloadavg()[0], "commit": commit}
