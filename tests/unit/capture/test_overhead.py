"""What a profiler costs, from pairs of runs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.capture.overhead import Overhead, overhead, smallest_sample


def measured(plain: list[float], recorded: list[float]) -> Overhead:
    first, second = iter(plain), iter(recorded)
    return overhead(lambda: next(first), lambda: next(second), pairs=len(plain))


def test_the_cost_is_the_median_of_the_pairs_differences() -> None:
    found = measured([10.0, 11.0, 12.0], [11.0, 13.0, 13.0])
    assert (found.without, found.recorded, found.difference) == (11.0, 13.0, 1.0)
    assert found.share == pytest.approx(1 / 11)


def test_runs_take_turns_in_alternating_order() -> None:
    order: list[str] = []
    overhead(lambda: order.append("a") or 1.0, lambda: order.append("b") or 1.0, pairs=4)
    assert "".join(order) == "abbaabba"


def test_six_pairs_are_the_fewest_that_can_decide() -> None:
    assert smallest_sample() == 6
    assert "UNDECIDED, 6 pairs are the fewest" in measured([1.0] * 5, [2.0] * 5).verdict
    assert measured([1.0] * 6, [2.0] * 6).verdict == "it slows the program down"


@pytest.mark.parametrize(
    ("recorded", "verdict"),
    [
        ([2.0, 2.1, 2.2, 1.9, 2.0, 2.1, 2.0, 2.1], "it slows the program down"),
        ([1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.0, 1.0], "UNDECIDED, within the noise"),
        ([0.5, 0.6, 0.5, 0.4, 0.5, 0.6, 0.5, 0.4], "it is faster with it, so something else differs"),
    ],
)
def test_the_interval_decides_the_verdict(recorded: list[float], verdict: str) -> None:
    assert measured([1.0] * 8, recorded).verdict == verdict


@pytest.mark.parametrize("pairs", range(6, 11))
def test_at_most_one_sign_pattern_in_twenty_leaves_the_truth_outside(pairs: int) -> None:
    """The law that the interval rests on, by trying every pattern of signs."""
    sizes = [1.0 + 0.37 * rank for rank in range(pairs)]
    outside = 0
    for signs in itertools.product((-1, 1), repeat=pairs):
        differences = [sign * size for sign, size in zip(signs, sizes, strict=True)]
        low, high = measured([0.0] * pairs, differences).interval
        outside += not low <= 0 <= high
    assert outside / 2**pairs <= 0.05


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_the_interval_holds_the_middle(differences: list[float]) -> None:
    low, high = measured([0.0] * len(differences), differences).interval
    assert min(differences) <= low <= high <= max(differences)
