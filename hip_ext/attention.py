"""AITER's attention functions with autograd: plain torch forward, this project's backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import pad

from hip_ext._library import ON_GPU
from hip_ext._refusals import refuse_unsupported, refuse_window
from hip_ext.backward import Workspace, WorkspaceName, mha_bwd, mha_varlen_bwd
from hip_ext.forward import Borders, batch_forward, varlen_forward
from hip_ext.streams import Stream, current_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


@dataclass(frozen=True, slots=True)
class _Options:
    scale: float
    causal: bool
    deterministic: bool
    workspace: Workspace
    stream: Stream | None  # None: the one that is current in the backward, as torch chooses it


class _Attention(torch.autograd.Function):
    """Sequences of one length without borders, else sequences behind each other."""

    @staticmethod
    def forward(  # noqa: PLR0917 (torch calls it)
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, borders: Borders | None, options: _Options
    ) -> tuple[Tensor, Tensor]:
        if borders is None:
            out, lse = batch_forward(q, k, v, scale=options.scale, causal=options.causal)
        else:
            out, lse = varlen_forward(q, k, v, borders, scale=options.scale, causal=options.causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.mark_non_differentiable(lse)
        ctx.borders, ctx.options = borders, options
        return out, lse

    @staticmethod
    def backward(ctx: Any, dout: Tensor, _dlse: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        options: _Options = ctx.options
        saved = (_last_contiguous(dout), q, k, v, out, lse)
        if ctx.borders is None:
            dq, dk, dv, _ = mha_bwd(
                *saved,
                *(0.0, options.scale, options.causal, -1, -1, options.deterministic),
                workspace=options.workspace,
                stream=options.stream,
            )
        else:
            dq, dk, dv = _varlen_backward(saved, ctx.borders, options)
        if options.stream is not None:
            # torch's CPU ops use the gradients at once and know no stream.
            options.stream.synchronize()
        return dq, dk, dv, None, None


def _varlen_backward(
    saved: tuple[Tensor, ...], borders: Borders, options: _Options
) -> tuple[Tensor, Tensor, Tensor]:
    dout, q, k, v, out, lse = saved
    dq, dk, dv, _ = mha_varlen_bwd(
        *(dout, q, k, v, out, lse, borders.cu_seqlens_q, borders.cu_seqlens_k),
        *(borders.max_seqlen_q, borders.max_seqlen_k, 0.0, options.scale),
        # Nothing else writes padding rows, and their gradient is zero.
        zero_tensors=borders.padded,
        is_causal=options.causal,
        window_size_left=-1,
        window_size_right=-1,
        deterministic=options.deterministic,
        cu_seqlens_q_padded=borders.cu_seqlens_q_padded,
        cu_seqlens_k_padded=borders.cu_seqlens_k_padded,
        workspace=options.workspace,
        stream=options.stream,
    )
    return dq, dk, dv


def _last_contiguous(tensor: Tensor) -> Tensor:
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _pad_head(tensor: Tensor) -> Tensor:
    """Zeros up to a head size that the kernels take; they change neither scores nor gradients."""
    missing = -tensor.shape[-1] % 8
    return pad(tensor, (0, missing)) if missing else _last_contiguous(tensor)


def _backward_stream() -> Stream | None:
    return None if ON_GPU else current_stream()


def _check(q: Tensor, k: Tensor, v: Tensor, dim: int) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != dim:
            raise ValueError(f"{name}: shape {list(tensor.shape)}, expected {dim} dimensions")
        if tensor.dtype not in (torch.float16, torch.bfloat16):
            raise ValueError(f"{name}: dtype {tensor.dtype}, expected torch.float16 or torch.bfloat16")
        if tensor.shape[-1] > 256:
            raise ValueError(f"{name}: head size {tensor.shape[-1]}, expected at most 256")


def _attention(
    q: Tensor, k: Tensor, v: Tensor, borders: Borders | None, options: _Options
) -> tuple[Tensor, Tensor]:
    apply: Callable[..., tuple[Tensor, Tensor]] = _Attention.apply
    out, lse = apply(_pad_head(q), _pad_head(k), _pad_head(v), borders, options)
    return out[..., : v.shape[-1]], lse


def flash_attn_func(  # noqa: PLR0917 (AITER's order)
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, ...] = (-1, -1, 0),
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = True,
    return_lse: bool = False,
    return_attn_probs: bool = False,
    how_v3_bf16_cvt: int = 1,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_kv: Tensor | None = None,
    sink_ptr: Tensor | None = None,
    *,
    workspace: Workspace | WorkspaceName = Workspace.ASYNC,
) -> Tensor | tuple[Tensor, Tensor]:
    """out, or (out, lse), of attention over [batch, seqlen, heads, head size] tensors.

    cu_seqlens_q and cu_seqlens_kv say that rows behind a sequence's length are padding. On the host
    target the backward runs on the stream that is current now and waits for it, since torch's CPU ops
    come next; on a GPU it waits for nothing and runs on the stream that torch's autograd chooses.
    """
    refuse_unsupported(
        "flash_attn_func",
        dropout_p=dropout_p,
        bias=bias,
        alibi_slopes=alibi_slopes,
        return_attn_probs=return_attn_probs,
        how_v3_bf16_cvt=how_v3_bf16_cvt,
        sink_ptr=sink_ptr,
    )
    _check(q, k, v, 4)
    left, right = window_size[:2]
    refuse_window("flash_attn_func", left, right, k.shape[1], causal=causal)
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    options = _Options(scale, causal, deterministic, Workspace(workspace), _backward_stream())
    if cu_seqlens_q is None and cu_seqlens_kv is None:
        out, lse = _attention(q, k, v, None, options)
    else:
        out, lse = _padded_batch((q, k, v), cu_seqlens_q, cu_seqlens_kv, options)
    return (out, lse) if return_lse else out


def _padded_batch(
    tensors: tuple[Tensor, Tensor, Tensor],
    cu_seqlens_q: Tensor | None,
    cu_seqlens_k: Tensor | None,
    options: _Options,
) -> tuple[Tensor, Tensor]:
    """A batch whose sequences have lengths of their own: sequences behind each other, with padding."""
    q, k, v = tensors
    batch, rows_q, heads_q, _ = q.shape
    rows_k = k.shape[1]
    starts = torch.arange(batch + 1, dtype=torch.int32, device=q.device)
    borders = Borders(
        starts * rows_q if cu_seqlens_q is None else cu_seqlens_q,
        starts * rows_k if cu_seqlens_k is None else cu_seqlens_k,
        rows_q,
        rows_k,
        None if cu_seqlens_q is None else starts * rows_q,
        None if cu_seqlens_k is None else starts * rows_k,
    )
    out, lse = _attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), borders, options)
    return out.view(batch, rows_q, *out.shape[1:]), lse.view(heads_q, batch, rows_q).transpose(0, 1)


def flash_attn_varlen_func(  # noqa: PLR0917 (AITER's order)
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    min_seqlen_q: int = 0,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    logits_soft_cap: float = 0.0,
    causal: bool = False,
    window_size: tuple[int, ...] = (-1, -1, 0),
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_lse: bool = False,
    return_attn_probs: bool = False,
    how_v3_bf16_cvt: int = 1,
    block_table: Tensor | None = None,
    out: Tensor | None = None,
    cu_seqlens_q_padded: Tensor | None = None,
    cu_seqlens_k_padded: Tensor | None = None,
    sink_ptr: Tensor | None = None,
    *,
    workspace: Workspace | WorkspaceName = Workspace.ASYNC,
) -> Tensor | tuple[Tensor, Tensor]:
    """out, or (out, lse), of attention over sequences behind each other: [total, heads, head size].

    Padding rows of out and of the gradients are zero. On the host target the backward runs on the stream
    that is current now and waits for it, since torch's CPU ops come next; on a GPU it waits for nothing
    and runs on the stream that torch's autograd chooses.
    """
    refuse_unsupported(
        "flash_attn_varlen_func",
        min_seqlen_q=min_seqlen_q,
        dropout_p=dropout_p,
        logits_soft_cap=logits_soft_cap,
        bias=bias,
        alibi_slopes=alibi_slopes,
        return_attn_probs=return_attn_probs,
        how_v3_bf16_cvt=how_v3_bf16_cvt,
        block_table=block_table,
        out=out,
        sink_ptr=sink_ptr,
    )
    _check(q, k, v, 3)
    left, right = window_size[:2]
    refuse_window("flash_attn_varlen_func", left, right, max_seqlen_k, causal=causal)
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    options = _Options(scale, causal, deterministic, Workspace(workspace), _backward_stream())
    borders = Borders(
        cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, cu_seqlens_q_padded, cu_seqlens_k_padded
    )
    result, lse = _attention(q, k, v, borders, options)
    return (result, lse) if return_lse else result
