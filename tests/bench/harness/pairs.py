# SPDX-License-Identifier: Apache-2.0
"""One run of a ratio figure: candidate and peers as child processes, checked, then timed A B A B.

Laws: nothing is timed whose output was not checked against the float64 reference just before, and no time
counts whose output is not right again after the last pair; candidate and peers get the same files, the
same number of threads and the machine to themselves.
"""
import contextlib
from dataclasses import dataclass

from . import machine, programs
from .child import Child, ChildError
from .protocol import ProtocolError
from .statistic import median, summarize_pairs

CANDIDATE = "candidate"


class WrongResult(Exception):
    """An output is outside the bound of the case."""


class PeerAbsent(Exception):
    """A peer was not set up."""


@dataclass
class Plan:
    threads: int = 2
    pairs: int = 15
    slice_ms: float = 60.0
    peak_seconds: float = 0.04
    realtime: bool = False
    # Where a formulation is chosen: slices per formulation.
    trials: int = 3


class Contestant:
    """A child with a loaded case and the formulation that proved fastest among its right ones."""

    def __init__(self, child, case, files, sizes, layout, scratch, plan):
        self.child, self._layout, self._files = child, layout, files
        self._result = scratch / f"{child.name}.npy"
        fields = {"dir": files.folder, "inputs": files.inputs, "out": files.out, "type": files.type, **sizes}
        formulations = child.load(case, fields)
        self.trials, self.wrong, self.checks = {}, {}, []
        for formulation in formulations:
            self._try(formulation, plan)
        if not self.trials:
            raise WrongResult("; ".join(f"{child.name}: {text}" for text in self.wrong.values()))
        self.formulation = min(self.trials, key=self.trials.get)
        child.use(self.formulation)
        self.check()
        self.repeats = max(2, min(200, round(plan.slice_ms * 1e6 / self.trials[self.formulation])))
        self.samples = []

    def _try(self, formulation, plan):
        try:
            self.child.use(formulation)
            self.check()
        except WrongResult as error:
            self.wrong[formulation] = f"{formulation}: {error}"
            return
        guess = median(self.child.time(2))
        repeats = max(1, min(50, round(plan.slice_ms * 1e6 / guess)))
        # The least of all times: noise only adds, and the peer's best is wanted.
        self.trials[formulation] = min(min(self.child.time(repeats)) for _ in range(plan.trials))
        self.child.settle()

    def check(self):
        self.child.output(self._result)
        report = programs.verify(self._layout, self._files, self._result)
        self._result.unlink(missing_ok=True)
        self.checks.append(report)
        if not report["holds"]:
            raise WrongResult(f"{self.child.name}: element {report['worst']} is {report['got']}, the "
                              f"reference {report['want']}, {report['share_of_bound']} x the bound")
        self.child.settle()

    def slice(self):
        times = self.child.time(self.repeats)
        self.child.settle()
        self.samples.append(times)
        return median(times)

    def report(self):
        return {"about": self.child.about, "formulation": self.formulation, "repeats": self.repeats,
                "priority": self.child.priority,
                "trials_ns": self.trials, "wrong": self.wrong, "checks": self.checks,
                "samples_ns": self.samples, "slices_ns": [median(times) for times in self.samples]}


def candidate_argv(layout, library, function, threads):
    return [layout.program("bench-candidate"), "--library", library, "--function", function,
            "--threads", str(threads)]


def peer_argv(layout, peer):
    python = layout.peer_python(peer)
    if not python.is_file():
        raise PeerAbsent(f"peer {peer} is not set up; run `./dev bench setup {peer}`")
    return [python, "-B", layout.root / "tests" / "bench" / "peers" / f"{peer}_peer.py"]


def run_pairs(layout, figure, contestants, plan, scratch):
    """`contestants`: argv by name, the candidate first when there is one. Returns the run as plain data."""
    files = programs.make_case(layout, figure.case, figure.sizes)
    peak_before = machine.peak(layout.program("bench-peak"), plan.threads, plan.peak_seconds,
                               plan.realtime)
    with contextlib.ExitStack() as stack:
        ready = {}
        for name, argv in contestants.items():
            child = stack.enter_context(
                Child(name, argv, plan.threads, scratch / f"{name}.log", plan.realtime))
            ready[name] = Contestant(child, figure.case, files, figure.sizes, layout, scratch, plan)
        load = machine.ForeignLoad()
        cpu_before = _cpu_seconds(ready)
        slices = {name: [] for name in ready}
        for _ in range(plan.pairs):
            for name, contestant in ready.items():
                slices[name].append(contestant.slice())
        foreign = load.share(_cpu_seconds(ready) - cpu_before)
        for contestant in ready.values():
            contestant.check()
        reports = {name: contestant.report() for name, contestant in ready.items()}
    run = {"contestants": reports, "ratios": _ratios(slices), "flops": files.flops,
           "bytes": files.bytes, "unit_rate": files.rate,
           "peak_before": peak_before, "foreign_share": foreign}
    _measure_peak_after(layout, plan, run)
    return run


def fma_peak(run, threads):
    """The best multiply-add rate of all threads in the run, in GFLOP/s; 0 where none was measured."""
    return max((figures[name]["best"] or 0
                for figures in (run["peak_before"], run.get("peak_after", {}))
                for name in (f"peak_avx512_f32_{threads}t", f"peak_avx2_f32_{threads}t") if name in figures),
               default=0)


def _measure_peak_after(layout, plan, run):
    """No time may be shorter than the peak allows. A disturbed peak is taken again, longer; what is still
    above it makes the run suspect, and a suspect run never passes."""
    least = min(min(times) for report in run["contestants"].values() for times in report["samples_ns"])
    rate, seconds = run["flops"] / run.get("unit_rate", 1) / least, plan.peak_seconds
    for _ in range(4):
        run["peak_after"] = machine.peak(layout.program("bench-peak"), plan.threads, seconds, plan.realtime)
        peak = fma_peak(run, plan.threads)
        if peak == 0 or rate <= peak * 1.01:
            return
        seconds *= 2
    run["suspect"] = (f"{rate:.0f} GFLOP/s is above the peak of {peak:.0f} that the machine showed: it was "
                      "disturbed, or the time is wrong")


def _cpu_seconds(ready):
    return sum((contestant.child.cpu_ns() or 0) for contestant in ready.values()) / 1e9


def _ratios(slices):
    if CANDIDATE not in slices:
        return {}
    out = {}
    for peer, times in slices.items():
        if peer != CANDIDATE:
            summary = summarize_pairs(slices[CANDIDATE], times)
            out[peer] = {"median": summary.median, "low": summary.interval.low,
                         "high": summary.interval.high, "coverage": summary.interval.coverage,
                         "pairs": summary.ratios}
    return out


FAILURES = (WrongResult, PeerAbsent, ChildError, ProtocolError, programs.ProgramError)
