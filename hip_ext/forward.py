"""Attention forward in plain torch. It serves the backward, so it is simple rather than fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Borders:
    """Where the sequences of [total, heads, head size] tensors lie, and how long they are.

    With padded borders these say where, and cu_seqlens_* how long; per axis.
    """

    cu_seqlens_q: Tensor
    cu_seqlens_k: Tensor
    max_seqlen_q: int
    max_seqlen_k: int
    cu_seqlens_q_padded: Tensor | None = None
    cu_seqlens_k_padded: Tensor | None = None

    @property
    def padded(self) -> bool:
        return self.cu_seqlens_q_padded is not None or self.cu_seqlens_k_padded is not None

    def rows(self) -> Iterator[tuple[slice, slice]]:
        """The query rows and key rows of each sequence, without padding."""
        yield from zip(
            _rows(self.cu_seqlens_q, self.cu_seqlens_q_padded),
            _rows(self.cu_seqlens_k, self.cu_seqlens_k_padded),
            strict=True,
        )


def _rows(cu_seqlens: Tensor, cu_seqlens_padded: Tensor | None) -> list[slice]:
    lengths = cu_seqlens.diff().tolist()
    starts = (cu_seqlens if cu_seqlens_padded is None else cu_seqlens_padded)[:-1].tolist()
    return [slice(start, start + length) for start, length in zip(starts, lengths, strict=True)]


def attend(q: Tensor, k: Tensor, v: Tensor, *, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """out [rows_q, heads_q, dv] and lse [heads_q, rows_q] of one sequence, computed in float32.

    The causal mask is bottom-right. A row without keys has out 0 and lse -inf.
    """
    rows_q, heads_q, columns = q.shape
    rows_k, heads_k, columns_v = v.shape
    # The query heads of one key head lie behind each other, so that one product serves the group.
    rows_of_group = rows_q * (heads_q // heads_k)
    queries = q.float().transpose(0, 1).reshape(heads_k, rows_of_group, columns)
    scores = (queries @ k.float().permute(1, 2, 0)).mul_(scale).view(heads_q, rows_q, rows_k)
    if causal:
        last_key = torch.arange(rows_q, device=q.device)[:, None] + (rows_k - rows_q)
        scores.masked_fill_(torch.arange(rows_k, device=q.device) > last_key, -torch.inf)
    lse = scores.logsumexp(dim=-1)
    probabilities = scores.sub_(lse.masked_fill(lse.isneginf(), 0.0)[..., None]).exp_()
    out = probabilities.view(heads_k, rows_of_group, rows_k) @ v.float().transpose(0, 1)
    return out.view(heads_q, rows_q, columns_v).transpose(0, 1).to(q.dtype), lse


def batch_forward(q: Tensor, k: Tensor, v: Tensor, *, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """out [batch, seqlen_q, heads_q, dv] and lse [batch, heads_q, seqlen_q]."""
    items = [attend(*item, scale=scale, causal=causal) for item in zip(q, k, v, strict=True)]
    return torch.stack([out for out, _ in items]), torch.stack([lse for _, lse in items])


def varlen_forward(
    q: Tensor, k: Tensor, v: Tensor, borders: Borders, *, scale: float, causal: bool
) -> tuple[Tensor, Tensor]:
    """out [total_q, heads_q, dv], 0 in padding, and lse [heads_q, total_q], -inf in padding."""
    total_q, heads_q, _ = q.shape
    out = q.new_zeros(total_q, heads_q, v.shape[-1])
    lse = torch.full((heads_q, total_q), -torch.inf, device=q.device)
    for rows_q, rows_k in borders.rows():
        out[rows_q], lse[:, rows_q] = attend(q[rows_q], k[rows_k], v[rows_k], scale=scale, causal=causal)
    return out, lse
