from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab._native import order

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
Column = npt.NDArray[np.generic]


@st.composite
def columns_of(draw: st.DrawFn, size: int) -> Column:
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    limits = np.iinfo(dtype)
    edges = st.sampled_from([int(limits.min), int(limits.min) + 1, 0, 1, int(limits.max)])
    few = st.integers(max(-2, int(limits.min)), 2)
    cells = draw(st.sampled_from([st.integers(int(limits.min), int(limits.max)), edges, few]))
    return np.array(draw(st.lists(cells, min_size=size, max_size=size)), dtype)


@st.composite
def tables(draw: st.DrawFn) -> list[Column]:
    size = draw(st.integers(0, 40))
    return [draw(columns_of(size)) for _ in range(draw(st.integers(1, 4)))]


def expected(columns: list[Column], descending: int = 0) -> list[int]:
    ranks = [np.unique(column, return_inverse=True)[1] for column in columns]
    signed = [-rank if descending >> at & 1 else rank for at, rank in enumerate(ranks)]
    return np.lexsort(tuple(reversed(signed))).tolist()


@given(tables(), st.integers(0, 15))
def test_rows_come_in_the_order_of_all_columns(columns: list[Column], descending: int) -> None:
    assert order(columns, descending=descending).tolist() == expected(columns, descending)


@pytest.mark.parametrize("disorder", [0, 3, 10**4, 10**12])
def test_large_columns_are_sorted_in_parts(disorder: int) -> None:
    random = np.random.default_rng(disorder)
    size = 300_000
    time = np.arange(size) * 2 + random.integers(0, disorder + 1, size)
    lane = random.integers(0, 3, size).astype(np.int16)
    assert np.array_equal(order([time]), np.argsort(time, kind="stable"))
    assert np.array_equal(order([lane, time], descending=2), np.lexsort((-time, lane)))


def test_strided_and_repeated_values_are_read_in_place() -> None:
    pairs = np.array([[3, 0], [1, 0], [2, 0]], np.int32)
    assert order([pairs[:, 0]]).tolist() == [1, 2, 0]
    assert order([np.broadcast_to(np.int64(7), 3), pairs[::-1, 0]]).tolist() == [1, 0, 2]
    assert order([np.broadcast_to(np.int64(7), 3)]).tolist() == [0, 1, 2]


def test_anything_but_integers_of_one_length_is_refused() -> None:
    with pytest.raises(TypeError, match="integers"):
        order([np.zeros(2)])
    with pytest.raises(ValueError, match="differ in length"):
        order([np.zeros(2, np.int64), np.zeros(3, np.int64)])
