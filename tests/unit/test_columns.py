from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.columns import (
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    in_order,
    is_one_of,
    largest_of_each,
    order,
    rows_of,
    smallest_of_each,
)

ABSENT = np.iinfo(np.int64).min
EDGES = [ABSENT, ABSENT + 1, -1, 0, 1, 2**40, np.iinfo(np.int64).max]
cells = st.one_of(st.integers(-3, 3), st.sampled_from(EDGES), st.integers(ABSENT, 2**63 - 1))
rows = st.lists(st.tuples(cells, cells, cells), max_size=30)


def columns_of(table: list[tuple[int, int, int]]) -> list[npt.NDArray[np.int64]]:
    return list(np.array(table, np.int64).reshape(-1, 3).T.copy())


@given(rows, st.integers(1, 3))
def test_codes_number_the_distinct_rows_in_order(table: list[tuple[int, int, int]], wide: int) -> None:
    cut = [row[:wide] for row in table]
    number = {row: code for code, row in enumerate(sorted(set(cut)))}
    assert dense_codes(*columns_of(table)[:wide]).tolist() == [number[row] for row in cut]


@pytest.mark.parametrize("values", [3, 5_000, 2**24, 2**63], ids=["few", "many", "close", "far"])
@pytest.mark.parametrize("distinct_values", [3, 5_000, 100_000])
def test_codes_of_long_columns_are_those_of_numpy(values: int, distinct_values: int) -> None:
    random = np.random.default_rng(7)
    pool = random.integers(-values // 2, values // 2, distinct_values)
    column = random.choice(pool, 150_000)
    other = random.integers(0, 2, column.size).astype(np.uint8)
    assert np.array_equal(dense_codes(column), np.unique(column, return_inverse=True)[1])
    both = np.unique(np.stack((other.astype(np.int64), column)), axis=1, return_inverse=True)[1]
    assert np.array_equal(dense_codes(other, column), both)


@given(rows)
def test_the_first_of_equal_rows_is_found(table: list[tuple[int, int, int]]) -> None:
    assert distinct(*columns_of(table)).tolist() == [table.index(row) for row in sorted(set(table))]


@given(rows)
def test_rows_are_ordered_by_the_first_column_first(table: list[tuple[int, int, int]]) -> None:
    expected = sorted(range(len(table)), key=lambda row: (table[row][0], -table[row][1], table[row][2]))
    assert order(*columns_of(table), descending=0b010).tolist() == expected


@given(st.lists(cells, max_size=40), st.lists(cells, max_size=40), st.booleans())
def test_places_among_ordered_numbers(numbers: list[int], asked: list[int], in_order: bool) -> None:
    ordered = np.array(sorted(numbers), np.int64)
    times = np.array(sorted(asked) if in_order else asked, np.int64)
    assert np.array_equal(count_before(ordered, times), np.searchsorted(ordered, times, side="left"))
    assert np.array_equal(count_until(ordered, times), np.searchsorted(ordered, times, side="right"))


@given(st.lists(st.integers(0, 255), max_size=30), st.sets(st.integers(0, 63)))
def test_members_of_a_few_numbers(values: list[int], members: set[int]) -> None:
    column = np.array(values, np.uint8)
    assert is_one_of(column, members).tolist() == [value in members for value in values]
    assert rows_of(column, members).tolist() == [row for row, value in enumerate(values) if value in members]


def test_members_are_found_in_columns_of_several_parts() -> None:
    column = np.random.default_rng(3).integers(-2, 5, 200_000)
    assert np.array_equal(rows_of(column, (0, 3)), np.flatnonzero(np.isin(column, (0, 3))))


@given(st.lists(st.tuples(st.integers(0, 4), cells), max_size=30))
def test_extremes_of_groups(pairs: list[tuple[int, int]]) -> None:
    group, value = (np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1))
    least, most = np.full(5, 7), np.full(5, 7)
    np.minimum.at(least, group, value)
    np.maximum.at(most, group, value)
    assert np.array_equal(smallest_of_each(group, value, 5, initial=7), least)
    assert np.array_equal(largest_of_each(group, value, 5, initial=7), most)


def test_a_group_beyond_the_last_one_is_refused() -> None:
    with pytest.raises(IndexError, match="out of range"):
        largest_of_each(np.array([2]), np.array([1]), 2, initial=0)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_values_of_some_rows_keep_their_type(dtype: type) -> None:
    column = np.array([0, 1, 1, 0, 1]).astype(dtype)
    rows = np.array([4, 0, 0, 3])
    assert gather(column, rows).tolist() == column[rows].tolist()
    assert gather(column, rows).dtype == dtype
    repeated = np.broadcast_to(column[1], 9)
    assert gather(repeated, rows).tolist() == repeated[rows].tolist()


def test_values_of_many_rows_are_those_of_numpy() -> None:
    random = np.random.default_rng(5)
    column, rows = random.integers(0, 99, 700_000), random.integers(0, 700_000, 900_000)
    assert np.array_equal(gather(column, rows), column[rows])


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    with pytest.raises(IndexError, match="out of range"):
        gather(np.arange(3), np.array([0, row]))


@given(st.lists(cells))
def test_values_in_order(values: list[int]) -> None:
    assert in_order(np.array(values, np.int64)).tolist() == sorted(values)
    assert in_order(np.array(sorted(values), np.int64)).tolist() == sorted(values)


def test_many_values_in_order_are_those_of_numpy() -> None:
    values = np.random.default_rng(8).integers(-(2**62), 2**62, 300_000)
    nearly = np.arange(300_000) ^ 1
    assert np.array_equal(in_order(values), np.sort(values))
    assert np.array_equal(in_order(nearly), np.arange(300_000))
