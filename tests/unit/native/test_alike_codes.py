"""Rows alike in several columns of codes, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.native import alike_codes


@given(st.data(), st.integers(0, 30), st.lists(st.sampled_from([1, 3, 40, 5000]), min_size=1, max_size=3))
def test_places_are_in_the_order_in_which_rows_come(
    data: st.DataObject, rows: int, counts: list[int]
) -> None:
    columns = [data.draw(st.lists(st.integers(-1, n - 1), min_size=rows, max_size=rows)) for n in counts]
    first, place = alike_codes([np.array(column, np.int32) for column in columns], counts)
    distinct: dict[tuple[int, ...], int] = {}
    for row, combination in enumerate(zip(*columns, strict=True)):
        distinct.setdefault(combination, row)
    assert first.tolist() == list(distinct.values())
    known = list(distinct)
    assert [known[at] for at in place] == list(zip(*columns, strict=True))


def test_columns_must_fit_together() -> None:
    codes = np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="differ in length"):
        alike_codes([codes, codes[:1]], [1, 1])
    with pytest.raises(ValueError, match="too many codes"):
        alike_codes([codes] * 3, [1 << 22] * 3)
    with pytest.raises(ValueError, match="a count per column"):
        alike_codes([], [])
