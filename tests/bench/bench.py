#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`./dev bench` and `./dev figures`: measures candidate and peers side by side, and holds them to the bars.

    ./dev bench NAME...       a figure of bars.toml, a case (all its figures), or `all`
    ./dev bench list          figures, bars, peers
    ./dev bench setup PEER... a virtual environment for torch, openblas, halide or jax
    ./dev bench machine       what the machine reaches now
    ./dev figures --json      one JSON line per figure

Exit status: 0 measured (with --check: every bar holds), 1 a bar is missed or a result is wrong, 2 usage or
another benchmark runs, 3 undecided: something was not there to be measured. Needs Python 3.11, nothing else.
"""
import argparse
import dataclasses
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from harness import bars, figures, machine, pairs, programs, setup  # noqa: E402

HERE = Path(__file__).resolve().parent


def _add_shared(parser):
    parser.add_argument("--pairs", type=int, default=bars.PAIRS, help="interleaved pairs per run")
    parser.add_argument("--runs", type=int, help="runs per figure (1; 2 with --check and for figures)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wait", type=float, default=0, help="seconds to wait for the machine")
    parser.add_argument("--slice-ms", type=float, default=60, help="length of one timed slice")
    parser.add_argument("--peak-seconds", type=float, default=0.04, help="time for one figure of the machine; 0 leaves them out")
    parser.add_argument("--realtime", action="store_true",
                        help="run children under the real-time scheduler, for a machine that others load (root)")
    parser.add_argument("--bars", type=Path, default=HERE / "bars.toml", help="the figures and their bars")
    parser.add_argument("--root", type=Path, default=HERE.parents[1], help="the checkout")
    parser.add_argument("--programs", type=Path, help="folder of our programs (build/release/bin)")


def parse_arguments(argv):
    if argv[:1] == ["figures"]:
        parser = argparse.ArgumentParser(prog="./dev figures", description="One line per figure.")
        parser.add_argument("--json", action="store_true", help="JSON lines (the only form)")
        parser.add_argument("--cached", action="store_true", help="kept results only; measure nothing")
        parser.set_defaults(collect=True, check=False)
        argv = argv[1:]
    else:
        parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, allow_abbrev=False,
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("names", nargs="+", metavar="NAME",
                            help="figure, case, `all`; or `list`, `machine`, `setup PEER...`")
        parser.add_argument("--check", action="store_true",
                            help="hold the figures to their bars: two runs, exit 1 when one is missed")
        parser.add_argument("--json", action="store_true", help="print results with all samples as JSON")
        parser.add_argument("--out", type=Path, help="also write them to a file")
        parser.add_argument("--library", type=Path, help="time this kernel library (.a or .so) as the candidate")
        parser.add_argument("--peers-only", action="store_true", help="what the peers reach, without a candidate")
        parser.add_argument("--peers", metavar="A,B", help="compare with these instead; the result is not kept")
        parser.set_defaults(collect=False)
    _add_shared(parser)
    options = parser.parse_args(argv)
    if options.pairs < 1 or options.threads < 1 or (options.runs is not None and options.runs < 1):
        parser.error("--pairs, --threads and --runs need a number above 0")
    if options.check and options.pairs < bars.PAIRS:
        parser.error(f"--check needs at least {bars.PAIRS} pairs")
    if options.check and (options.runs or bars.RUNS) < bars.RUNS:
        parser.error(f"--check needs at least {bars.RUNS} runs")
    if options.check and (options.peers_only or options.peers):
        parser.error("--check needs a candidate and the figure's own peers; drop --peers-only and --peers")
    return parser, options


def plan_of(options):
    return pairs.Plan(threads=options.threads, pairs=options.pairs, slice_ms=options.slice_ms,
                      peak_seconds=options.peak_seconds, realtime=options.realtime)


def select(parser, names, all_figures):
    chosen = {}
    for name in names:
        # A case with its variants: `gemm` is gemm_bf16 and gemm_i8 too.
        found = [figure for figure in all_figures.values()
                 if name in ("all", figure.name, figure.case) or figure.case.startswith(name + "_")]
        if not found:
            parser.error(f"no figure or case `{name}`; `bench list` shows them")
        chosen.update({figure.name: figure for figure in found})
    return list(chosen.values())


def list_figures(layout, all_figures):
    for figure in all_figures.values():
        peers = ", ".join(peer + ("" if setup.is_set_up(layout, peer) else " (not set up)")
                          for peer in figure.peers)
        print(f"{figure.name:26} {figure.bar:>8} {figure.unit:3} {peers}")
    return 0


def set_up(parser, layout, peers):
    unknown = [peer for peer in peers if peer not in setup.PEERS]
    if unknown or not peers:
        parser.error(f"setup takes {', '.join(setup.PEERS)}")
    return max(setup.set_up(layout, peer) != 0 for peer in peers)


def show_machine(layout, options):
    with machine.machine_lock(options.wait):
        peak = machine.peak(layout.program("bench-peak"), options.threads, seconds=0.2,
                            realtime=options.realtime)
    if options.json:
        print(json.dumps({"machine": machine.about(layout.root), "peak": peak}, indent=1))
        return 0
    for name, entry in peak.items():
        if entry["best"] is None:
            print(f"{name:24} skipped: {entry['skipped']}")
        else:
            print(f"{name:24} {entry['best']:9.1f} {entry['unit']:8} median {entry['median']:9.1f}")
    return 0


def candidate_library(layout, options):
    """A static library is linked into one that can be loaded; None leaves it to the compiler."""
    if options.library is None or options.library.suffix != ".a":
        return options.library
    layout.cache.mkdir(parents=True, exist_ok=True)
    return programs.link_shared(options.library, layout.cache / f"{options.library.stem}.so")


def bench(parser, layout, options, all_figures, kernels):
    chosen = select(parser, options.names, all_figures)
    if options.peers_only or options.library:
        chosen = [figure for figure in chosen if figure.kind == "ratio"]
    if options.peers:
        chosen = [dataclasses.replace(figure, peers=options.peers.split(",")) for figure in chosen
                  if figure.kind == "ratio"]
    library = candidate_library(layout, options)
    plan = plan_of(options)
    runs = options.runs or (bars.RUNS if options.check else 1)
    # Only what follows the rule of passing replaces an earlier result; a quick look does not.
    keep = (library is None and not options.peers and not options.peers_only and runs >= bars.RUNS
            and plan.pairs >= bars.PAIRS)
    results = []
    with machine.machine_lock(options.wait):
        for figure in chosen:
            result = figures.measure(layout, figure, kernels, plan, runs, library, options.peers_only)
            if keep:
                figures.keep(layout, result)
            results.append(result)
            if not options.json:
                print(figures.describe(figure, result), flush=True)
    text = json.dumps(results, indent=1)
    if options.json:
        print(text)
    if options.out:
        options.out.write_text(text + "\n")
    return status_of(results, options)


def status_of(results, options):
    wrong = any("wrong" in run for result in results for run in result["runs"] if isinstance(run, dict))
    if wrong or (options.check and any(result["holds"] is False for result in results)):
        return 1
    failed = any("failed" in result for result in results)
    if failed or (options.check and any(result["holds"] is None for result in results)):
        return 3
    return 0


def collect(layout, options, all_figures, kernels):
    plan = plan_of(options)
    if options.cached:
        for figure in all_figures.values():
            print(json.dumps(figures.line_of(figure, figures.kept(layout, figure))))
        return 0
    with machine.machine_lock(options.wait):
        for figure in all_figures.values():
            result = figures.measure(layout, figure, kernels, plan, options.runs or bars.RUNS)
            figures.keep(layout, result)
            print(json.dumps(figures.line_of(figure, result)), flush=True)
    return 0


def main(argv):
    parser, options = parse_arguments(argv)
    layout = programs.Layout.of(options.root, options.programs)
    try:
        all_figures, kernels = bars.load_bars(options.bars)
        if options.collect:
            return collect(layout, options, all_figures, kernels)
        if options.names[0] == "setup":
            return set_up(parser, layout, options.names[1:])
        if options.names == ["list"]:
            return list_figures(layout, all_figures)
        if options.names == ["machine"]:
            return show_machine(layout, options)
        return bench(parser, layout, options, all_figures, kernels)
    except (bars.BarsError, machine.Busy, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except programs.ProgramError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
