"""The FMHA backward of AITER's mha_bwd with three ways to prepare its workspace.

Results are written by a stream: synchronize it before the host reads them.
"""

from __future__ import annotations

from hip_ext._library import ON_GPU, check, set_pinned_memory
from hip_ext.attention import flash_attn_func, flash_attn_varlen_func
from hip_ext.backward import Workspace, mha_bwd, mha_varlen_bwd
from hip_ext.streams import NULL_STREAM, Stream, StreamKind, current_stream, synchronize, use_stream

__all__ = [
    "NULL_STREAM",
    "ON_GPU",
    "Stream",
    "StreamKind",
    "Workspace",
    "check",
    "current_stream",
    "flash_attn_func",
    "flash_attn_varlen_func",
    "mha_bwd",
    "mha_varlen_bwd",
    "set_pinned_memory",
    "synchronize",
    "use_stream",
]
