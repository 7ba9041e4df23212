"""Streams of a GPU: torch's, whose current one every op runs on."""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import torch

from hip_ext import _library
from hip_ext.stream_kind import StreamKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Stream:
    """An ordered queue of device work. `torch.cuda.stream(stream.torch_stream)` makes it current as well.

    It is destroyed with its last reference, once its work is done.
    """

    __slots__ = ("__weakref__", "_kind", "_torch_stream")

    def __init__(self, kind: StreamKind = StreamKind.BLOCKING) -> None:
        self._kind = StreamKind(kind)
        handle = _library.stream_create(blocking=self._kind is StreamKind.BLOCKING)
        wrapped: Callable[[int], torch.cuda.Stream] = torch.cuda.ExternalStream
        self._torch_stream = wrapped(handle)
        weakref.finalize(self, _library.stream_destroy, handle).atexit = False

    @classmethod
    def of(cls, torch_stream: torch.cuda.Stream) -> Stream:
        """One of torch's streams; it is not destroyed."""
        stream = object.__new__(cls)
        stream._torch_stream = torch_stream
        handle = torch_stream.cuda_stream  # 0 is the null stream
        blocking = handle == 0 or _library.stream_is_blocking(handle)
        stream._kind = StreamKind.BLOCKING if blocking else StreamKind.NON_BLOCKING
        return stream

    @property
    def torch_stream(self) -> torch.cuda.Stream:
        return self._torch_stream

    @property
    def handle(self) -> int:
        """The runtime's stream; 0 is the null stream."""
        return self._torch_stream.cuda_stream

    @property
    def kind(self) -> StreamKind:
        return self._kind

    def synchronize(self) -> None:
        """Blocks until all work enqueued so far is done (null stream: on blocking streams too)."""
        self._torch_stream.synchronize()

    def query(self) -> bool:
        """Whether all work enqueued so far is done. Does not block."""
        return self._torch_stream.query()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f"Stream({self._kind.value}, handle={self.handle:#x})"


NULL_STREAM: Final = Stream.of(torch.cuda.default_stream())


def current_stream() -> Stream:
    """torch's current stream, which calls without `stream=` use."""
    return Stream.of(torch.cuda.current_stream())


@contextmanager
def use_stream(stream: Stream) -> Iterator[Stream]:
    """Makes `stream` torch's current one in this thread. It orders and waits for nothing."""
    with torch.cuda.stream(stream.torch_stream):
        yield stream


def synchronize() -> None:
    """Blocks until all work enqueued so far on any stream is done."""
    torch.cuda.synchronize()
