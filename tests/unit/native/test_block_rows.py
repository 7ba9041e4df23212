"""Rows put together from blocks, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.native import block_order, coded_numbers, distinct_numbers, scatter, times_fit
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


TIMES = st.lists(st.tuples(st.integers(-3, 9), st.integers(0, 2)), max_size=12)


def check_block_order(blocks: list[list[tuple[int, int]]]) -> None:
    starts = [np.array([start for start, _ in block], np.int64) for block in blocks]
    ends = [np.array([end for _, end in block], np.int64) for block in blocks]
    start, end = np.concatenate(starts), np.concatenate(ends)
    expected = np.lexsort((-end, start))
    found = block_order(starts, ends)
    assert found is not None
    order, place, start_ns, end_ns = found
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(place[expected], np.arange(expected.size))
    np.testing.assert_array_equal(start_ns, start[expected])
    np.testing.assert_array_equal(end_ns, end[expected])


@given(st.lists(TIMES, min_size=1, max_size=5).filter(any))
def test_blocks_are_merged_by_time_and_rows_that_start_together_by_length(
    blocks: list[list[tuple[int, int]]],
) -> None:
    check_block_order(blocks)


@pytest.mark.parametrize("tie", [1, 3, 70_000, 400_000])
@pytest.mark.parametrize("shuffled", [False, True])
def test_blocks_are_merged_in_slices_of_time(tie: int, *, shuffled: bool) -> None:
    random = np.random.default_rng(tie)
    blocks = []
    for size in (250_000, 1, 100_000, 0, 50_000):
        start = np.sort(random.integers(0, 400_000, size)) // tie * 1000 - (1 << 40)
        start = random.permutation(start) if shuffled else start
        blocks.append(list(zip(start.tolist(), random.integers(0, 9, size).tolist(), strict=True)))
    check_block_order(blocks)


@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_over_hours_are_merged_in_smaller_blocks(*, shuffled: bool) -> None:
    random = np.random.default_rng(7)
    start = (
        np.sort(random.integers(0, 90_000, 600_000)) * 777_000_000
    )  # 19 hours, with rows that start together
    start = random.permutation(start) if shuffled else start
    ends = random.integers(0, 9, start.size)
    blocks = [list(zip(start[at::2].tolist(), ends[at::2].tolist(), strict=True)) for at in (0, 1)]
    check_block_order(blocks)


def test_starts_of_any_distance_are_ordered_or_left_to_another() -> None:
    far = np.array([LATEST_NS, -(1 << 63), 5], np.int64)
    assert block_order([far], [far]) is None
    assert block_order([], []) is None
    near = np.array([(1 << 62) - 1, 0], np.int64)
    found = block_order([near[:1], near[1:]], [near[:1], near[1:]])
    assert found is not None
    assert found[0].tolist() == [1, 0]
    assert found[2].tolist() == [0, (1 << 62) - 1]


def test_an_end_for_each_start_is_wanted() -> None:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="differ in length"):
        block_order([one], [two])
    with pytest.raises(ValueError, match="ends per start"):
        block_order([one], [])
