"""Searches in sets of ops agree with a plain loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.intervals import last_below

VALUES = st.lists(st.integers(0, 9), max_size=40)


@given(VALUES, st.integers(0, 40), st.integers(0, 40), st.integers(0, 10))
def test_last_below_finds_the_last_smaller_value(values: list[int], low: int, high: int, limit: int) -> None:
    low, high = min(low, len(values)), min(high, len(values))
    expected = max((at for at in range(low, high) if values[at] < limit), default=low - 1)
    asked = (np.array([low]), np.array([high]), np.array([limit]))
    assert last_below(np.array(values, np.int64), *asked).tolist() == [expected]
