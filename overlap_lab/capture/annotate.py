"""Named ranges on the host, for whichever tool listens: roctx, NVTX, torch.profiler, our own captures."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Protocol

__all__ = ["Outlet", "annotate", "outlets", "recording_ranges"]

_ROCTX_LIBRARY: Final = "librocprofiler-sdk-roctx.so"


class Outlet(Protocol):
    """Something that takes ranges of the thread that calls it."""

    def push(self, name: str) -> object:
        """Begin a range; what it gives is handed to `pop`."""

    def pop(self, pushed: Any) -> None:
        """End the range."""


_captures: list[Outlet] = []


@contextmanager
def annotate(name: str) -> Iterator[None]:
    """Put a named range around host code, as `with overlap_lab.annotate("backward"):` or as a decorator.

    It is written to every listener there is: roctx on ROCm, NVTX on CUDA, torch.profiler while it records,
    and the captures of this package.
    """
    pushed = [(outlet, outlet.push(name)) for outlet in outlets()]
    try:
        yield
    finally:
        for outlet, state in reversed(pushed):
            outlet.pop(state)


@contextmanager
def recording_ranges(outlet: Outlet) -> Iterator[None]:
    """Let a capture take the ranges of all threads while it is under way."""
    _captures.append(outlet)
    try:
        yield
    finally:
        _captures.remove(outlet)


def outlets() -> list[Outlet]:
    """Who listens now."""
    found = list(_captures)
    if (tool := _tool()) is not None:
        found.append(tool)
    torch = sys.modules.get("torch")
    if torch is not None and torch.autograd.profiler._is_profiler_enabled:
        found.append(_RecordFunction(torch))
    return found


class _RecordFunction:
    """torch.profiler's ranges."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def push(self, name: str) -> object:
        entered = self._torch.autograd.profiler.record_function(name)
        entered.__enter__()
        return entered

    def pop(self, pushed: Any) -> None:
        pushed.__exit__(None, None, None)


class _Roctx:
    """roctx through its Python package."""

    def __init__(self, roctx: Any) -> None:
        self._roctx = roctx

    def push(self, name: str) -> object:
        return self._roctx.rangePush(name)

    def pop(self, pushed: Any) -> None:  # noqa: ARG002
        self._roctx.rangePop()


class _RoctxLibrary:
    """roctx through its library, which rocprofv3 has loaded into the process."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def push(self, name: str) -> object:
        return self._library.roctxRangePushA(name.encode("utf-8", "replace"))

    def pop(self, pushed: Any) -> None:  # noqa: ARG002
        self._library.roctxRangePop()


class _Nvtx:
    """NVTX through its Python package or through torch's own."""

    def __init__(self, push: Any, pop: Any) -> None:
        self._push, self._pop = push, pop

    def push(self, name: str) -> object:
        return self._push(name)

    def pop(self, pushed: Any) -> None:  # noqa: ARG002
        self._pop()


@cache
def _tool() -> Outlet | None:
    """The vendor's marker library of this process; asked for once."""
    return _roctx() or _nvtx()


def _roctx() -> Outlet | None:
    try:
        import roctx
    except ImportError:
        try:
            return _RoctxLibrary(ctypes.CDLL(_ROCTX_LIBRARY))
        except OSError:
            return None
    return _Roctx(roctx) if hasattr(roctx, "rangePush") else None


def _nvtx() -> Outlet | None:
    try:
        import nvtx
    except ImportError:
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_available() or torch.version.hip is not None:
            return None
        return _Nvtx(torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop)
    return _Nvtx(nvtx.push_range, nvtx.pop_range)
