"""What the native core answers about the columns of a trace, against plain loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab._native import calls_of_ops, innermost_rows, last_below, reach_before

NEVER = np.iinfo(np.int64).min
Ints = npt.NDArray[np.int64]


def columns(table: list[tuple[int, ...]], wide: int) -> list[Ints]:
    return list(np.array(table, np.int64).reshape(-1, wide).T.copy())


keyed = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 9)), max_size=25)


@given(keyed, keyed)
def test_an_op_is_paired_with_the_latest_earlier_call_of_its_keys(
    calls: list[tuple[int, int, int]], ops: list[tuple[int, int, int]]
) -> None:
    one, two, start = columns([*calls, *ops], 3)
    expected = []
    for first, second, begun in ops:
        same = [row for row, call in enumerate(calls) if call[:2] == (first, second)]
        same.sort(key=lambda row: calls[row][2])
        earlier = [row for row in same if calls[row][2] < begun]
        expected.append(earlier[-1] if earlier else same[0] if same else -1)
    rows = np.arange(start.size)
    assert calls_of_ops([one, two.astype(np.int16)], start, rows, len(calls)).tolist() == expected


def test_rows_that_are_not_there_are_refused() -> None:
    one = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="rows that the columns do not have"):
        calls_of_ops([one], one, np.array([0, 2]), 1)


spans = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 12), st.integers(0, 8))


@given(st.lists(spans, max_size=25), st.lists(spans, max_size=8))
def test_the_innermost_row_is_the_last_one_around(
    table: list[tuple[int, int, int, int]], asked: list[tuple[int, int, int, int]]
) -> None:
    table.sort(key=lambda row: (row[2], -row[3]))
    kind, thread, start, length = columns(table, 4)
    _, at_thread, at_start, at_length = columns(asked, 4)
    found = innermost_rows(
        kind.astype(np.uint8), (thread, start, start + length), 1, (at_thread, at_start, at_start + at_length)
    )
    for answer, (_, one, begin, long) in zip(found.tolist(), asked, strict=True):
        around = [
            row
            for row, (what, its, first, lasts) in enumerate(table)
            if what == 1 and its == one and first <= begin and begin + long <= first + lasts
        ]
        assert answer == (around[-1] if around else -1)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(-1, 21)), max_size=10),
)
def test_the_last_value_below_a_limit(values: list[int], asked: list[tuple[int, int, int]]) -> None:
    cut = [(min(low, len(values)), min(high, len(values)), limit) for low, high, limit in asked]
    low, high, limit = columns(cut, 3)
    expected = [
        next((i for i in range(last - 1, first - 1, -1) if values[i] < most), first - 1)
        for first, last, most in cut
    ]
    assert last_below(np.array(values), low, high, limit).tolist() == expected


def test_the_last_value_below_a_limit_may_be_far_away() -> None:
    values = np.full(100_000, 9)
    values[[3, 70_000]] = 1
    low, high = np.array([0, 0, 4, 70_001]), np.array([100_000, 70_000, 70_000, 100_000])
    assert last_below(values, low, high, np.full(4, 5)).tolist() == [70_000, 3, 3, 70_000]


def test_a_range_outside_of_the_values_is_refused() -> None:
    with pytest.raises(ValueError, match="reaches out"):
        last_below(np.zeros(3, np.int64), np.array([0]), np.array([4]), np.array([0]))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 20)), max_size=25))
def test_the_latest_end_of_what_was_enqueued_earlier_on_a_stream(ops: list[tuple[int, int, int]]) -> None:
    names = sorted({op[0] for op in ops})
    stream, enqueue, end = columns([(names.index(op[0]), op[1], op[2]) for op in ops], 3)
    expected = [
        max((other[2] for other in ops if other[0] == op[0] and other[1] < op[1]), default=NEVER)
        for op in ops
    ]
    assert reach_before(stream, enqueue, end).tolist() == expected
