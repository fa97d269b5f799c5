# SPDX-License-Identifier: Apache-2.0
"""A process that is timed: started with a clean environment, asked line by line, ended by its own id."""
import os
import selectors
import subprocess
import time
from pathlib import Path

from .protocol import VERSION, Line, ProtocolError, format_line, parse_line, times_of

# Hints that older OpenBLAS builds need on some processors; they slow a current one.
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "HL_NUM_THREADS")


class ChildError(Exception):
    """The child failed, fell silent or ended."""


def child_environment(threads):
    env = {name: value for name, value in os.environ.items() if name not in _UNSET}
    env.update({name: str(threads) for name in _THREADS})
    env.update(TILEWRIGHT_BENCH_THREADS=str(threads), PYTHONDONTWRITEBYTECODE="1")
    return env


def raise_priority(pid, realtime=False, wish=-10):
    """Puts a child before the machine's other work, where the system lets us; says what it runs under. Done
    before the child starts threads, which inherit it. Where sessions share the processors as groups, a
    nice value counts within its session only, so the child's session gets the same. `realtime` keeps
    threads on a processor each even when others load the machine; without the right to it, it is refused."""
    if realtime:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
        return "round robin"
    try:
        os.setpriority(os.PRIO_PROCESS, pid, wish)
        Path(f"/proc/{pid}/autogroup").write_text(str(wish))
    except OSError:
        pass  # Not privileged or not there: the figure is noisier, and says at which priority it was taken.
    return f"nice {os.getpriority(os.PRIO_PROCESS, pid)}"


class Child:
    def __init__(self, name, argv, threads, log, realtime=False):
        self.name = name
        self.log = Path(log)
        self._pending = b""
        # Seconds that it gets to end by itself.
        self.grace = 5
        with open(self.log, "wb") as stderr:
            self._process = subprocess.Popen(
                [str(arg) for arg in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                env=child_environment(threads), start_new_session=True)
        os.set_blocking(self._process.stdout.fileno(), False)
        try:
            self.priority = raise_priority(self._process.pid, realtime)
            self.about = self._expect("ready", Line("hello", [VERSION]), 120).fields
            if self.about.get("threads") != str(threads):
                raise ChildError(f"{name}: runs {self.about.get('threads')} threads, not {threads}")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def load(self, case, fields):
        """Loads a case; returns the names of the child's formulations."""
        answer = self._expect("ok", Line("case", [case], fields), 300)
        return answer.fields.get("formulations", "default").split(",")

    def use(self, formulation):
        self._expect("ok", Line("use", [formulation]), 300)

    def output(self, path):
        self._expect("ok", Line("output", [path]), 300)

    def time(self, count):
        return times_of(self.request(Line("time", [count]), 300), count)

    @property
    def ended(self):
        """Its exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def cpu_ns(self):
        """Processor time of all its threads so far, to the nanosecond; None where the system hides it."""
        try:
            tasks = list(Path(f"/proc/{self._process.pid}/task").iterdir())
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
        except (OSError, ValueError, IndexError):
            return None

    def settle(self, limit=0.5):
        """Waits until its worker threads have stopped spinning, so that they do not disturb the next one."""
        deadline = time.monotonic() + limit
        before = self.cpu_ns()
        while time.monotonic() < deadline:
            time.sleep(0.005)
            after = self.cpu_ns()
            if after is not None and after == before:
                return
            before = after

    def close(self):
        if self._process.poll() is None:
            try:
                self._process.stdin.write(b"quit\n")
                self._process.stdin.flush()
                self._process.wait(self.grace)
            except (OSError, ValueError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                stream.close()
            except OSError:
                pass  # What was buffered for a child that is gone.

    def _expect(self, verb, line, timeout):
        answer = self.request(line, timeout)
        if answer.verb != verb:
            raise ProtocolError(f"{self.name}: wanted `{verb}`, got `{format_line(answer)}`")
        return answer

    def request(self, line, timeout):
        """Asks one line and returns the line that answers it."""
        try:
            self._process.stdin.write(format_line(line).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise ChildError(self._ended()) from None
        answer = parse_line(self._read_line(timeout))
        if answer.verb == "fail":
            raise ChildError(f"{self.name}: {answer.fields.get('message', 'failed')}")
        return answer

    def _read_line(self, timeout):
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChildError(f"{self.name}: no answer in {timeout} s")
                if selector.select(left):
                    chunk = self._process.stdout.read(1 << 16)
                    if chunk == b"":
                        raise ChildError(self._ended())
                    self._pending += chunk or b""
        text, _, self._pending = self._pending.partition(b"\n")
        if self._pending:
            self._pending = b""
            raise ProtocolError(f"{self.name}: said more than one line")
        return text.decode("ascii", "replace")

    def _ended(self):
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = "none yet"
        tail = self.log.read_text(errors="replace").strip().splitlines()[-3:]
        return f"{self.name}: ended with status {code}" + "".join(f"\n  {line}" for line in tail)
