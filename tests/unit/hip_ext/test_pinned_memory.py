"""Where the async mode's pinned blocks come from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import hip_ext
from hip_ext import Workspace
from hip_ext.tests.comparison import identical
from hip_ext.tests.problems import Shape, varlen_problem


@pytest.fixture(autouse=True)
def _pool_again() -> Iterator[None]:
    yield
    hip_ext.set_pinned_memory("pool")


@pytest.mark.parametrize("kind", ["bare", "torch"] if hip_ext.ON_GPU else ["bare"])
def test_results_are_the_same_with_every_kind(kind: str) -> None:
    torch.manual_seed(0)
    problem = varlen_problem(Shape(2, 1, 32, 32, torch.bfloat16, causal=True), [20, 7], [30, 140])
    expected = problem.solve(Workspace.ASYNC, deterministic=True)
    hip_ext.set_pinned_memory(kind)
    for _ in range(3):
        assert identical(problem.solve(Workspace.ASYNC, deterministic=True), expected)


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="kind: 'fast', expected 'pool', 'bare' or 'torch'"):
        hip_ext.set_pinned_memory("fast")


@pytest.mark.skipif(hip_ext.ON_GPU, reason="a GPU's torch has pinned memory")
def test_the_host_target_has_no_pinned_memory_of_torch() -> None:
    with pytest.raises(ValueError, match="'torch': its pinned memory is a GPU's"):
        hip_ext.set_pinned_memory("torch")
