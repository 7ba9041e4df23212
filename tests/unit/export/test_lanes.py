"""No two spans of a lane overlap, and no lane is opened without need."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.export.lanes import lanes_of_nested, lanes_of_spans


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 10)), max_size=40))
def test_lanes_are_free_of_overlap_and_as_few_as_can_be(spans: list[tuple[int, int]]) -> None:
    spans.sort(key=lambda span: (span[0], -span[1]))
    start = np.array([begin for begin, _ in spans], np.int64)
    end = start + np.array([length for _, length in spans], np.int64)
    lane = lanes_of_spans(start, end)
    for number in np.unique(lane):
        mine = lane == number
        assert (start[mine][1:] >= np.maximum.accumulate(end[mine])[:-1]).all()
    if (end > start).all():
        most = max((int(((start <= at) & (end > at)).sum()) for at in range(45)), default=0)
        assert int(lane.max(initial=-1)) + 1 == most


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 10)), max_size=40))
def test_spans_of_a_lane_are_within_each_other_or_apart(spans: list[tuple[int, int]]) -> None:
    spans.sort(key=lambda span: (span[0], -span[1]))
    start = np.array([begin for begin, _ in spans], np.int64)
    end = start + np.array([max(length, 0) for _, length in spans], np.int64)
    lane = lanes_of_nested(start, end)
    for number in range(int(lane.max(initial=-1)) + 1):
        mine = np.flatnonzero(lane == number)
        assert mine.size
        for one in mine:
            later = mine[mine > one]
            assert ((end[later] <= end[one]) | (start[later] >= end[one])).all()
    crossing = any(
        start[a] < start[b] < end[a] < end[b] for a in range(len(spans)) for b in range(a + 1, len(spans))
    )
    assert bool(lane.any()) == crossing
    assert lane.tolist() == lowest_lanes(spans)


def lowest_lanes(spans: list[tuple[int, int]]) -> list[int]:
    """By looking at all lanes for each span, from the lowest on."""
    lanes: list[list[int]] = []
    found = []
    for begin, length in spans:
        for open_ends in lanes:
            open_ends[:] = [end for end in open_ends if end > begin]
        end = begin + max(length, 0)
        fits = [not open_ends or end <= min(open_ends) for open_ends in lanes]
        found.append(fits.index(True) if True in fits else len(lanes))
        if found[-1] == len(lanes):
            lanes.append([])
        lanes[found[-1]].append(end)
    return found


def test_as_many_lanes_as_spans_are_found_without_looking_at_all_for_each() -> None:
    """Which would take minutes: every span begins in all before it and ends after them, ten times over."""
    start = np.arange(60_000)
    end = start // 20_000 * 20_000 + 20_000 + start % 20_000
    assert (lanes_of_nested(start, end) == start % 20_000).all()
