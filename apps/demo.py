#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job on real input, application by application: compile algorithm and schedule to a static library,
run the program that links it on .npy tensors, compare with the algorithm's interpreter and, where a peer is
set up, with the peer's time. `./dev demo` calls it with TILEWRIGHT_BIN set to the folder of the programs.

Laws: nothing is shown as a result that was not compared; the whole takes a minute at most, so what there is
no time for is left out and said to be. Exit status: 0 all is well, 1 something failed, 2 the command line.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A minute, less what it takes to look at the packages and the build before.
SECONDS = 52
SKIPPED = 77


class Failed(Exception):
    """A step failed; the message says which and what to do."""


class App:
    """Schedules in order of preference; sizes that are timed, and smaller ones that are interpreted."""

    def __init__(self, name, schedules, output, inputs, large, small, figure=None):
        self.name, self.schedules, self.output, self.inputs = name, schedules, output, inputs
        self.large, self.small, self.figure = large, small, figure


def _queries(s):
    return s["B"], s["H"], s["S"], s["D"]


def _keys(s):
    return s["B"], s["H"], s["T"], s["D"]


# Inputs: name, type, shape, exponent e: the numbers have magnitude 2^e to 2^(e+1) and any sign.
APPS = [
    App("gemm", ("blocked", "blocked_avx2"), "c",
        [("a", "f32", lambda s: (s["M"], s["K"]), -1), ("b", "f32", lambda s: (s["K"], s["N"]), -1)],
        {"M": 1024, "N": 1024, "K": 1024}, {"M": 131, "N": 197, "K": 101}, "gemm_f32_1024"),
    App("gemm_bf16", ("blocked", "blocked_avx2"), "c",
        [("a", "bf16", lambda s: (s["M"], s["K"]), -1), ("b", "bf16", lambda s: (s["K"], s["N"]), -1)],
        {"M": 1024, "N": 1024, "K": 1024}, {"M": 131, "N": 197, "K": 101}),
    App("softmax", ("rows", "rows_avx2"), "y", [("x", "f32", lambda s: (s["R"], s["C"]), 1)],
        {"R": 2048, "C": 1024}, {"R": 256, "C": 1021}, "softmax_f32_2048x1024"),
    App("layernorm", ("rows", "rows_avx2"), "y",
        [("x", "f32", lambda s: (s["R"], s["C"]), 0), ("scale", "f32", lambda s: (s["C"],), 0),
         ("shift", "f32", lambda s: (s["C"],), -2)],
        {"R": 2048, "C": 1024}, {"R": 256, "C": 1021}, "layernorm_f32_2048x1024"),
    App("blur", ("tiled", "tiled_avx2"), "y", [("x", "f32", lambda s: (s["H"] + 2, s["W"] + 2), 0)],
        {"H": 2048, "W": 2048}, {"H": 523, "W": 521}, "blur_f32_2048"),
    App("attention", ("row_tiles", "row_tiles_avx2"), "o",
        [("q", "bf16", _queries, -1), ("k", "bf16", _keys, -1), ("v", "bf16", _keys, -1)],
        {"B": 1, "H": 8, "S": 512, "T": 512, "D": 64}, {"B": 1, "H": 2, "S": 61, "T": 131, "D": 64}),
]


def random_bytes(generator, count, kind, exponent):
    """`count` numbers with a random sign and significand and one exponent, made in bulk."""
    width, keep, code = (4, 0x807FFFFF, (127 + exponent) << 23) if kind == "f32" else (2, 0x807F, (127 + exponent) << 7)
    if count == 0:
        return b""
    every = int.from_bytes(b"\1".ljust(width, b"\0") * count, "little")
    bits = int.from_bytes(generator.randbytes(width * count), "little")
    return ((bits & (every * keep)) | (every * code)).to_bytes(width * count, "little")


def write_npy(path, kind, shape, data):
    text = repr({"descr": {"f32": "<f4", "bf16": "<V2"}[kind], "fortran_order": False, "shape": tuple(shape)})
    header = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def write_inputs(app, sizes, folder, seed):
    """Files by name of input."""
    generator = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    files = {}
    for name, kind, shape_of, exponent in app.inputs:
        shape = shape_of(sizes)
        count = 1
        for size in shape:
            count *= size
        files[name] = os.path.join(folder, name + ".npy")
        write_npy(files[name], kind, shape, random_bytes(generator, count, kind, exponent))
    return files


