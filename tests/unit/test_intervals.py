from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.intervals import (
    Intervals,
    covered_ns,
    gaps,
    intersect,
    length,
    outermost,
    shared_length,
    subtract,
    union,
)

TIMES = st.integers(min_value=-30, max_value=30)
PAIRS = st.lists(st.tuples(TIMES, TIMES), max_size=12)


def arrays(pairs: list[tuple[int, int]]) -> Intervals:
    column = np.array(pairs, np.int64).reshape(-1, 2)
    return column[:, 0].copy(), column[:, 1].copy()


def made(pairs: list[tuple[int, int]]) -> Intervals:
    return union(*arrays(pairs))


def points(pairs: list[tuple[int, int]]) -> set[int]:
    return set().union(*(range(start, end) for start, end in pairs))


def points_of(intervals: Intervals) -> set[int]:
    return points(list(zip(*(side.tolist() for side in intervals), strict=True)))


def assert_is_a_set(intervals: Intervals) -> None:
    start, end = intervals
    assert start.dtype == end.dtype == np.int64
    assert (start < end).all()
    assert (end[:-1] < start[1:]).all()


def test_touching_intervals_join() -> None:
    start, end = made([(3, 4), (0, 2), (2, 3), (9, 10)])
    assert (start.tolist(), end.tolist()) == ([0, 9], [4, 10])


def test_a_nested_interval_does_not_end_its_outer_one() -> None:
    start, end = made([(0, 10), (2, 3), (9, 11)])
    assert (start.tolist(), end.tolist()) == ([0], [11])


def test_empty_and_inverted_intervals_vanish() -> None:
    assert length(made([(5, 5), (7, 3)])) == 0
    assert length(made([])) == 0


def test_times_near_the_ends_of_an_epoch_clock_do_not_overflow() -> None:
    now = 1_900_000_000_000_000_000
    outer, inner = made([(now, now + 10)]), made([(now + 2, now + 3)])
    assert length(subtract(outer, inner)) == 9


@given(PAIRS)
def test_union_holds_the_same_points(pairs: list[tuple[int, int]]) -> None:
    found = made(pairs)
    assert_is_a_set(found)
    assert points_of(found) == points(pairs)
    assert length(found) == len(points(pairs))


@given(PAIRS)
def test_union_of_a_union_changes_nothing(pairs: list[tuple[int, int]]) -> None:
    once = made(pairs)
    twice = union(*once)
    assert [side.tolist() for side in once] == [side.tolist() for side in twice]


@given(PAIRS, st.randoms())
def test_union_does_not_depend_on_order(pairs: list[tuple[int, int]], chance) -> None:
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    assert [side.tolist() for side in made(pairs)] == [side.tolist() for side in made(shuffled)]


@given(PAIRS)
def test_union_leaves_its_arguments_alone(pairs: list[tuple[int, int]]) -> None:
    start, end = arrays(pairs)
    union(start, end)
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == pairs


@given(PAIRS, PAIRS)
def test_subtract_and_intersect_are_those_of_sets(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    rest, shared = subtract(made(a), made(b)), intersect(made(a), made(b))
    assert shared_length(made(a), made(b)) == length(shared)
    assert_is_a_set(rest)
    assert_is_a_set(shared)
    assert points_of(rest) == points(a) - points(b)
    assert points_of(shared) == points(a) & points(b)


@given(PAIRS, PAIRS)
def test_a_set_is_its_shared_part_and_the_rest(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    whole = length(made(a))
    assert whole == length(intersect(made(a), made(b))) + length(subtract(made(a), made(b)))


@given(PAIRS)
def test_a_set_and_its_gaps_fill_the_window(pairs: list[tuple[int, int]]) -> None:
    found = made(pairs)
    holes = gaps(found)
    assert_is_a_set(holes)
    inside = points(pairs)
    window = max(inside, default=-1) + 1 - min(inside, default=0)
    assert length(found) + length(holes) == window


@given(PAIRS, PAIRS)
def test_covered_ns_counts_the_points_of_the_set(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    found = covered_ns(made(a), *arrays(b))
    assert found.tolist() == [len(points(a) & points([pair])) for pair in b]


NESTED = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 6)), max_size=8)


def test_an_interval_that_touches_another_is_not_nested_in_it() -> None:
    group = np.zeros(3, np.int64)
    assert outermost(group, np.array([0, 19, 30]), np.array([19, 19, 31])).tolist() == [0, 1, 2]


@given(NESTED)
def test_what_lies_in_no_other_interval_is_its_own_outermost(rows: list[tuple[int, int, int]]) -> None:
    group = np.array([row[0] for row in rows], np.int64)
    start = np.array([row[1] for row in rows], np.int64)
    end = start + np.array([row[2] for row in rows], np.int64)
    outer = outermost(group, start, end)
    for i in range(len(rows)):
        held_by = [
            j
            for j in range(len(rows))
            if group[j] == group[i] and start[j] <= start[i] and end[i] <= end[j]
            if (start[j], end[j]) != (start[i], end[i]) and (start[i] < end[j])
        ]
        equal = [j for j in range(len(rows)) if (group[j], start[j], end[j]) == (group[i], start[i], end[i])]
        assert (outer[i] == i) == (not held_by and i == equal[0])
