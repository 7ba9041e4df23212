"""The two backward ops, with AITER's arguments."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

import torch

from hip_ext import _library
from hip_ext._refusals import any_given, refuse_given, refuse_window
from hip_ext.streams import Stream, StreamKind, current_stream, use_stream

if TYPE_CHECKING:
    from torch import Generator, Tensor

Gradients = tuple["Tensor", "Tensor", "Tensor", "Tensor"]


class Workspace(StrEnum):
    """How the workspace of a backward is prepared."""

    SYNC = "sync"  # through the host, which waits for everything queued before
    ASYNC = "async"  # copied to the host, packed there and copied back, all in stream order
    DEVICE = "device"  # by a small kernel

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"workspace: {value!r}, expected 'sync', 'async' or 'device'")


WorkspaceName = Literal["sync", "async", "device"]

_SYNC: Final = _library.WORKSPACES["sync"]


_NOTHING: Final = nullcontext()


def _mode(workspace: Workspace | WorkspaceName) -> int:
    """What the op takes for it."""
    known = isinstance(workspace, str) and workspace in _library.WORKSPACES
    return _library.WORKSPACES[workspace if known else Workspace(workspace)]


def _handle(mode: int, stream: Stream | None) -> int | None:
    """The stream for the op; None on a GPU, where the op finds torch's current one, and faster."""
    if stream is None and _library.ON_GPU and mode != _SYNC:
        return None
    chosen = current_stream() if stream is None else stream
    if not isinstance(chosen, Stream):
        raise TypeError(f"stream: expected hip_ext.Stream or None, got {type(chosen).__name__}")
    if mode == _SYNC and chosen.kind is StreamKind.NON_BLOCKING:
        warnings.warn(
            "workspace='sync' copies on the null stream, which a non-blocking stream does not wait for, so "
            "that this call waits for the whole stream first; use 'async' or 'device'",
            RuntimeWarning,
            stacklevel=3,
        )
    return None if _library.ON_GPU else chosen.handle


def _on(stream: Stream | None) -> AbstractContextManager[object]:
    """What makes `stream` current for torch as well: a GPU's results have to be allocated for it."""
    return _NOTHING if stream is None or not _library.ON_GPU else use_stream(stream)


def mha_bwd(  # noqa: PLR0917 (AITER's order)
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    softmax_lse: Tensor,
    dropout_p: float,
    softmax_scale: float,
    is_causal: bool,
    window_size_left: int,
    window_size_right: int,
    deterministic: bool,
    dq: Tensor | None = None,
    dk: Tensor | None = None,
    dv: Tensor | None = None,
    dbias: Tensor | None = None,
    bias: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    rng_state: Tensor | None = None,
    gen: Generator | None = None,
    sink: Tensor | None = None,
    d_sink: Tensor | None = None,
    *,
    workspace: Workspace | WorkspaceName = Workspace.ASYNC,
    stream: Stream | None = None,
) -> Gradients:
    """dq, dk, dv and softmax_d of attention over sequences of one length, written in stream order.

    Shapes: q [batch, seqlen_q, heads_q, d], k [batch, seqlen_k, heads_k, d], v [..., heads_k, dv],
    out and dout [batch, seqlen_q, heads_q, dv], softmax_lse [batch, heads_q, seqlen_q] in float32.
    Synchronize the stream before the host reads the results. Only workspace="sync" blocks the host.
    """
    mode = _mode(workspace)
    if dropout_p != 0.0 or any_given((dbias, bias, alibi_slopes, rng_state, gen, sink, d_sink)):
        refuse_given("mha_bwd", dropout_p, (dbias, bias, alibi_slopes, rng_state, gen, sink, d_sink))
    if window_size_left >= 0 or window_size_right >= 0:
        keys = k.shape[1] if k.dim() == 4 else 0  # the op says what is wrong with the shape
        refuse_window("mha_bwd", window_size_left, window_size_right, keys, causal=is_causal)
    handle = _handle(mode, stream)
    with _on(stream):
        dq = torch.empty_like(q) if dq is None else dq
        dk = torch.empty_like(k) if dk is None else dk
        dv = torch.empty_like(v) if dv is None else dv
        softmax_d = _library.mha_bwd(
            *(dout, q, k, v, out, softmax_lse, softmax_scale, is_causal, deterministic),
            *(dq, dk, dv, mode, handle),
        )
    return dq, dk, dv, softmax_d


def mha_varlen_bwd(  # noqa: PLR0917 (AITER's order)
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    softmax_lse: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float,
    softmax_scale: float,
    zero_tensors: bool,
    is_causal: bool,
    window_size_left: int,
    window_size_right: int,
    deterministic: bool,
    dq: Tensor | None = None,
    dk: Tensor | None = None,
    dv: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    rng_state: Tensor | None = None,
    gen: Generator | None = None,
    cu_seqlens_q_padded: Tensor | None = None,
    cu_seqlens_k_padded: Tensor | None = None,
    sink: Tensor | None = None,
    d_sink: Tensor | None = None,
    *,
    workspace: Workspace | WorkspaceName = Workspace.ASYNC,
    stream: Stream | None = None,
    max_seqlen_k_padded: int | None = None,
) -> Gradients:
    """dq, dk, dv and softmax_d of attention over sequences that lie behind each other.

    Shapes: q [total_q, heads_q, d], k [total_k, heads_k, d], v [total_k, heads_k, dv], out and dout
    [total_q, heads_q, dv], softmax_lse [heads_q, total_q] in float32, the borders int32 [batch + 1].
    With padded borders these say where the sequences lie, and cu_seqlens_* how long they are; padding
    rows of the results are left as they are (zero with zero_tensors). softmax_d has AITER's shape
    [batch, heads_q, total_q] over one [heads_q, total_q] buffer: every batch index shows the same.
    `max_seqlen_k_padded`, the longest padded key sequence, keeps the workspace of the deterministic
    async and device modes small when keys are padded.
    Synchronize the stream before the host reads the results. Only workspace="sync" blocks the host.
    """
    mode = _mode(workspace)
    if dropout_p != 0.0 or any_given((alibi_slopes, rng_state, gen, sink, d_sink)):
        refuse_given("mha_varlen_bwd", dropout_p, (alibi_slopes, rng_state, gen, sink, d_sink))
    if window_size_left >= 0 or window_size_right >= 0:
        refuse_window("mha_varlen_bwd", window_size_left, window_size_right, max_seqlen_k, causal=is_causal)
    handle = _handle(mode, stream)
    with _on(stream):
        dq = torch.empty_like(q) if dq is None else dq
        dk = torch.empty_like(k) if dk is None else dk
        dv = torch.empty_like(v) if dv is None else dv
        softmax_d = _library.mha_varlen_bwd(
            *(dout, q, k, v, out, softmax_lse, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k),
            *(softmax_scale, zero_tensors, is_causal, deterministic, dq, dk, dv),
            *(cu_seqlens_q_padded, cu_seqlens_k_padded, max_seqlen_k_padded, mode, handle),
        )
    return dq, dk, dv, softmax_d
