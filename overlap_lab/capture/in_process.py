"""The capture that fits this process: by CUDA or ROCm through torch, else the CPU host target."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from overlap_lab.capture.captured import Captured
from overlap_lab.capture.cupti import cupti
from overlap_lab.capture.host import host
from overlap_lab.capture.kineto import kineto
from overlap_lab.errors import CaptureError, UsageError

__all__ = ["Backend", "available", "in_process"]


class Backend(StrEnum):
    """How this process's own work is recorded."""

    KINETO = "kineto"
    """torch.profiler, on CUDA and ROCm."""
    CUPTI = "cupti"
    """CUPTI's activity records, on CUDA."""
    HOST = "host"
    """The CPU host target of hip_ext."""


_NAMES = {"cuda": Backend.KINETO, "rocm": Backend.KINETO, **{backend.value: backend for backend in Backend}}


def available() -> Backend | None:
    """The backend that `in_process` takes by itself; None where nothing here can be recorded."""
    if _has_torch_device():
        return Backend.KINETO
    return Backend.HOST if _has_host_target() else None


def in_process(
    folder: str | Path, *, backend: Backend | str | None = None, stacks: bool = False
) -> AbstractContextManager[Captured]:
    """A context manager that records the block into `folder`: with torch.profiler where torch has a device,
    else on the CPU host target.

    `backend` forces one: "kineto", "cupti", "host"; "cuda" and "rocm" are kineto, and refuse another vendor's
    device. Raises CaptureError where there is neither device nor host target, or not what the backend needs,
    so that nothing passes a budget unmeasured.
    """
    chosen = available() if backend is None else _backend(str(backend))
    if chosen is None:
        raise CaptureError(
            "nothing here can be recorded: torch has no CUDA or ROCm device, and the CPU host target of "
            "hip_ext is not installed"
        )
    if chosen is Backend.HOST:
        if not _has_host_target():
            raise CaptureError(f"backend={str(backend)!r}: the CPU host target of hip_ext is not installed")
        return host(folder, stacks=stacks)
    if chosen is Backend.CUPTI:
        if find_spec("cupti") is None:
            raise CaptureError(
                f"backend={str(backend)!r}: cupti-python is not installed: pip install 'overlap_lab[cupti]'"
            )
        return cupti(folder)
    if not _has_torch_device():
        raise CaptureError(f"backend={str(backend)!r}: torch has no CUDA or ROCm device here")
    return kineto(folder, stacks=stacks)


def _backend(name: str) -> Backend:
    if name not in _NAMES:
        raise UsageError(f"backend={name!r}: expected one of {', '.join(sorted(_NAMES))}")
    if name in ("cuda", "rocm") and name != (vendor := _vendor()):
        raise CaptureError(f"backend={name!r}: torch has {vendor or 'no device'} here")
    return _NAMES[name]


def _has_torch_device() -> bool:
    return bool(_vendor())


def _vendor() -> str:
    try:
        import torch
    except ImportError:
        return ""
    if not torch.cuda.is_available():
        return ""
    return "cuda" if torch.version.hip is None else "rocm"


def _has_host_target() -> bool:
    try:
        from hip_ext import _host_runtime  # noqa: F401
    except ImportError:
        return False
    return True
