"""Gradients against the float64 reference, in every workspace mode, with memory poisoned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

import hip_ext
from hip_ext import Workspace
from hip_ext.tests.comparison import differences, identical, poisoned_memory
from hip_ext.tests.mha import OUT_FACTOR
from hip_ext.tests.problems import Problem, Shape, batch_problem, in_layout, varlen_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

BF16, FP16 = torch.bfloat16, torch.float16


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """There is a test process for every core; more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def assert_right(problem: Problem) -> None:
    """In both accumulations; the deterministic one also bit for bit the same in all modes."""
    exact, same_dtype = problem.reference(torch.float64), problem.reference(problem.shape.dtype)
    for deterministic in (False, True):
        with poisoned_memory():
            results = {mode: problem.solve(mode, deterministic=deterministic) for mode in Workspace}
        for mode, result in results.items():
            found = differences(result, exact, same_dtype, out_factor=OUT_FACTOR)
            wrong = [str(line) for line in found if not line.passed]
            assert not wrong, (mode, deterministic, wrong)
        if deterministic:
            assert identical(results[Workspace.SYNC], results[Workspace.ASYNC])
            assert identical(results[Workspace.SYNC], results[Workspace.DEVICE])


BATCHES = [
    # batch, rows_q, rows_k, heads, gqa, d, d_v, dtype, causal
    (1, 1, 1, 1, 1, 32, 32, BF16, False),
    (4, 1, 128, 8, 8, 64, 64, FP16, True),
    (4, 128, 1, 2, 1, 64, 64, BF16, True),
    (1, 127, 129, 2, 1, 32, 32, FP16, False),
    (4, 113, 203, 8, 8, 40, 40, BF16, True),
    (1, 128, 217, 8, 8, 64, 64, BF16, False),
    (4, 113, 211, 2, 1, 96, 96, FP16, True),
    (1, 108, 256, 8, 8, 111, 111, BF16, True),
    (1, 256, 512, 2, 1, 128, 128, BF16, False),
    (4, 64, 300, 8, 8, 128, 128, FP16, False),
    (1, 512, 256, 2, 1, 128, 128, BF16, True),
    (1, 200, 160, 8, 8, 160, 160, BF16, True),
    (4, 100, 130, 2, 1, 192, 128, BF16, True),
    (1, 128, 217, 8, 8, 192, 128, FP16, False),
    (1, 100, 200, 2, 1, 64, 128, BF16, False),
    (1, 130, 140, 2, 1, 224, 224, FP16, True),
    (4, 65, 129, 8, 8, 256, 256, BF16, True),
    (1, 256, 256, 2, 1, 256, 256, FP16, False),
    (1, 1023, 1024, 1, 1, 64, 64, BF16, True),
    (1, 2048, 2048, 1, 1, 64, 64, BF16, True),
]


@pytest.mark.parametrize("case", BATCHES, ids=str)
def test_batch_gradients_are_right_in_every_mode(case: tuple) -> None:
    batch, rows_q, rows_k, heads, gqa_ratio, d, d_v, dtype, causal = case
    torch.manual_seed(0)
    shape = Shape(heads, gqa_ratio, d, d_v, dtype, causal)
    assert_right(batch_problem(shape, batch, rows_q, rows_k))


@pytest.mark.parametrize("layout", ["BHSD", "SBHD", "KVPACKED", "QKVPACKED"])
def test_strided_inputs_are_read_where_they_lie(layout: str) -> None:
    torch.manual_seed(0)
    shape = Shape(4, 1, 64, 64, BF16, causal=True)
    assert_right(batch_problem(shape, 2, 130, 130, layout))


GROUPS = [
    # lengths_q, lengths_k, heads, gqa, d, d_v, dtype, causal
    ([5], [7], 1, 1, 32, 32, BF16, False),
    ([64, 128, 128], [100, 300, 600], 2, 1, 64, 64, BF16, False),
    ([64, 128, 128], [100, 300, 600], 8, 8, 64, 64, FP16, True),
    ([300, 1, 77, 130], [1, 300, 200, 257], 8, 8, 40, 40, BF16, True),
    ([300, 1, 77, 130], [1, 300, 200, 257], 2, 1, 111, 111, FP16, False),
    ([100, 80], [200, 129], 8, 8, 192, 128, BF16, True),
    ([100, 80], [200, 129], 2, 1, 256, 256, BF16, True),
    ([1024, 2048], [2048, 1], 1, 1, 32, 32, BF16, False),
]


@pytest.mark.parametrize("case", GROUPS, ids=str)
def test_varlen_gradients_are_right_in_every_mode(case: tuple) -> None:
    lengths_q, lengths_k, heads, gqa_ratio, d, d_v, dtype, causal = case
    torch.manual_seed(0)
    assert_right(varlen_problem(Shape(heads, gqa_ratio, d, d_v, dtype, causal), lengths_q, lengths_k))


