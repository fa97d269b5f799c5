# SPDX-License-Identifier: Apache-2.0
"""Medians and their intervals.

The interval of a median comes from order statistics: of n independent samples the number below the true
median is binomial(n, 1/2), whatever their distribution. It needs no random numbers and no normality, which
timings on a shared machine do not have.
"""
from dataclasses import dataclass
from math import comb


def median(values):
    if not values:
        raise ValueError("the median of nothing")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


@dataclass
class Interval:
    low: float
    high: float
    # The probability that such an interval holds the true median; below the wish for very few samples.
    coverage: float


def median_interval(values, confidence=0.95):
    """The narrowest symmetric pair of order statistics that covers at least `confidence`, else the range."""
    ordered = sorted(values)
    count = len(ordered)
    if count == 0:
        raise ValueError("the interval of nothing")
    # Cutting `cut` samples from each end misses when at most `cut` samples lie on one side.
    best_cut, best_coverage, tail = 0, 1 - 2 * 0.5**count, 0.0
    for cut in range(count // 2):
        tail += comb(count, cut) * 0.5**count
        coverage = 1 - 2 * tail
        if cut > 0 and coverage < confidence:
            break
        best_cut, best_coverage = cut, coverage
    return Interval(ordered[best_cut], ordered[count - 1 - best_cut], max(0.0, best_coverage))


@dataclass
class PairSummary:
    median: float
    interval: Interval
    ratios: list


def summarize_pairs(candidate_times, peer_times):
    """Ratio of each interleaved pair: time of the peer over time of the candidate, above 1 is faster."""
    if len(candidate_times) != len(peer_times):
        raise ValueError("pairs need as many candidate times as peer times")
    ratios = [peer / candidate for candidate, peer in zip(candidate_times, peer_times)]
    return PairSummary(median(ratios), median_interval(ratios), ratios)
