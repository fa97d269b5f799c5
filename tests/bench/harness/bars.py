# SPDX-License-Identifier: Apache-2.0
"""Reads bars.toml and judges runs against it.

The rule of passing: every one of at least RUNS runs has at least PAIRS interleaved pairs, and the median of
their ratios meets the bar against each peer. A wrong result, a missing peer or a missing run never passes.
"""
import tomllib
from dataclasses import dataclass, field

from .statistic import median

PAIRS = 15
RUNS = 2

_KEYS = {
    "ratio": {"name", "issue", "kind", "case", "kernel", "sizes", "peers", "at_least"},
    "command": {"name", "issue", "kind", "steps", "clock", "repeat", "at_most", "unit"},
}
# What may be left out.
_OPTIONAL = {"kernel"}
_CLOCKS = {"cpu_ms", "wall_s"}


class BarsError(Exception):
    """bars.toml does not say what the harness needs."""


@dataclass
class Kernel:
    """What the compiler is given for a case."""
    algorithm: str
    schedule: str
    function: str


@dataclass
class Figure:
    name: str
    issue: int
    kind: str
    case: str = ""
    # Which kernel runs; none: that of the case.
    kernel: str = ""
    sizes: dict = field(default_factory=dict)
    peers: list = field(default_factory=list)
    at_least: float | None = None
    steps: list = field(default_factory=list)
    clock: str = ""
    repeat: int = 1
    at_most: float | None = None
    unit: str = "x"

    @property
    def bar(self):
        return f">= {self.at_least:g}" if self.kind == "ratio" else f"<= {self.at_most:g}"


def load_bars(path):
    """All figures by name, and the kernels by case."""
    with open(path, "rb") as file:
        try:
            table = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise BarsError(f"{path}: {error}") from error
    kernels = {}
    for case, entry in table.get("kernel", {}).items():
        if set(entry) != {"algorithm", "schedule", "function"}:
            raise BarsError(f"{path}: kernel `{case}` needs algorithm, schedule and function")
        kernels[case] = Kernel(**entry)
    figures = {}
    for entry in table.get("figure", []):
        figure = _figure(path, entry)
        if figure.name in figures:
            raise BarsError(f"{path}: two figures are called `{figure.name}`")
        figure.kernel = figure.kernel or figure.case
        if figure.kind == "ratio" and figure.kernel not in kernels:
            raise BarsError(f"{path}: figure `{figure.name}`: no kernel `{figure.kernel}`")
        figures[figure.name] = figure
    return figures, kernels


def _figure(path, entry):
    where = f"{path}: figure `{entry.get('name', '?')}`"
    keys = _KEYS.get(entry.get("kind"))
    if keys is None:
        raise BarsError(f"{where}: kind must be one of {', '.join(sorted(_KEYS))}")
    if set(entry) - keys:
        raise BarsError(f"{where}: unknown key `{min(set(entry) - keys)}`")
    missing = keys - set(entry) - _OPTIONAL
    if missing:
        raise BarsError(f"{where}: no `{min(missing)}`")
    figure = Figure(**entry)
    bar = figure.at_least if figure.kind == "ratio" else figure.at_most
    if not isinstance(bar, (int, float)) or isinstance(bar, bool) or bar <= 0:
        raise BarsError(f"{where}: the bar must be a number above 0")
    if figure.kind == "command" and figure.clock not in _CLOCKS:
        raise BarsError(f"{where}: clock must be one of {', '.join(sorted(_CLOCKS))}")
    if figure.kind == "ratio" and not figure.peers:
        raise BarsError(f"{where}: a ratio needs a peer")
    return figure


@dataclass
class Verdict:
    # None: it cannot be said, `reason` says why.
    holds: bool | None
    value: float | None
    reason: str


def judge_ratio(figure, runs):
    """`runs`: list of {peer: list of ratios}, of {"wrong": text} where a result was wrong, or of
    {"suspect": text} where a time cannot be believed."""
    for run in runs:
        if "wrong" in run:
            return Verdict(False, None, run["wrong"])
    for run in runs:
        if "suspect" in run:
            return Verdict(None, None, run["suspect"])
    missing = [peer for peer in figure.peers if any(peer not in run for run in runs)]
    if missing:
        return Verdict(None, None, f"no result of peer {', '.join(missing)}")
    # The faster peer is the one with the smaller ratio.
    values = [min(median(run[peer]) for peer in figure.peers) for run in runs]
    if not values:
        return Verdict(None, None, "not measured")
    value = min(values)
    if value < figure.at_least:
        return Verdict(False, value, f"{value:.3f} is below {figure.at_least:g}")
    pairs = min(len(run[peer]) for run in runs for peer in figure.peers)
    if len(runs) < RUNS or pairs < PAIRS:
        return Verdict(None, value, f"needs {RUNS} runs of {PAIRS} pairs, has {len(runs)} of {pairs}")
    return Verdict(True, value, "")


def judge_command(figure, runs):
    """`runs`: list of lists of samples in the figure's unit, or of {"wrong": text}."""
    for run in runs:
        if isinstance(run, dict):
            return Verdict(False, None, run["wrong"])
    if not runs:
        return Verdict(None, None, "not measured")
    value = max(median(run) for run in runs)
    if value > figure.at_most:
        return Verdict(False, value, f"{value:.3f} is above {figure.at_most:g}")
    if len(runs) < RUNS:
        return Verdict(None, value, f"needs {RUNS} runs, has {len(runs)}")
    return Verdict(True, value, "")
