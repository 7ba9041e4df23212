"""Streams, as Python objects: those of the host target, or torch's on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hip_ext._library import ON_GPU
from hip_ext.stream_kind import StreamKind

if TYPE_CHECKING or not ON_GPU:  # both have the same names and say the same of them
    from hip_ext._host_streams import NULL_STREAM, Stream, current_stream, synchronize, use_stream
else:
    from hip_ext._gpu_streams import NULL_STREAM, Stream, current_stream, synchronize, use_stream

__all__ = ["NULL_STREAM", "Stream", "StreamKind", "current_stream", "synchronize", "use_stream"]
