# SPDX-License-Identifier: Apache-2.0
"""Medians, their intervals and pair ratios against values worked by hand or by brute force."""
import itertools
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.statistic import median, median_interval, summarize_pairs  # noqa: E402


class Median(unittest.TestCase):
    def test_odd_even_and_order(self):
        self.assertEqual(median([3, 1, 2]), 2)
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
        self.assertEqual(median([7]), 7)

    def test_nothing_has_none(self):
        for function in (median, median_interval):
            with self.assertRaises(ValueError):
                function([])


class Interval(unittest.TestCase):
    def test_ranks_from_the_tables_of_the_sign_test(self):
        # 15 samples: 4th to 12th, 96.5 %; 20: 6th to 15th, 95.9 %; 6: 1st to 6th, 96.9 %.
        for count, low, high, coverage in ((15, 4, 12, 0.9648), (20, 6, 15, 0.9586), (6, 1, 6, 0.96875)):
            interval = median_interval(list(range(count, 0, -1)))
            self.assertEqual((interval.low, interval.high), (low, high), count)
            self.assertAlmostEqual(interval.coverage, coverage, 4)

    def test_few_samples_give_the_range_and_say_so(self):
        interval = median_interval([2.0, 9.0, 4.0])
        self.assertEqual((interval.low, interval.high), (2.0, 9.0))
        self.assertAlmostEqual(interval.coverage, 0.75)
        self.assertEqual(median_interval([5.0]).coverage, 0.0)

    def test_coverage_counted_over_all_sign_patterns(self):
        # The interval misses a median of 0 exactly when it lies on one side.
        for count in (5, 8, 11):
            hits = 0
            for signs in itertools.product((-1, 1), repeat=count):
                interval = median_interval([sign * (i + 1) for i, sign in enumerate(signs)])
                hits += interval.low < 0 < interval.high
            expected = median_interval(list(range(count))).coverage
            self.assertAlmostEqual(hits / 2**count, expected, 12)

    def test_covers_the_true_median_of_skewed_noise(self):
        source = random.Random(3)
        trials = 2000
        hits = 0
        for _ in range(trials):
            interval = median_interval([source.expovariate(1) for _ in range(15)])
            hits += interval.low <= 0.693147 <= interval.high
        self.assertGreater(hits / trials, 0.94)


class Pairs(unittest.TestCase):
    def test_ratio_is_peer_over_candidate(self):
        summary = summarize_pairs([10, 10, 20], [20, 5, 20])
        self.assertEqual(summary.ratios, [2.0, 0.5, 1.0])
        self.assertEqual(summary.median, 1.0)

    def test_a_drift_of_both_cancels(self):
        drift = [1, 2, 3, 4, 5]
        summary = summarize_pairs([100 * d for d in drift], [80 * d for d in drift])
        self.assertEqual((summary.median, summary.interval.low, summary.interval.high), (0.8, 0.8, 0.8))

    def test_unequal_lengths_are_refused(self):
        with self.assertRaises(ValueError):
            summarize_pairs([1, 2], [1])


if __name__ == "__main__":
    unittest.main()
