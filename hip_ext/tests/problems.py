"""Inputs of a backward, its result by this project, and by the references."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

import hip_ext
from hip_ext.forward import Borders
from hip_ext.tests import reference
from hip_ext.tests.reference import Result

if TYPE_CHECKING:
    from torch import Tensor

    from hip_ext import Workspace

LAYOUTS = ("BSHD", "BHSD", "SBHD", "QKVPACKED", "KVPACKED")


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of q, k and v apart from the sequences."""

    heads: int
    gqa_ratio: int
    d: int
    d_v: int
    dtype: torch.dtype
    causal: bool

    @property
    def heads_k(self) -> int:
        return self.heads // self.gqa_ratio

    def __str__(self) -> str:
        dtype = "bf16" if self.dtype is torch.bfloat16 else "fp16"
        mask = "causal" if self.causal else "full"
        return f"{dtype} h={self.heads}/{self.heads_k} d={self.d},{self.d_v} {mask}"


@dataclass(frozen=True, slots=True)
class Problem:
    """q, k, v and dout, [batch, rows, heads, d] without borders, else [total, heads, d]."""

    shape: Shape
    tensors: tuple[Tensor, Tensor, Tensor, Tensor]
    borders: Borders | None = None

    def reference(self, dtype: torch.dtype) -> Result:
        causal = self.shape.causal
        if self.borders is None:
            return reference.batch(self.tensors, causal=causal, dtype=dtype)
        return reference.sequences(self.tensors, self.borders.rows(), causal=causal, dtype=dtype)

    def solve(self, workspace: Workspace, *, deterministic: bool) -> Result:
        """The result of hip_ext, by autograd."""
        q, k, v = (tensor.detach().requires_grad_() for tensor in self.tensors[:3])
        if self.borders is None:
            out = hip_ext.flash_attn_func(
                q, k, v, causal=self.shape.causal, deterministic=deterministic, workspace=workspace
            )
        else:
            b = self.borders
            out = hip_ext.flash_attn_varlen_func(
                *(q, k, v, b.cu_seqlens_q, b.cu_seqlens_k, b.max_seqlen_q, b.max_seqlen_k),
                causal=self.shape.causal,
                deterministic=deterministic,
                cu_seqlens_q_padded=b.cu_seqlens_q_padded,
                cu_seqlens_k_padded=b.cu_seqlens_k_padded,
                workspace=workspace,
            )
        assert isinstance(out, torch.Tensor)
        return Result(out.detach(), *torch.autograd.grad(out, (q, k, v), self.tensors[3]))


def batch_problem(shape: Shape, batch: int, rows_q: int, rows_k: int, layout: str = "BSHD") -> Problem:
    def random(rows: int, heads: int, columns: int) -> Tensor:
        return torch.randn(batch, rows, heads, columns, dtype=shape.dtype)

    q = random(rows_q, shape.heads, shape.d)
    k = random(rows_k, shape.heads_k, shape.d)
    v = random(rows_k, shape.heads_k, shape.d_v)
    dout = random(rows_q, shape.heads, shape.d_v)
    return Problem(shape, (*in_layout(q, k, v, layout), dout))


def in_layout(q: Tensor, k: Tensor, v: Tensor, layout: str) -> tuple[Tensor, Tensor, Tensor]:
    """The same values, lying in memory as the layout says; the shapes stay [batch, rows, heads, d]."""
    if layout == "BHSD":
        q, k, v = (t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v))
    elif layout == "SBHD":
        q, k, v = (t.transpose(0, 1).contiguous().transpose(0, 1) for t in (q, k, v))
    elif layout == "QKVPACKED":
        q, k, v = torch.stack((q, k, v), dim=-3).unbind(dim=-3)
    elif layout == "KVPACKED":
        k, v = torch.stack((k, v), dim=-3).unbind(dim=-3)
    return q, k, v


def varlen_problem(
    shape: Shape,
    lengths_q: list[int],
    lengths_k: list[int],
    padded_q: list[int] | None = None,
    padded_k: list[int] | None = None,
) -> Problem:
    """Random sequences of these lengths; with padded lengths, that far apart and zero in between."""
    borders = Borders(
        _borders(lengths_q),
        _borders(lengths_k),
        max(lengths_q),
        max(lengths_k),
        None if padded_q is None else _borders(padded_q),
        None if padded_k is None else _borders(padded_k),
    )
    total_q, total_k = sum(padded_q or lengths_q), sum(padded_k or lengths_k)
    q = torch.randn(total_q, shape.heads, shape.d, dtype=shape.dtype)
    k = torch.randn(total_k, shape.heads_k, shape.d, dtype=shape.dtype)
    v = torch.randn(total_k, shape.heads_k, shape.d_v, dtype=shape.dtype)
    dout = torch.randn(total_q, shape.heads, shape.d_v, dtype=shape.dtype)
    used_q, used_k = torch.zeros(total_q, 1, 1), torch.zeros(total_k, 1, 1)
    for rows_q, rows_k in borders.rows():
        used_q[rows_q] = used_k[rows_k] = 1.0
    q, dout = (tensor * used_q.to(shape.dtype) for tensor in (q, dout))
    k, v = (tensor * used_k.to(shape.dtype) for tensor in (k, v))
    return Problem(shape, (q, k, v, dout), borders)


def packed(problem: Problem) -> Problem:
    """The same with k and v in one tensor."""
    q, k, v, dout = problem.tensors
    return replace(problem, tensors=(*in_layout(q, k, v, "KVPACKED"), dout))


def _borders(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