def run(what, command, accept=(0,)):
    """Standard output and exit status; the program's own message where the status is another."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS,
                              check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what} took more than {SECONDS} s: {' '.join(command)}") from None
    except OSError as error:
        raise Failed(f"{what}: {error}") from None
    if done.returncode not in accept:
        text = (done.stderr or done.stdout).strip() or "it said nothing"
        raise Failed(f"{what}: exit status {done.returncode}: {' '.join(command)}\n{text}")
    return done.stdout, done.returncode


def read_json(what, text):
    try:
        return json.loads(text)
    except ValueError:
        raise Failed(f"{what} printed something else than JSON: {text[:200]!r}") from None


class Demo:
    def __init__(self, programs, folder, threads):
        self.programs, self.folder, self.threads = programs, folder, threads
        self.tool = os.path.join(programs, "tilewright")

    def schedule_file(self, app, schedule):
        return os.path.join(ROOT, "apps", app.name, "schedules", schedule + ".tws")

    def compile(self, app, schedule):
        """The library of an application: seconds, bytes, what the manifest says of its correctness."""
        out = os.path.join(self.folder, "kernels", app.name)
        began = time.monotonic()
        run("compile", [self.tool, "compile", os.path.join(ROOT, "apps", app.name, app.name + ".tw"),
                        "--schedule", self.schedule_file(app, schedule), "-o", out])
        seconds = time.monotonic() - began
        with open(os.path.join(out, app.name + ".json"), encoding="utf-8") as file:
            manifest = json.load(file)
        return seconds, os.path.getsize(os.path.join(out, f"lib{app.name}.a")), manifest["verdict"]

    def run_program(self, app, schedule, sizes):
        """The program that links the library, on files; it compares with its own reference."""
        program = os.path.join(self.programs, "apps", f"{app.name}-{schedule}")
        if not os.path.isfile(program):
            raise Failed(f"{program} is missing; build it: ./dev build release")
        files = write_inputs(app, sizes, os.path.join(self.folder, app.name + "_large"), 1)
        words = [f"{name}={path}" for name, path in files.items()]
        words.append(f"{app.output}={os.path.join(self.folder, app.name + '_result.npy')}")
        text, status = run(app.name, [program, *words, f"threads={self.threads}", "--json"], accept=(0, SKIPPED))
        return None if status == SKIPPED else read_json(app.name, text)

    def interpret(self, app, schedule, sizes):
        """The same schedule at a smaller size against the algorithm's interpreter: error, error over bound."""
        files = write_inputs(app, sizes, os.path.join(self.folder, app.name + "_small"), 2)
        words = [word for name, path in files.items() for word in ("--input", f"{name}={path}")]
        words += [word for name, size in sizes.items() for word in ("-D", f"{name}={size}")]
        text, _ = run("run --compare", [
            self.tool, "run", os.path.join(ROOT, "apps", app.name, app.name + ".tw"), "--schedule",
            self.schedule_file(app, schedule), *words, "--compare", "--json", "--threads", str(self.threads)])
        output = read_json("run --compare", text)["outputs"][0]
        if not output["within_bound"] or output["cells_without_bound"]:
            raise Failed(f"{app.name} differs from its interpreter: {output}")
        return output["max_error"], output["max_error_over_bound"]

    def row(self, app):
        for schedule in app.schedules:
            seconds, size, verdict = self.compile(app, schedule)
            timed = self.run_program(app, schedule, app.large)
            if timed is None:
                continue
            error, ratio = self.interpret(app, schedule, app.small)
            return {"app": app, "schedule": schedule, "compile_s": seconds, "bytes": size, "verdict": verdict,
                    "error": error, "ratio": ratio, "timed": timed, "peer": "-"}
        raise Failed(f"{app.name}: this processor runs none of the schedules {', '.join(app.schedules)}: they need "
                     "AVX2 or AVX-512; the program without a schedule needs AVX2, too")


def bars():
    """Peers by figure, from the list that `./dev bench` reads; nothing where this Python cannot read it."""
    try:
        import tomllib
    except ImportError:
        return {}
    try:
        with open(os.path.join(ROOT, "tests", "bench", "bars.toml"), "rb") as file:
            return {row["name"]: row.get("peers", []) for row in tomllib.load(file)["figure"]}
    except (OSError, ValueError):
        return {}


