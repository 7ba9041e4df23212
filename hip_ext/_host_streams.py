"""Streams of the host target."""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from hip_ext import _host_runtime, _library
from hip_ext.stream_kind import StreamKind

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stream:
    """An ordered queue of device work with a thread of its own.

    It is destroyed with its last reference, which blocks until its work is done, as HIP does.
    """

    __slots__ = ("__weakref__", "_handle", "_kind")

    def __init__(self, kind: StreamKind = StreamKind.BLOCKING) -> None:
        self._kind = StreamKind(kind)
        self._handle = _host_runtime.stream_create(blocking=self._kind is StreamKind.BLOCKING)
        weakref.finalize(self, _host_runtime.stream_destroy, self._handle).atexit = False

    @property
    def handle(self) -> int:
        """The runtime's hipStream_t; 0 is the null stream."""
        return self._handle

    @property
    def kind(self) -> StreamKind:
        return self._kind

    def synchronize(self) -> None:
        """Blocks until all work enqueued so far is done (null stream: on blocking streams too)."""
        _host_runtime.stream_synchronize(self._handle)
        _library.release_finished()

    def query(self) -> bool:
        """Whether all work enqueued so far is done. Does not block."""
        return _host_runtime.stream_query(self._handle)

    def __repr__(self) -> str:
        return f"Stream({self._kind.value}, handle={self._handle:#x})"


def _null_stream() -> Stream:
    stream = object.__new__(Stream)
    stream._kind = StreamKind.BLOCKING
    stream._handle = 0
    return stream


NULL_STREAM: Final = _null_stream()
_current: ContextVar[Stream] = ContextVar("hip_ext_stream", default=NULL_STREAM)


def current_stream() -> Stream:
    """The stream of calls without `stream=`: that of the innermost use_stream, else NULL_STREAM."""
    return _current.get()


@contextmanager
def use_stream(stream: Stream) -> Iterator[Stream]:
    """Makes `stream` the current one of this thread (or asyncio task). It orders and waits for nothing."""
    token = _current.set(stream)
    try:
        yield stream
    finally:
        _current.reset(token)


def synchronize() -> None:
    """Blocks until all work enqueued so far on any stream is done."""
    _host_runtime.device_synchronize()
    _library.release_finished()
