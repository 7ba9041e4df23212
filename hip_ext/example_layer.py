"""One attention layer whose backward demos, examples and recordings run: group mode, bf16, causal."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import torch

from hip_ext.attention import flash_attn_varlen_func

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["backward_arguments"]


def backward_arguments(
    lengths: Sequence[int], *, heads: int, head_size: int, seed: int, device: str = "cpu"
) -> dict[str, Any]:
    """All arguments of `mha_varlen_bwd` but workspace and stream, after a forward over random sequences.

    The results are given too, so that calls in a loop allocate none.
    """
    generator = torch.Generator().manual_seed(seed)
    q, k, v, dout = (
        torch.randn(sum(lengths), heads, head_size, generator=generator).to(device, torch.bfloat16)
        for _ in range(4)
    )
    borders = torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)
    where = (borders, borders, max(lengths), max(lengths))
    out, lse = flash_attn_varlen_func(q, k, v, *where, causal=True, return_lse=True)[:2]
    return {
        "dout": dout,
        "q": q,
        "k": k,
        "v": v,
        "out": out,
        "softmax_lse": lse,
        "cu_seqlens_q": borders,
        "cu_seqlens_k": borders,
        "max_seqlen_q": max(lengths),
        "max_seqlen_k": max(lengths),
        "dropout_p": 0.0,
        "softmax_scale": head_size**-0.5,
        "zero_tensors": False,
        "is_causal": True,
        "window_size_left": -1,
        "window_size_right": -1,
        "deterministic": True,
        **{name: torch.empty_like(tensor) for name, tensor in (("dq", q), ("dk", k), ("dv", v))},
    }
