"""Which ops are one collective, where there are many names."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator

from overlap_lab.columns import Ints
from overlap_lab.metrics.collective_groups import Members, groups_of

NAMES = 12


def members(chance: Generator, size: int) -> Members:
    name, stream, start, length = (chance.integers(0, most, size) for most in (NAMES, 5, 400, 30))
    return Members(name, stream // 2, stream, start, start + length)


def same_groups(one: Ints, other: Ints) -> bool:
    """Whether the same ops are together, whatever the numbers of their groups."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


@pytest.mark.parametrize("seed", range(40))
def test_ops_of_one_name_are_grouped_as_if_there_were_no_others(seed: int) -> None:
    ops = members(np.random.default_rng(seed), 150)
    group = groups_of(ops)
    assert (group >= 0).any()
    for name in range(NAMES):
        mine = np.flatnonzero(ops.name == name)
        alone = groups_of(ops.where(mine))
        assert np.array_equal(alone >= 0, group[mine] >= 0)
        assert same_groups(alone, group[mine])
