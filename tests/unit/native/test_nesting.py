from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import _native

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1), st.integers(0, 20), st.integers(0, 9)),
    max_size=40,
)


def depth_of(table: list[tuple[int, int, int, int, int]], kinds: int) -> list[int]:
    kind, process, thread, start, length = (np.array(c, np.int64) for c in zip(*table, strict=True))
    columns = kind.astype(np.uint8), process.astype(np.int32), thread, start, start + length
    return _native.nesting_depth(*columns, kinds=kinds).tolist()


def slow_depth(table: list[tuple[int, int, int, int, int]], kinds: int) -> list[int]:
    depths = []
    open_ends: dict[tuple[int, int, int], list[int]] = {}
    for kind, process, thread, start, length in table:
        if not kinds >> kind & 1:
            depths.append(0)
            continue
        stack = open_ends.setdefault((kind, process, thread), [])
        while stack and (stack[-1] <= start or stack[-1] < start + length):
            stack.pop()
        depths.append(len(stack))
        stack.append(start + length)
    return depths


@given(rows.filter(bool))
def test_depths_are_those_of_a_stack_for_each_thread_and_kind(table: list[tuple[int, ...]]) -> None:
    ordered = sorted(table, key=lambda row: (row[3], -row[4]))
    assert depth_of(ordered, 0b1011) == slow_depth(ordered, 0b1011)


def test_depths_may_be_large() -> None:
    table = [(0, 0, 0, n, 200_000 - 2 * n) for n in range(40_000)]
    assert depth_of(table, 1)[-1] == 39_999


def test_columns_of_different_lengths_are_refused() -> None:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="differ in length"):
        _native.nesting_depth(np.zeros(1, np.uint8), np.zeros(1, np.int32), one, one, two, kinds=1)
