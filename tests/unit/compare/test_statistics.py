from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from overlap_lab.compare.statistics import (
    OTHER_RUN,
    SAME_RUN,
    Evidence,
    Floats,
    cliffs_delta,
    effective_size,
    evidence,
    median_interval,
    paired_evidence,
    wander,
)

TIMES = st.integers(1_000, 2_000)


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[Floats, Floats]:
    size = draw(st.integers(6, 24))
    sides = [draw(st.lists(TIMES, min_size=size, max_size=size)) for _ in range(2)]
    return np.array(sides[0], float), np.array(sides[1], float)


def weighed(a: Floats, b: Floats, *, paired: bool) -> Evidence:
    if paired:
        return paired_evidence(a, b, seed=3, resamples=200)
    return evidence(a, b, floors=SAME_RUN, seed=3, resamples=200)


@pytest.mark.parametrize("paired", [False, True])
@settings(max_examples=30, deadline=None)
@given(sides=two_sides())
def test_swapping_the_sides_turns_the_difference_and_never_says_worse_both_ways(
    sides: tuple[Floats, Floats], paired: bool
) -> None:
    one, other = weighed(*sides, paired=paired), weighed(*sides[::-1], paired=paired)
    assert one.difference == -other.difference
    assert one.p == pytest.approx(other.p)
    assert one.delta == -other.delta
    assert not (one.differs and other.differs and np.sign(one.difference) == np.sign(other.difference))


@pytest.mark.parametrize("paired", [False, True])
@settings(max_examples=30, deadline=None)
@given(side=st.lists(TIMES, min_size=6, max_size=24))
def test_a_side_never_differs_from_itself(side: list[int], paired: bool) -> None:
    values = np.array(side, float)
    assert not weighed(values, values, paired=paired).differs


@pytest.mark.parametrize("paired", [False, True])
@settings(max_examples=30, deadline=None)
@given(sides=two_sides(), power=st.integers(-3, 12))
def test_another_unit_changes_no_verdict(sides: tuple[Floats, Floats], power: int, paired: bool) -> None:
    one, other = (
        weighed(*sides, paired=paired),
        weighed(*(side * 2.0**power for side in sides), paired=paired),
    )
    assert (one.differs, one.is_narrow) == (other.differs, other.is_narrow)
    assert other.low == one.low * 2.0**power


@settings(max_examples=30, deadline=None)
@given(sides=two_sides())
def test_cliffs_delta_counts_every_pair(sides: tuple[Floats, Floats]) -> None:
    a, b = sides
    expected = np.mean([np.sign(y - x) for x in a for y in b])
    assert cliffs_delta(a, b) == pytest.approx(expected)


def test_a_clear_shift_is_found_and_small_noise_is_narrow() -> None:
    random = np.random.default_rng(5)
    before, after = random.normal(1_000, 10, (2, 20))
    found = evidence(before, after + 100, floors=SAME_RUN, seed=0)
    assert found.differs
    assert found.low < 100 < found.high
    assert found.delta == 1
    same = evidence(before, after, floors=SAME_RUN, seed=0)
    assert not same.differs
    assert same.is_narrow


def test_drift_within_a_side_raises_the_noise_floor_over_a_shift_of_its_size() -> None:
    drifting = np.linspace(1_000, 1_200, 20)
    found = evidence(drifting, drifting + 200, floors=SAME_RUN, seed=0)
    assert wander(drifting) == pytest.approx(200 * 15 / 19)
    assert found.p < 0.05
    assert not found.differs


def test_pairs_see_through_the_same_drift() -> None:
    drifting = np.linspace(1_000, 1_200, 20)
    assert paired_evidence(drifting, drifting + 20, seed=0).differs


def test_five_pairs_that_agree_could_be_chance() -> None:
    before = np.arange(5.0)
    found = paired_evidence(before, before + 1, seed=0)
    assert found.p == pytest.approx(2 / 32)
    assert not found.differs


def test_steps_of_one_run_a_side_need_a_larger_difference() -> None:
    random = np.random.default_rng(6)
    before, after = random.normal(1_000, 10, (2, 20))
    assert evidence(before, after + 50, floors=SAME_RUN, seed=0).differs
    assert not evidence(before, after + 50, floors=OTHER_RUN, seed=0).differs


def test_p_of_independent_observations_is_that_of_scipy() -> None:
    before, after = np.array([1.0, 9, 2, 8, 3, 7]), np.array([4.0, 10, 5, 11, 6, 12])
    assert effective_size(before) == 6
    expected = stats.mannwhitneyu(before, after, method="asymptotic").pvalue
    assert evidence(before, after, floors=1, seed=0).p == pytest.approx(expected)


def test_observations_that_repeat_their_neighbours_count_for_less() -> None:
    assert effective_size(np.repeat([1.0, 5, 2, 6, 3], 4)) < 10
    assert effective_size(np.array([1.0, 9, 2, 8, 3, 7])) == 6


def test_the_interval_of_one_side_is_that_of_scipys_bootstrap() -> None:
    values = np.random.default_rng(7).normal(100, 10, 30)
    ours = median_interval((values,), seed=0, resamples=2_000)
    theirs = stats.bootstrap(
        (values,), np.median, method="percentile", n_resamples=2_000, rng=1
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1)


def test_the_same_seed_gives_the_same_interval_and_rows_do_not_touch_each_other() -> None:
    a, b = np.random.default_rng(8).normal(100, 10, (2, 3, 12))
    whole = evidence(a, b, floors=1, seed=4)
    alone = evidence(a[1], b[1], floors=1, seed=4)
    assert (whole.low[1], whole.high[1]) == (alone.low, alone.high)
    assert whole.p[1] == alone.p
    assert whole.floor[1] == alone.floor
