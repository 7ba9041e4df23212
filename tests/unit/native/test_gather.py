"""Columns in another order of rows, against the same in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab._native import places, spread, take, take_narrow, time_order

TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]
MANY = 200_000
"""Rows that several threads share."""


def shuffled(size: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.random.default_rng(size).permutation(size).astype(np.uint32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 1000, MANY])
def test_values_come_in_the_order_of_rows(dtype: type[np.integer], size: int) -> None:
    values = np.arange(size).astype(dtype)
    found = take(values, shuffled(size))
    assert found.dtype == dtype
    assert np.array_equal(found, values[shuffled(size)])


def test_values_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="1, 2, 4 or 8 bytes"):
        take(np.zeros(2, np.complex128), shuffled(2))


def test_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(IndexError, match="not there"):
        take(np.arange(3), np.array([0, 3], np.uint32))


def test_what_has_no_32_bits_is_the_least_number() -> None:
    values = np.array([-(1 << 31), -(1 << 31) - 1, (1 << 31) - 1, 1 << 31, -5, np.iinfo(np.int64).min])
    least = -(1 << 31)
    found = take_narrow(values, np.arange(6, dtype=np.uint32))
    assert found.tolist() == [least, least, (1 << 31) - 1, least, -5, least]


@pytest.mark.parametrize("size", [0, 1, MANY])
def test_places_undo_an_order(size: int) -> None:
    assert np.array_equal(places(shuffled(size))[shuffled(size)], np.arange(size))


@pytest.mark.parametrize("dtype", TYPES)
def test_values_at_their_places_and_another_elsewhere(dtype: type[np.integer]) -> None:
    where = shuffled(MANY)[: MANY // 3]
    values = np.arange(where.size).astype(dtype)
    expected = np.full(MANY, 7, dtype)
    expected[where] = values
    found = spread(values, where, MANY, np.array([7], dtype))
    assert found.dtype == dtype
    assert np.array_equal(found, expected)


def test_a_place_for_each_value_is_wanted() -> None:
    with pytest.raises(ValueError, match="a place for each value"):
        spread(np.zeros(3, np.int64), np.zeros(2, np.uint32), 9, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="one other value"):
        spread(np.zeros(3, np.int64), np.zeros(3, np.uint32), 9, np.zeros(1, np.int32))


def in_time(start: list[int], end: list[int], kind: list[int]) -> list[int]:
    rank = np.arange(256, dtype=np.uint8)[::-1].copy()
    starts = np.array(start, np.int64)
    by_start = np.argsort(starts, kind="stable")
    return time_order(starts, np.array(end, np.int64), np.array(kind, np.uint8), rank, by_start).tolist()


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=30)


@given(rows)
def test_ties_are_settled_by_length_then_kind(drawn: list[tuple[int, int, int]]) -> None:
    start, end, kind = ([row[at] for row in drawn] for at in range(3))
    expected = sorted(range(len(drawn)), key=lambda i: (start[i], -end[i], -kind[i], i))
    assert in_time(start, end, kind) == expected


@pytest.mark.parametrize("tie", [1, 3, 70_000, MANY])
def test_ties_are_settled_also_where_threads_meet(tie: int) -> None:
    random = np.random.default_rng(tie)
    start = (np.arange(MANY) // tie)[random.permutation(MANY)]
    end, kind = random.integers(0, 9, MANY), random.integers(0, 3, MANY)
    expected = np.lexsort((-kind, -end, start))
    assert in_time(start.tolist(), end.tolist(), kind.tolist()) == expected.tolist()


def test_time_columns_of_one_length_are_wanted() -> None:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="differ in length"):
        time_order(one, two, np.zeros(1, np.uint8), np.zeros(256, np.uint8), one)
