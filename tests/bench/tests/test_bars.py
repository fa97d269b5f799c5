# SPDX-License-Identifier: Apache-2.0
"""bars.toml is well-formed and says what the issue says; judging follows the rule of passing."""
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness.bars import BarsError, Figure, judge_command, judge_ratio, load_bars  # noqa: E402

RATIO = Figure("r", 3, "ratio", case="gemm", peers=["a", "b"], at_least=0.8)
COMMAND = Figure("c", 3, "command", clock="cpu_ms", at_most=150, unit="ms")

GOOD = """
[kernel.gemm]
algorithm = "g.tw"
schedule = "g.tws"
function = "gemm"
[[figure]]
name = "g"
issue = 3
kind = "ratio"
case = "gemm"
sizes = {M = 1}
peers = ["a"]
at_least = 0.5
"""


class Shipped(unittest.TestCase):
    def test_bars_are_those_agreed(self):
        figures, _ = load_bars(HERE.parent / "bars.toml")
        bars = {name: figure.bar for name, figure in figures.items()}
        for name, bar in {"gemm_f32_512": ">= 0.75", "gemm_f32_1024": ">= 0.8", "gemm_f32_2048": ">= 0.75",
                          "softmax_f32_2048x1024": ">= 1.3", "layernorm_f32_2048x1024": ">= 0.9",
                          "blur_f32_2048": ">= 0.9", "compile_softmax": "<= 150", "compile_gemm": "<= 400",
                          "demo": "<= 60", "clean_build": "<= 360", "tests_alone": "<= 180"}.items():
            self.assertEqual(bars[name], bar, name)
        for name in ("gemm_f32_512", "gemm_f32_1024", "gemm_f32_2048"):
            self.assertEqual(figures[name].peers, ["openblas", "torch"])


class Loading(unittest.TestCase):
    def load(self, text):
        path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "bars.toml"
        path.write_text(text)
        return load_bars(path)

    def test_good(self):
        figures, kernels = self.load(GOOD)
        self.assertEqual(figures["g"].sizes, {"M": 1})
        self.assertEqual(kernels["gemm"].function, "gemm")

    def test_a_figure_may_name_its_kernel(self):
        figures, _ = self.load(GOOD)
        self.assertEqual(figures["g"].kernel, "gemm")
        other = GOOD.replace("[kernel.gemm]", "[kernel.small]").replace('case = "gemm"',
                                                                       'case = "gemm"\nkernel = "small"')
        figures, kernels = self.load(other)
        self.assertEqual((figures["g"].case, figures["g"].kernel), ("gemm", "small"))
        self.assertEqual(kernels["small"].function, "gemm")

    def test_refusals_name_the_place(self):
        for change, words in ((("at_least = 0.5", "at_least = true"), "number above 0"),
                              (("at_least = 0.5", "at_least = -1"), "number above 0"),
                              (("at_least = 0.5", ""), "no `at_least`"),
                              (("at_least = 0.5", "at_least = 0.5\nat_most = 3"), "unknown key `at_most`"),
                              (('kind = "ratio"', 'kind = "rate"'), "kind must be one of"),
                              (('peers = ["a"]', "peers = []"), "needs a peer"),
                              (('case = "gemm"', 'case = "conv"'), "no kernel `conv`"),
                              (('function = "gemm"', ""), "needs algorithm, schedule and function"),
                              (("issue = 3", "issue = "), "bars.toml")):
            with self.assertRaisesRegex(BarsError, words):
                self.load(GOOD.replace(*change))
        with self.assertRaisesRegex(BarsError, "two figures"):
            self.load(GOOD + GOOD[GOOD.index("[[figure]]"):])


class Ratios(unittest.TestCase):
    def test_holds_only_in_two_runs_of_fifteen(self):
        run = {"a": [0.9] * 15, "b": [0.8] * 15}
        verdict = judge_ratio(RATIO, [run, run])
        self.assertEqual((verdict.holds, verdict.value), (True, 0.8))
        self.assertIsNone(judge_ratio(RATIO, [run]).holds)
        short = {"a": [0.9] * 15, "b": [0.8] * 14}
        self.assertIsNone(judge_ratio(RATIO, [run, short]).holds)

    def test_the_faster_peer_and_the_worse_run_decide(self):
        good, bad = {"a": [2.0] * 15, "b": [0.9] * 15}, {"a": [2.0] * 15, "b": [0.79] * 15}
        verdict = judge_ratio(RATIO, [good, bad])
        self.assertEqual((verdict.holds, verdict.value), (False, 0.79))

    def test_the_median_decides_not_the_mean(self):
        ratios = [0.7] * 7 + [0.8] + [5.0] * 7
        self.assertTrue(judge_ratio(RATIO, [{"a": ratios, "b": ratios}] * 2).holds)
        ratios = [0.7] * 8 + [5.0] * 7
        self.assertFalse(judge_ratio(RATIO, [{"a": ratios, "b": ratios}] * 2).holds)

    def test_wrong_missing_and_unmeasured_never_hold(self):
        good = {"a": [2.0] * 15, "b": [2.0] * 15}
        self.assertIs(judge_ratio(RATIO, [good, {"wrong": "element 3"}]).holds, False)
        self.assertIsNone(judge_ratio(RATIO, [good, {"a": [2.0] * 15}]).holds)
        self.assertIsNone(judge_ratio(RATIO, []).holds)
        suspect = judge_ratio(RATIO, [good, good, {"suspect": "too fast"}])
        self.assertEqual((suspect.holds, suspect.reason), (None, "too fast"))


class Commands(unittest.TestCase):
    def test_worse_run_decides(self):
        self.assertTrue(judge_command(COMMAND, [[100, 150, 900], [149]]).holds)
        self.assertFalse(judge_command(COMMAND, [[100], [151, 152, 1]]).holds)
        self.assertIsNone(judge_command(COMMAND, [[100]]).holds)
        self.assertIsNone(judge_command(COMMAND, []).holds)


if __name__ == "__main__":
    unittest.main()
