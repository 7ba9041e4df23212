"""Rows found by key, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.loaders.alike import Lookup
from overlap_lab.schema import ABSENT

LARGEST = -ABSENT - 1
KEYS = st.one_of(st.integers(-3, 9), st.sampled_from([ABSENT, ABSENT + 1, LARGEST]))


@given(st.lists(KEYS), st.lists(KEYS, min_size=1))
def test_the_last_row_of_a_key_is_found(keys: list[int], asked: list[int]) -> None:
    rows = {key: row for row, key in enumerate(keys) if key != ABSENT}
    found = Lookup(np.array(keys, np.int64)).rows(np.array(asked, np.int64))
    assert found.tolist() == [rows.get(key, -1) for key in asked]


@pytest.mark.parametrize("first", [-2, 1, ABSENT, ABSENT + 1, LARGEST - 2])
def test_keys_that_follow_each_other(first: int) -> None:
    keys = [first, first + 1, first + 2]
    rows = {key: row for row, key in enumerate(keys) if key != ABSENT}
    asked = [*keys, 0, ABSENT, LARGEST]
    found = Lookup(np.array(keys, np.int64)).rows(np.array(asked, np.int64))
    assert found.tolist() == [rows.get(key, -1) for key in asked]
