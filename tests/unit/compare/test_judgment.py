"""The interval of a median at any number of observations."""

from __future__ import annotations

from math import comb

import pytest

from overlap_lab.compare.judgment import _skipped


@pytest.mark.parametrize("size", [6, 25, 1_100, 4_000])
def test_each_tail_holds_at_most_a_fortieth(size: int) -> None:
    skipped = _skipped(size)
    assert 40 * sum(comb(size, below) for below in range(skipped + 1)) <= 2**size
    assert 40 * sum(comb(size, below) for below in range(skipped + 2)) > 2**size


def test_very_many_observations_are_as_wide_as_the_exact_interval_or_one_wider() -> None:
    tail, ways, exact = 0, 1, 0
    for below in range(6_000):
        tail += ways
        if 40 * tail > 2**12_000:
            break
        exact = below
        ways = ways * (12_000 - below) // (below + 1)
    assert exact - 2 <= _skipped(12_000) <= exact