PADDED_Q, PADDED_K = [130, 70, 200, 64], [300, 140, 129, 256]
SHORT_Q, SHORT_K = [100, 70, 110, 1], [120, 100, 128, 200]
SCENARIOS = {
    "mixed": (SHORT_Q, SHORT_K),
    "q_only": (SHORT_Q, PADDED_K),
    "k_only": (PADDED_Q, SHORT_K),
    "no_padding": (PADDED_Q, PADDED_K),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("gqa_ratio", "dtype"), [(1, BF16), (8, FP16)], ids=["mha-bf16", "mqa-fp16"])
def test_group_mode_with_padding(scenario: str, causal: bool, gqa_ratio: int, dtype: torch.dtype) -> None:
    """Padding moves 300 and 140 keys over a tile's border: 3 and 2 splits instead of 1."""
    torch.manual_seed(0)
    lengths_q, lengths_k = SCENARIOS[scenario]
    shape = Shape(8, gqa_ratio, 64, 64, dtype, causal)
    assert_right(varlen_problem(shape, lengths_q, lengths_k, PADDED_Q, PADDED_K))


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("gqa_ratio", [1, 4])
@pytest.mark.parametrize(
    ("lengths_q", "lengths_k"),
    [
        ([0, 5, 0], [3, 0, 200]),
        ([7, 0], [0, 0]),
        ([0, 0], [9, 130]),
        ([0, 0, 6], [0, 0, 6]),
        ([0], [0]),
    ],
)
def test_sequences_without_rows(
    lengths_q: list[int], lengths_k: list[int], gqa_ratio: int, causal: bool
) -> None:
    torch.manual_seed(0)
    assert_right(varlen_problem(Shape(4, gqa_ratio, 32, 32, BF16, causal), lengths_q, lengths_k))


@pytest.mark.parametrize(("rows_q", "rows_k"), [(0, 5), (5, 0)])
def test_a_batch_without_rows(rows_q: int, rows_k: int) -> None:
    torch.manual_seed(0)
    assert_right(batch_problem(Shape(4, 2, 32, 32, BF16, causal=False), 2, rows_q, rows_k))


def test_a_batch_with_lengths_is_a_batch_with_padding() -> None:
    """The seed's padding test: half of the sequences end early."""
    torch.manual_seed(0)
    shape = Shape(6, 3, 64, 64, BF16, causal=True)
    lengths_q, lengths_k = [56, 56, 113, 113], [101, 101, 203, 203]
    padded = varlen_problem(shape, lengths_q, lengths_k, [113] * 4, [203] * 4)
    exact = padded.reference(torch.float64)
    q, k, v, dout = padded.tensors
    leaves = [t.unflatten(0, (4, -1)).detach().requires_grad_() for t in (q, k, v)]
    assert padded.borders is not None
    out, lse = hip_ext.flash_attn_func(
        *leaves,
        causal=True,
        return_lse=True,
        cu_seqlens_q=padded.borders.cu_seqlens_q,
        cu_seqlens_kv=padded.borders.cu_seqlens_k,
    )
    gradients = torch.autograd.grad(out, leaves, dout.unflatten(0, (4, -1)))
    assert out.shape == (4, 113, 6, 64)
    assert lse.shape == (4, 6, 113)
    for given, expected in zip((out, *gradients), (exact.out, exact.dq, exact.dk, exact.dv), strict=True):
        assert (given.flatten(0, 1).double() - expected).abs().max() <= 0.05


def test_padding_rows_have_zero_gradients_under_autograd() -> None:
    torch.manual_seed(0)
    problem = varlen_problem(Shape(4, 4, 32, 32, BF16, causal=False), [3], [4], [5], [9])
    with poisoned_memory():
        result = problem.solve(Workspace.ASYNC, deterministic=True)
    assert result.dq[3:].count_nonzero() == 0
    assert result.dk[4:].count_nonzero() == 0
    assert result.dv[4:].count_nonzero() == 0


def test_lse_is_the_log_of_the_softmax_sum() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 6, 2, 16, dtype=BF16) for _ in range(3))
    _, lse = hip_ext.flash_attn_func(q, k, v, softmax_scale=0.5, return_lse=True)
    scores = torch.einsum("bqhd,bkhd->bhqk", q.double(), k.double()) * 0.5
    torch.testing.assert_close(lse.double(), scores.logsumexp(-1), rtol=0, atol=1e-4)


def test_a_layout_changes_no_value() -> None:
    torch.manual_seed(0)
    tensors = batch_problem(Shape(2, 1, 8, 8, BF16, causal=False), 2, 3, 3).tensors[:3]
    for layout in ("BHSD", "SBHD", "KVPACKED", "QKVPACKED"):
        for before, after in zip(tensors, in_layout(*tensors, layout), strict=True):
            assert torch.equal(before, after)
