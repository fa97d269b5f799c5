# SPDX-License-Identifier: Apache-2.0
"""The whole of `bench.py` with stand-ins: a hand-written kernel library in the place of what the compiler
makes, and the same library as the peer. What a stand-in does is stated by its name."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = Path(os.environ.get("TILEWRIGHT_BIN", HERE.parents[2] / "build" / "dev" / "bin"))
FIXTURE = PROGRAMS / "tests" / "libbench_fixture_kernels.a"

BARS = """
[kernel.gemm]
algorithm = "apps/gemm/gemm.tw"
schedule = "apps/gemm/blocked.tws"
function = "{candidate}"
[[figure]]
name = "gemm_small"
issue = 3
kind = "ratio"
case = "gemm"
sizes = {{M = 64, N = 48, K = 80}}
peers = ["fixture"]
at_least = {bar}
[[figure]]
name = "sleepy"
issue = 3
kind = "command"
steps = [["{{bin}}/step", "{{tmp}}", "prepare"], ["{{bin}}/step", "{{tmp}}", "measure"]]
clock = "cpu_ms"
repeat = 3
unit = "ms"
at_most = {most}
"""

# Puts the fixture where `tilewright compile SRC --schedule S -o DIR` puts its static library.
COMPILER = """#!/bin/sh
[ "$1" = compile ] && [ "$3" = --schedule ] && [ "$5" = -o ] || exit 2
cp "{fixture}" "$6/lib$(basename "$2" .tw).a"
"""

PEER = """import os, sys
os.execv({program!r}, [{program!r}, "--library", {library!r}, "--function", {function!r}, "--threads",
                       os.environ["TILEWRIGHT_BENCH_THREADS"]])
"""

# The preparation burns 200 ms of processor time, the measured step nearly none.
STEP = """#!/bin/sh
if [ "$2" = prepare ]; then touch "$1/ready"; {python} -c "
import time
while time.process_time() < 0.2: pass"; else [ -e "$1/ready" ]; fi
"""


@unittest.skipUnless(FIXTURE.is_file(), "the fixture library is not built")
class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer_library = Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "peer.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-o", cls.peer_library, "-Wl,--whole-archive", FIXTURE,
                        "-Wl,--no-whole-archive"], check=True)

    def setUp(self):
        # A blank in every path: nothing may split words.
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory())) / "a checkout"
        self.bin = self.root / "bin"
        peers = self.root / "tests" / "bench" / "peers"
        python = self.root / ".cache" / "peers" / "fixture" / "bin"
        for folder in (self.bin, peers, python):
            folder.mkdir(parents=True)
        for name in ("bench-case", "bench-peak", "bench-candidate"):
            (self.bin / name).symlink_to(PROGRAMS / name)
        (python / "python").symlink_to(sys.executable)
        self.write(self.bin / "tilewright", COMPILER.format(fixture=FIXTURE))
        self.write(self.bin / "step", STEP.format(python=sys.executable))
        self.peer_file = peers / "fixture_peer.py"

    def write(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def bench(self, *arguments, candidate="gemm", peer="gemm", bar=0.01, most=100, verb="bench", peak=0):
        self.peer_file.write_text(PEER.format(program=str(self.bin / "bench-candidate"),
                                              library=str(self.peer_library), function=peer))
        bars = self.root / "bars.toml"
        bars.write_text(BARS.format(candidate=candidate, bar=bar, most=most))
        environment = {key: value for key, value in os.environ.items() if key != "TILEWRIGHT_PEERS"}
        environment["TMPDIR"] = str(self.root)  # A lock of our own: these tests may run beside a benchmark.
        argv = [sys.executable, "-B", HERE.parent / "bench.py", *(["figures"] if verb == "figures" else []),
                *arguments, "--bars", bars, "--root", self.root, "--programs", self.bin, "--slice-ms", "1",
                "--peak-seconds", str(peak)]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def results(self, *arguments, **options):
        done = self.bench(*arguments, "--json", **options)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return done.returncode, json.loads(done.stdout)

    def test_a_bar_that_holds(self):
        status, (result,) = self.results("gemm_small", "--check", candidate="gemm", peer="gemm_slow", bar=1.5,
                                         peak=0.002)
        self.assertEqual((status, result["holds"]), (0, True), result["reason"])
        self.assertEqual(len(result["runs"]), 2)
        for run in result["runs"]:
            self.assertEqual(len(run["ratios"]["fixture"]["pairs"]), 15)
            self.assertEqual(run["flops"], 2 * 64 * 48 * 80)
            for report in run["contestants"].values():
                self.assertEqual(len(report["samples_ns"]), 15)
                self.assertTrue(all(check["holds"] for check in report["checks"]))
            self.assertIn("peak_avx2_f32_2t", run["peak_before"])
        kept = json.loads((self.root / ".cache" / "bench" / "gemm_small.json").read_text())
        self.assertEqual(kept, result)

    def test_check_fails_when_a_bar_is_missed(self):
        done = self.bench("gemm_small", "--check", candidate="gemm_slow", peer="gemm", bar=0.8)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("MISSED", done.stdout)

    def test_without_check_a_missed_bar_is_only_told(self):
        done = self.bench("gemm_small", candidate="gemm_slow", peer="gemm", bar=0.8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MISSED", done.stdout)

    def test_a_wrong_candidate_fails_and_is_never_timed(self):
        for candidate, check in (("gemm_lost_term", ["--check"]), ("gemm_lost_row", [])):
            status, (result,) = self.results("gemm_small", *check, candidate=candidate)
            self.assertEqual((status, result["holds"]), (1, False))
            self.assertIn("candidate", result["reason"])
            self.assertEqual(list(result["runs"][0]), ["wrong"])

    def test_a_rate_above_the_peak_is_not_believed(self):
        (self.bin / "bench-peak").unlink()
        self.write(self.bin / "bench-peak", """#!/bin/sh
