"""Busy time, gaps and the ops around them as the core sweeps them are those of plain searches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import native
from overlap_lab.intervals import clip, length, union

OPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8), st.integers(0, 9)), min_size=1, max_size=24)
Ops = list[tuple[int, int, int]]


def columns_of(ops: Ops) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start, length_ns, enqueue = np.array(ops, np.int64).T.copy()
    return start, start + length_ns, enqueue


@given(OPS, st.booleans(), st.booleans())
def test_edges_are_what_the_union_leaves(ops: Ops, ordered: bool, listed: bool) -> None:
    start, end, enqueue = columns_of(sorted(ops) if ordered else ops)
    index = np.arange(0, start.size, 2, dtype=np.int32) if listed else None
    edge_start, edge_end, next_op, previous_op = native.lane_edges(start, end, enqueue, index)
    lane = range(0, start.size, 2) if listed else range(start.size)
    mine = np.array(lane)
    busy = union(start[mine], end[mine])
    first, last = int(start[mine].min()), int(end[mine].max())
    assert edge_start.tolist() == [first, *busy[1].tolist()]
    assert edge_end.tolist() == [*busy[0].tolist(), last]
    gaps = [(a, b) for a, b in zip(edge_start.tolist(), edge_end.tolist(), strict=True) if b > a]
    after = [_first_after(lane, start, end, enqueue, gap_end) for _, gap_end in gaps]
    before = [_last_before(lane, end, enqueue, gap_start) for gap_start, _ in gaps]
    assert (next_op.tolist(), previous_op.tolist()) == (after, before)


def _first_after(lane: range, start: np.ndarray, end: np.ndarray, enqueue: np.ndarray, time: int) -> int:
    later = [op for op in lane if start[op] >= time]
    return min(later, key=lambda op: (start[op], -end[op], enqueue[op], op))


def _last_before(lane: range, end: np.ndarray, enqueue: np.ndarray, time: int) -> int:
    return max((op for op in lane if end[op] <= time), key=lambda op: (end[op], enqueue[op], op))


@given(OPS, st.integers(0, 40), st.integers(0, 40))
def test_busy_time_of_each_place_inside_a_window(ops: Ops, one: int, other: int) -> None:
    start, end, place = columns_of(ops)
    window = min(one, other), max(one, other)
    found = native.busy_by_place(start, end, place.astype(np.int32), 10, *window)
    expected = [length(union(*clip(start[place == each], end[place == each], window))) for each in range(10)]
    assert found == expected


QUERIES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 10)), max_size=6)


@given(OPS, QUERIES)
def test_places_of_the_ops_that_end_in_a_range(ops: Ops, queries: list[tuple[int, int, int]]) -> None:
    _, _, enqueue = columns_of(ops)
    size, random = len(ops), np.random.default_rng(len(queries))
    op, place = random.permutation(size).astype(np.int32), (enqueue % 3).astype(np.int32)
    low, high, limit = (np.minimum(np.array([one[at] for one in queries], np.int64), size) for at in range(3))
    query, found = native.touched_places(enqueue[op], op, place, (low, high, limit), 3)
    expected = {
        (at, int(place[op[i]]))
        for at in range(len(queries))
        for i in range(low[at], high[at])
        if enqueue[op[i]] < limit[at]
    }
    pairs = list(zip(query.tolist(), found.tolist(), strict=True))
    assert (set(pairs), len(pairs)) == (expected, len(expected))


@given(st.lists(st.integers(-1, 4), max_size=30), st.lists(st.booleans(), min_size=5, max_size=5))
def test_rows_whose_code_is_flagged(codes: list[int], flags: list[bool]) -> None:
    code = np.array(codes, np.int32)
    found = native.flagged_rows(code, np.array(flags, np.uint8))
    assert found.tolist() == [row for row, each in enumerate(codes) if each >= 0 and flags[each]]


@given(st.lists(st.integers(0, 4), max_size=30))
def test_rows_by_code(codes: list[int]) -> None:
    order, edges = native.group_rows(np.array(codes, np.int32), 5)
    assert order.tolist() == sorted(range(len(codes)), key=lambda row: codes[row])
    assert np.diff(edges).tolist() == [codes.count(code) for code in range(5)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5))
def test_whether_rows_are_in_order(rows: list[tuple[int, int]]) -> None:
    first, second = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    assert native.in_order(first, second) == (rows == sorted(rows))
    assert native.in_order(first) == (first.tolist() == sorted(first.tolist()))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9))
def test_whether_any_value_is_below_the_one_beside_it(rows: list[tuple[int, int]]) -> None:
    low, high = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    assert native.any_below(low, high) == any(one < other for one, other in rows)


def test_ops_that_there_are_not_are_refused() -> None:
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="there are not"):
        native.lane_edges(one, one, one, np.array([1], np.int32))
    with pytest.raises(ValueError, match="there are not"):
        native.busy_by_place(one, one, np.array([3], np.int32), 2, 0, 1)
