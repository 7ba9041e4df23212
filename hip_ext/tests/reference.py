"""Attention and its gradients by torch's autograd: in float64, and in the tensors' own dtype.

The first says what is right, the second how large an error the dtype alone makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

Rows = tuple[slice, slice]


@dataclass(frozen=True, slots=True)
class Result:
    out: Tensor
    dq: Tensor
    dk: Tensor
    dv: Tensor


def _product(left: Tensor, right: Tensor) -> Tensor:
    # torch's fp16 product is 30 times slower on a CPU than this, which is how a GPU does it: sums in
    # float32, rounded once.
    if left.dtype is torch.float16:
        return torch.matmul(left.float(), right.float()).half()
    return torch.matmul(left, right)


def attention(q: Tensor, k: Tensor, v: Tensor, *, causal: bool) -> Tensor:
    """out of one sequence [rows, heads, head size], differentiable, in the dtype of its arguments."""
    group = q.shape[1] // k.shape[1]
    keys, values = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scaled = keys * q.shape[-1] ** -0.5
    scores = _product(q.transpose(0, 1), scaled.permute(1, 2, 0))
    if causal:
        allowed = torch.ones(q.shape[0], k.shape[0], dtype=torch.bool).tril(k.shape[0] - q.shape[0])
        # A row without keys comes out as 0: its weights are all the same, and then all removed.
        weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(dim=-1) * allowed
    else:
        weights = scores.softmax(dim=-1)
    return _product(weights, values.transpose(0, 1)).transpose(0, 1)


def sequences(
    tensors: tuple[Tensor, Tensor, Tensor, Tensor],
    rows: Iterable[Rows],
    *,
    causal: bool,
    dtype: torch.dtype,
) -> Result:
    """Result for q, k, v and dout of sequences behind each other; rows of no sequence are 0."""
    q, k, v, dout = (tensor.detach().to(dtype) for tensor in tensors)
    result = Result(torch.zeros_like(dout), *(torch.zeros_like(tensor) for tensor in (q, k, v)))
    for rows_q, rows_k in rows:
        leaves = [tensor.clone().requires_grad_() for tensor in (q[rows_q], k[rows_k], v[rows_k])]
        out = attention(*leaves, causal=causal)
        dq, dk, dv = torch.autograd.grad(out, leaves, dout[rows_q])
        result.out[rows_q] = out.detach()
        result.dq[rows_q], result.dk[rows_k], result.dv[rows_k] = dq, dk, dv
    return result


def batch(tensors: tuple[Tensor, Tensor, Tensor, Tensor], *, causal: bool, dtype: torch.dtype) -> Result:
    """Result for [batch, rows, heads, head size] tensors."""
    q, k, _, _ = tensors
    items, rows_q, rows_k = q.shape[0], q.shape[1], k.shape[1]
    rows = [(slice(i * rows_q, (i + 1) * rows_q), slice(i * rows_k, (i + 1) * rows_k)) for i in range(items)]
    q, k, v, dout = (tensor.flatten(0, 1) for tensor in tensors)
    flat = sequences((q, k, v, dout), rows, causal=causal, dtype=dtype)
    return Result(*(getattr(flat, name).unflatten(0, (items, -1)) for name in ("out", "dq", "dk", "dv")))
