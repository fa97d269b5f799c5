# SPDX-License-Identifier: Apache-2.0
"""Measures figures by name, keeps each result as JSON with all its samples, and prints them."""
import json
import os
import shutil
from datetime import datetime, timezone

from . import commands, machine, pairs, programs
from .bars import Verdict, judge_command, judge_ratio
from .statistic import median


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def measure(layout, figure, kernels, plan, runs, library=None, peers_only=False):
    """Measures one figure `runs` times under the caller's lock; returns the result that is kept."""
    scratch = layout.cache / "scratch" / f"{figure.name}.{os.getpid()}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    result = {"schema": 1, "figure": figure.name, "issue": figure.issue, "kind": figure.kind,
              "unit": figure.unit, "bar": figure.bar, "when": now(), "threads": plan.threads,
              "machine": machine.about(layout.root), "runs": []}
    try:
        if figure.kind == "ratio":
            _ratio_runs(layout, figure, kernels, plan, runs, library, peers_only, scratch, result)
        else:
            _command_runs(layout, figure, plan, runs, scratch, result)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return result


def _ratio_runs(layout, figure, kernels, plan, runs, library, peers_only, scratch, result):
    try:
        contestants = {}
        if not peers_only:
            kernel = kernels[figure.kernel]
            built = library or programs.build_kernel(layout, kernel, scratch / "kernel")
            contestants[pairs.CANDIDATE] = pairs.candidate_argv(layout, built, kernel.function, plan.threads)
        for peer in figure.peers:
            contestants[peer] = pairs.peer_argv(layout, peer)
        for _ in range(runs):
            result["runs"].append(pairs.run_pairs(layout, figure, contestants, plan, scratch))
    except pairs.WrongResult as error:
        result["runs"].append({"wrong": str(error)})
    except pairs.FAILURES as error:
        result["failed"] = str(error)
    verdict = judge_ratio(figure, [_judged(run) for run in result["runs"]])
    _conclude(result, verdict)


def _judged(run):
    if "wrong" in run or "suspect" in run:
        return {key: run[key] for key in ("wrong", "suspect") if key in run}
    return {peer: ratio["pairs"] for peer, ratio in run["ratios"].items()}


def _command_runs(layout, figure, plan, runs, scratch, result):
    values = {"bin": str(layout.programs), "root": str(layout.root), "jobs": str(plan.threads)}
    try:
        for _ in range(runs):
            result["runs"].append(commands.run_command_figure(figure, values, layout.root, scratch))
    except commands.CommandFailed as error:
        result["failed"] = str(error)
    _conclude(result, judge_command(figure, result["runs"]))


def _conclude(result, verdict):
    if "failed" in result:
        verdict = Verdict(None, None, result["failed"])
    result.update(holds=verdict.holds, value=verdict.value, reason=verdict.reason)


def keep(layout, result):
    """Writes the result under its figure's name; what was there before is replaced at once or not at all."""
    layout.cache.mkdir(parents=True, exist_ok=True)
    path = layout.cache / f"{result['figure']}.json"
    partial = path.with_suffix(f".part{os.getpid()}")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.replace(path)
    return path


def kept(layout, figure):
    try:
        result = json.loads((layout.cache / f"{figure.name}.json").read_text())
    except (OSError, ValueError):
        return None
    return result if result.get("bar") == figure.bar and result.get("schema") == 1 else None


def line_of(figure, result):
    """The one line per figure that `./dev figures --json` promises."""
    result = result or {}
    return {"issue": figure.issue, "name": figure.name, "value": result.get("value"), "unit": figure.unit,
            "bar": figure.bar, "holds": result.get("holds"), "when": result.get("when")}


def describe(figure, result):
    """The result for a person."""
    state = {True: "holds", False: "MISSED", None: "undecided"}[result["holds"]]
    value = "-" if result["value"] is None else f"{result['value']:.3f} {figure.unit}"
    lines = [f"{figure.name}: {value}, bar {figure.bar}: {state}" +
             (f" ({result['reason']})" if result["reason"] else "")]
    for number, run in enumerate(result["runs"], 1):
        if isinstance(run, list):
            lines.append(f"  run {number}: median {median(run):.3f} {figure.unit} of {len(run)}")
        elif "wrong" not in run:
            lines += [f"  run {number}:"] + _describe_run(run, result["threads"])
    return "\n".join(lines)


def _describe_run(run, threads):
    best = {}
    for figures in (run["peak_before"], run["peak_after"]):
        for name, entry in figures.items():
            best[name] = max(best.get(name, 0), entry["best"] or 0)
    peak = pairs.fma_peak(run, threads)
    lines = []
    for name, report in run["contestants"].items():
        time = median(report["slices_ns"])
        rate = run["flops"] / time
        share = f" = {100 * rate / peak:.1f} % of the FMA peak" if peak else ""
        worst = max(check["share_of_bound"] or 0 for check in report["checks"])
        least = min(min(times) for times in report["samples_ns"])
        lines.append(f"    {name:10} {time / 1e6:9.3f} ms (least {least / 1e6:.3f})  {rate:8.2f} GFLOP/s{share}  "
                     f"{run['bytes'] / time:7.2f} GB/s  [{report['formulation']}], error {worst:.3f} of bound")
    for peer, ratio in run["ratios"].items():
        lines.append(f"    over {peer:10} {ratio['median']:.3f} x  [{ratio['low']:.3f}, {ratio['high']:.3f}]"
                     f" at {100 * ratio['coverage']:.1f} %, {len(ratio['pairs'])} pairs")
    if best:
        lines.append(_describe_machine(best, peak, threads))
    if run["foreign_share"] is not None:
        lines.append(f"    others used {100 * run['foreign_share']:.0f} % of the processors meanwhile")
    return lines


def _describe_machine(best, peak, threads):
    return (f"    machine: FMA {peak:.1f} GFLOP/s, L2 {best[f'l2_read_{threads}t']:.0f}, "
            f"L3 {best[f'l3_read_{threads}t']:.0f}, memory read {best[f'memory_read_{threads}t']:.0f}, "
            f"copy {best[f'memory_stream_copy_{threads}t']:.0f} GB/s ({threads} threads)")
