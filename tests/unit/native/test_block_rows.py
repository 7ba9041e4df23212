"""Rows put together from blocks, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.native import coded_numbers, distinct_numbers, scatter, times_fit
from overlap_lab.schema import ABSENT, EARLIEST_NS, LATEST_NS, LONGEST_NS

KINDS = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]
WHOLE = [np.int64, np.uint8, np.int16]
LIMITS = (EARLIEST_NS, LATEST_NS, LONGEST_NS)


@given(
    st.data(), st.lists(st.sampled_from(KINDS), max_size=4), st.sampled_from([np.int64, np.uint8, np.int16])
)
def test_blocks_of_any_width_come_to_their_places(
    data: st.DataObject, kinds: list[type[np.generic]], into: type[np.generic]
) -> None:
    blocks = [np.array(data.draw(st.lists(st.integers(0, 99), max_size=9)), kind) for kind in kinds]
    blocks = [
        np.broadcast_to(block[:1], 7) if data.draw(st.booleans()) and block.size else block
        for block in blocks
    ]
    values = np.concatenate([np.zeros(0, np.int64), *blocks]).astype(into)
    places = np.array(data.draw(st.permutations(range(values.size))), np.uint32)
    whole, expected = np.zeros(values.size, into), np.zeros(values.size, into)
    coded = [data.draw(st.booleans()) for _ in blocks]
    parts = [
        coded_numbers(block) if code else (None, block) for code, block in zip(coded, blocks, strict=True)
    ]
    scatter(whole, [values for _, values in parts], [codes for codes, _ in parts], places)
    expected[places] = values
    np.testing.assert_array_equal(whole, expected)


def test_each_row_needs_a_place() -> None:
    with pytest.raises(ValueError, match="a place for each row"):
        scatter(np.zeros(2, np.int64), [np.zeros(3, np.int64)], [None], np.zeros(3, np.uint32))
    with pytest.raises(IndexError, match="a code without a value"):
        scatter(
            np.zeros(1, np.int64),
            [np.zeros(3)[:0].astype(int)],
            [np.zeros(1, np.int32)],
            np.zeros(1, np.uint32),
        )


@given(st.lists(st.one_of(st.integers(-2, 2), st.integers(ABSENT, -ABSENT - 1))))
def test_numbers_as_codes(values: list[int]) -> None:
    codes, numbers = coded_numbers(np.array(values, np.int64))
    assert [int(numbers[code]) for code in codes] == values
    assert (
        numbers.tolist()
        == list(dict.fromkeys(values))
        == distinct_numbers(np.array(values, np.int64)).tolist()
    )


def test_distinct_numbers_of_one_value_throughout() -> None:
    assert distinct_numbers(np.broadcast_to(np.int16(7), 5)).tolist() == [7]


@pytest.mark.parametrize(
    ("start", "end", "fit"),
    [
        ([], [], True),
        ([EARLIEST_NS, 5], [EARLIEST_NS + 1, 3], True),
        ([EARLIEST_NS - 1], [0], False),
        ([0], [LATEST_NS + 1], False),
        ([ABSENT], [ABSENT], False),
        ([0], [LONGEST_NS], True),
        ([0], [LONGEST_NS + 1], False),
        ([0] * 300, [LONGEST_NS] * 300, False),
    ],
)
def test_times_that_fit(start: list[int], end: list[int], fit: bool) -> None:
    assert times_fit(np.array(start, np.int64), np.array(end, np.int64), *LIMITS) == fit
