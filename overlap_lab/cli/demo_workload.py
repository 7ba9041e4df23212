"""What `overlap-lab demo` runs: the FMHA backward of N layers on a stream of a GPU or the CPU host target."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from overlap_lab.capture.annotate import annotate
from overlap_lab.capture.host import record
from overlap_lab.capture.kineto import kineto
from overlap_lab.errors import MissingDependency, UsageError

__all__ = ["BackwardLoop", "Mode", "Recorded", "Shape", "Target", "built_target"]


class Recorded(Protocol):
    """One run's trace, in memory."""

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the file; an existing one needs `force`."""


class Target(StrEnum):
    """Where the backward runs."""

    HOST = "host"
    CUDA = "cuda"

    @property
    def suffix(self) -> str:
        """Of its traces: rocpd from the host target, Kineto from a GPU."""
        return ".db" if self is Target.HOST else ".json.gz"


class Mode(StrEnum):
    SYNC = "sync"
    ASYNC = "async"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Shape:
    """One layer: group (varlen) mode, bf16, causal, deterministic."""

    seqlens: tuple[int, ...] = (768, 512, 384, 640)
    heads: int = 6
    head_dim: int = 64

    @classmethod
    def on(cls, target: Target) -> Shape:
        """A layer of about a millisecond on an H200, or of some tens on two cores."""
        return cls() if target is Target.HOST else cls(heads=16, head_dim=128)

    def __str__(self) -> str:
        lengths = ",".join(str(length) for length in self.seqlens)
        return f"{self.heads} heads x {self.head_dim}, sequences {lengths}, bf16, causal, deterministic"


class BackwardLoop:
    """Inputs and outputs of all layers, made once; `record` runs the loop in one mode with recording on.

    The stream is a blocking one, as torch's default stream is: the sync mode's copies on the null stream wait
    for everything queued on it.
    """

    def __init__(self, layers: int, shape: Shape, target: Target = Target.HOST) -> None:
        self.shape = shape
        self._target = target
        self._hip_ext = _hip_ext()
        if target is Target.HOST:
            _keep_freed_memory()
        self._layers = [self._layer(seed) for seed in range(layers)]
        self._stream = self._hip_ext.Stream() if target is Target.HOST else self._hip_ext.NULL_STREAM

    def warm_up(self, modes: tuple[Mode, ...]) -> None:
        """Unrecorded runs, so that none pays for first touches, pinned memory and the profiler."""
        for mode in modes:
            self._run(mode)
            if self._target is Target.CUDA:
                self.record(mode)

    def record(self, mode: Mode) -> Recorded:
        metadata = {"workspace": mode.value, "layers": str(len(self._layers)), "layer": str(self.shape)}
        if self._target is Target.CUDA:
            return self._record_on_gpu(mode, metadata)
        return record(lambda: self._run(mode), metadata=metadata)

    def host_time_ns(self, mode: Mode, *, queued: int) -> int:
        """Host time of one call behind so many others on the stream, which are waited for afterwards."""
        first = self._layers[0]
        for _ in range(queued):
            self._hip_ext.mha_varlen_bwd(**first, workspace=Mode.DEVICE.value, stream=self._stream)
        begin = time.perf_counter_ns()
        self._hip_ext.mha_varlen_bwd(**first, workspace=mode.value, stream=self._stream)
        took = time.perf_counter_ns() - begin
        self._stream.synchronize()
        return took

    def _record_on_gpu(self, mode: Mode, metadata: Mapping[str, str]) -> Recorded:
        with tempfile.TemporaryDirectory(prefix="overlap_lab_demo_") as folder:
            with kineto(folder, synchronize=False) as captured:  # the run's own last wait is the last
                captured.origin = {**captured.origin, **metadata}
                self._run(mode)
            return _File(captured.path.read_bytes())

    def _run(self, mode: Mode) -> None:
        for index, layer in enumerate(self._layers):
            with annotate(f"backward layer {index}"):
                self._hip_ext.mha_varlen_bwd(**layer, workspace=mode.value, stream=self._stream)
        self._stream.synchronize()

    def _layer(self, seed: int) -> dict[str, Any]:
        from hip_ext.example_layer import backward_arguments

        shape, device = self.shape, "cpu" if self._target is Target.HOST else "cuda"
        return backward_arguments(
            shape.seqlens, heads=shape.heads, head_size=shape.head_dim, seed=seed, device=device
        )


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        target = Path(path)
        if target.exists() and not force:
            raise UsageError(f"{target}: exists already; pass force=True (--force) or another name")
        target.write_bytes(self.content)
        return target


def built_target() -> Target:
    """What hip_ext was built for."""
    return Target.CUDA if _hip_ext().ON_GPU else Target.HOST


def _hip_ext() -> ModuleType:
    try:
        import hip_ext
    except ImportError as error:
        raise MissingDependency("torch", purpose=f"the demo ({error})", extra="torch") from error
    return hip_ext


def _keep_freed_memory() -> None:
    """Let freed workspaces stay with the process, as the caching allocator of a GPU build lets them.

    glibc gives large blocks back to the system, so that each call's memset would pay for first touches again,
    and most in the modes that hold all layers' workspaces at once. Where there is no mallopt nothing changes.
    """
    trim_threshold, mmap_threshold, most = -1, -3, 32 << 20
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(trim_threshold, 1 << 30)
        mallopt(mmap_threshold, most)