def peer_ratio(app, peers, programs, seconds):
    """The time of the peer over ours, as `./dev bench` takes it, but a few pairs only: `1.21 torch`."""
    have = [peer for peer in peers.get(app.figure, [])
            if os.path.isfile(os.path.join(ROOT, ".cache", "peers", peer, "bin", "python"))]
    if not have:
        return "-"
    command = [sys.executable, "-B", os.path.join(ROOT, "tests", "bench", "bench.py"), app.figure, "--peers",
               ",".join(have), "--pairs", "5", "--slice-ms", "20", "--peak-seconds", "0", "--runs", "1", "--json",
               "--programs", programs]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=seconds,
                              check=False)
        ratios = json.loads(done.stdout)[0]["runs"][0]["ratios"]
        name, value = min(((peer, entry["median"]) for peer, entry in ratios.items()), key=lambda pair: pair[1])
    except subprocess.TimeoutExpired:
        return "no time"
    except (OSError, ValueError, LookupError):
        return "failed"
    return f"{value:.2f} {name}"


def sizes_text(sizes):
    return "x".join(str(size) for size in sizes.values())


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_rows(rows):
    head = ("app", "schedule", "compiled", "library", "interpreted at", "largest error", "of bound", "timed at", "time",
            "rate", "peer/ours")
    table = []
    for row in rows:
        app, timed = row["app"], row["timed"]
        table.append((app.name, row["schedule"], f"{row['compile_s'] * 1e3:.0f} ms", f"{row['bytes'] / 1024:.0f} KiB",
                      sizes_text(app.small), f"{row['error']:.2e}", f"{row['ratio'] * 100:.1f} %",
                      sizes_text(app.large), f"{timed['milliseconds']:.2f} ms",
                      f"{timed['rate']:.1f} {timed['rate_unit']}", row["peer"]))
    print_table(head, table)
    print("\nlargest error: every number against the algorithm's interpreter, with the bound that it computes for "
          "that number.\ntimed at: inputs from .npy files; every number of the result is compared with the "
          "application's own double\nprecision reference. peer/ours: the peer's time over ours, 5 short pairs; "
          "`./dev bench` takes it properly.")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev demo", description="Compiles and runs the applications, and prints "
                                     "a table.", allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="APP", help=f"of {', '.join(app.name for app in APPS)} (default: all)")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as this process may use")
    parser.add_argument("--keep", metavar="DIR", help="leave libraries, inputs and results in this new folder")
    parser.add_argument("--no-peers", action="store_true", help="do not compare with peers")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {app.name for app in APPS}
    if unknown:
        parser.error(f"no application is named {', '.join(sorted(unknown))}")
    if not 0 <= options.threads <= 1024:
        parser.error("--threads: from 0 to 1024")
    if options.keep and os.path.exists(options.keep):
        parser.error(f"--keep: {options.keep} exists already")
    return options


def compute(demo, chosen):
    """Rows of what went well; the messages of what did not."""
    rows, failures = [], []
    for app in chosen:
        try:
            rows.append(demo.row(app))
            print(f"{app.name}: {rows[-1]['verdict']}", flush=True)
        except (Failed, OSError, LookupError) as failure:
            failures.append(f"{app.name}: {failure}")
            print(f"{app.name}: failed", flush=True)
    return rows, failures


def main(arguments):
    options = parse(arguments)
    began = time.monotonic()
    programs = os.environ.get("TILEWRIGHT_BIN", os.path.join(ROOT, "build", "release", "bin"))
    if not os.path.isfile(os.path.join(programs, "tilewright")):
        print(f"demo: {programs}/tilewright is missing: run `./dev demo`, which builds it, or set TILEWRIGHT_BIN to the "
              "folder of the programs", file=sys.stderr)
        return 1
    chosen = [app for app in APPS if not options.names or app.name in options.names]
    folder = options.keep or tempfile.mkdtemp(prefix="tilewright-demo-")
    try:
        os.makedirs(folder, exist_ok=True)
        rows, failures = compute(Demo(programs, folder, options.threads), chosen)
    except OSError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    peers = {} if options.no_peers else bars()
    for row in rows:
        left = SECONDS - (time.monotonic() - began)
        if row["app"].figure and left > 3:
            row["peer"] = peer_ratio(row["app"], peers, programs, left)
    if rows:
        print()
        print_rows(rows)
    for failure in failures:
        print(f"\ndemo: {failure}", file=sys.stderr)
    print(f"\n{len(rows)} of {len(chosen)} applications well, {time.monotonic() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