echo '{"figures": [{"name": "peak_avx2_f32", "threads": 2, "unit": "GFLOP/s", "best": 0.001, "median": 0.001}]}'
""")
        status, (result,) = self.results("gemm_small", "--check", peer="gemm_slow", bar=1.5, peak=0.002)
        self.assertEqual((status, result["holds"]), (3, None))
        self.assertIn("above the peak", result["reason"])

    def test_a_wrong_peer_proves_nothing_for_us(self):
        status, (result,) = self.results("gemm_small", "--check", peer="gemm_lost_term")
        self.assertEqual((status, result["holds"]), (1, False))
        self.assertIn("fixture", result["reason"])

    def test_a_kernel_that_refuses_is_quoted(self):
        status, (result,) = self.results("gemm_small", "--check", candidate="gemm_refuses")
        self.assertEqual((status, result["holds"]), (3, None))
        self.assertIn("the fixture refuses", result["reason"])

    def test_absent_peer_compiler_and_function_are_undecided_with_a_remedy(self):
        (self.root / ".cache" / "peers" / "fixture" / "bin" / "python").unlink()
        status, (result,) = self.results("gemm_small", "--check")
        self.assertEqual((status, result["holds"]), (3, None))
        self.assertIn("./dev bench setup fixture", result["reason"])
        status, (result,) = self.results("gemm_small", candidate="gemm_of_nobody")
        self.assertEqual(status, 3)
        (self.bin / "tilewright").unlink()
        status, (result,) = self.results("gemm_small", "--check")
        self.assertEqual(status, 3)
        self.assertIn("tilewright is absent", result["reason"])

    def test_a_given_library_is_timed_but_not_kept(self):
        status, (result,) = self.results("gemm", "--library", FIXTURE, "--pairs", "3")
        self.assertEqual((status, result["holds"]), (0, None))
        self.assertFalse((self.root / ".cache" / "bench" / "gemm_small.json").exists())

    def test_command_counts_the_last_step_only(self):
        status, (result,) = self.results("sleepy", "--check")
        self.assertEqual((status, result["holds"]), (0, True), result["reason"])
        self.assertLess(result["value"], 100)
        status, (result,) = self.results("sleepy", "--check", most=0.001)
        self.assertEqual((status, result["holds"]), (1, False))

    def test_a_command_that_fails_has_no_time(self):
        self.write(self.bin / "step", "#!/bin/sh\necho no flour >&2\nexit 4\n")
        status, (result,) = self.results("sleepy", "--check")
        self.assertEqual((status, result["value"]), (3, None))
        self.assertIn("no flour", result["reason"])

    def test_figures_cached(self):
        done = self.bench("--json", "--cached", verb="figures")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["holds"] for line in lines], [None, None])
        self.bench("sleepy", "--check")
        done = self.bench("--json", "--cached", verb="figures")
        lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(set(lines["sleepy"]), {"issue", "name", "value", "unit", "bar", "holds", "when"})
        self.assertIs(lines["sleepy"]["holds"], True)
        self.assertRegex(lines["sleepy"]["when"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        # Neither a quick look nor a missed bar without the rule replaces it.
        self.bench("sleepy", most=0.001)
        done = self.bench("--json", "--cached", verb="figures")
        self.assertIn(json.dumps(lines["sleepy"]), done.stdout)
        # A result of another bar is not this figure's.
        done = self.bench("--json", "--cached", verb="figures", most=99)
        lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertIsNone(lines["sleepy"]["value"])

    def test_the_lock_keeps_a_second_benchmark_out(self):
        import fcntl
        with open(self.root / f"tilewright-bench-{os.getuid()}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            done = self.bench("sleepy")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is locked", done.stderr)
        self.assertEqual(self.bench("sleepy").returncode, 0)

    def test_bad_command_lines(self):
        for arguments, words in ((["nothing"], "no figure or case `nothing`"), (["sleepy", "--pairs", "0"], "above 0"),
                                 (["gemm_small", "--check", "--pairs", "14"], "at least 15"),
                                 (["gemm_small", "--check", "--runs", "1"], "at least 2"),
                                 (["gemm_small", "--check", "--peers-only"], "needs a candidate"),
                                 (["setup", "nobody"], "setup takes"), (["setup"], "setup takes"), ([], "NAME")):
            done = self.bench(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
