"""Capture with torch.profiler (Kineto), on CUDA, ROCm and CPU: one Chrome trace per rank and cycle."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from overlap_lab.capture.captured import Captured, free_folder, own_name
from overlap_lab.capture.origin import origin
from overlap_lab.errors import CaptureError, MissingDependency, UsageError
from overlap_lab.schema import ORIGIN_KEY

__all__ = ["KinetoCapture", "Schedule", "kineto"]

_HEAD_BYTES: Final = 4096
_log = logging.getLogger(__name__)
_NO_DEVICE: Final = (
    "capture.kineto: torch has no CUDA or ROCm device here, so the trace will hold CPU ops alone: no device "
    "records, no calls that wait, and nothing to analyze or check; capture.host records the CPU host target"
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which steps are recorded: `wait` steps nothing, `warmup` steps recorded and thrown away, `active` steps
    kept, `repeat` times; then nothing. `captured.step()` ends a step."""

    wait: int = 0
    warmup: int = 1
    active: int = 3
    repeat: int = 1

    def __post_init__(self) -> None:
        if self.active < 1 or self.repeat < 1 or self.wait < 0 or self.warmup < 0:
            raise UsageError(f"{self}: active and repeat are at least 1, wait and warmup at least 0")

    @property
    def steps(self) -> int:
        """The number of steps to make, so that everything is recorded."""
        return (self.wait + self.warmup + self.active) * self.repeat


@dataclass(slots=True)
class KinetoCapture(Captured):
    """A capture under way; `step` ends a step of its schedule."""

    _profiler: Any = field(default=None, repr=False)

    def step(self) -> None:
        """End a step: it becomes a `ProfilerStep#N` range. Without a schedule all steps are recorded."""
        if self._profiler is None:
            raise CaptureError("step() outside of the capture's with block")
        with _without_warnings():
            self._profiler.step()


@contextmanager
def kineto(
    folder: str | Path,
    *,
    schedule: Schedule | None = None,
    stacks: bool = False,
    shapes: bool = False,
    synchronize: bool = True,
) -> Iterator[KinetoCapture]:
    """Record the block with torch.profiler into `folder`, with what the analysis needs and no more.

    CPU ops, runtime calls, device ops and, on CUDA, the records that say what each synchronize waited for.
    `stacks` adds Python frames, so that a wait names its line; that costs a multiple of the time. The device
    is synchronized before the recording ends, unless told otherwise, so that no op is lost. Files are named
    after host, rank and process. Where torch has no device a warning says that the trace will hold CPU ops
    alone. Raises MissingDependency without torch, and CaptureError where another
    profiler is at work and where nothing was recorded.
    """
    torch = _torch()
    if torch.autograd.profiler._is_profiler_enabled:  # torch would end that one without a word
        raise CaptureError("torch.profiler is at work in this process already; one at a time")
    target = free_folder(folder)
    captured = KinetoCapture("kineto")
    if not torch.cuda.is_available():
        _log.warning(_NO_DEVICE)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    captured.origin = origin(
        backend="kineto", device=device, clock="epoch", tool=f"torch.profiler {torch.__version__}"
    )
    written: list[Path] = []

    def keep(profiler: Any) -> None:
        written.append(_write(profiler, target, len(written), captured))

    captured._profiler = _profiler(torch, schedule, keep, stacks=stacks, shapes=shapes)
    try:
        with _without_warnings():
            captured._profiler.__enter__()
    except RuntimeError as error:
        raise CaptureError(f"torch.profiler could not start: {error}") from error
    try:
        yield captured
    finally:
        if synchronize and torch.cuda.is_available():
            torch.cuda.synchronize()
        with _without_warnings():
            captured._profiler.__exit__(None, None, None)
        captured._profiler = None
        captured.paths = tuple(written)
    if not written:
        raise CaptureError(
            f"torch.profiler recorded nothing: the block made fewer steps than {schedule} asks for; "
            "call step() on the capture after each"
        )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """torch warns that a cycle's events are gone after it: they are in its file by then."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*clears events at the end of each cycle")
        yield


def _torch() -> ModuleType:
    try:
        import torch
        import torch.profiler
    except ImportError as error:
        raise MissingDependency("torch", purpose="a capture with torch.profiler", extra="torch") from error
    return torch


def _profiler(torch: ModuleType, schedule: Schedule | None, keep: Any, *, stacks: bool, shapes: bool) -> Any:
    profiler = torch.profiler
    activities = [profiler.ProfilerActivity.CPU]
    more: dict[str, Any] = {}
    if torch.cuda.is_available():  # ROCm's torch calls its devices CUDA as well
        activities.append(profiler.ProfilerActivity.CUDA)
        if torch.version.hip is None:
            more["experimental_config"] = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    planned = schedule and profiler.schedule(
        wait=schedule.wait, warmup=schedule.warmup, active=schedule.active, repeat=schedule.repeat
    )
    return profiler.profile(
        activities=activities,
        schedule=planned,
        on_trace_ready=keep,
        record_shapes=shapes,
        with_stack=stacks,
        **more,
    )


def _write(profiler: Any, folder: Path, cycle: int, captured: KinetoCapture) -> Path:
    """Write one cycle's trace, compressed, under its final name only when it is whole."""
    base = own_name(f"{cycle}.pt.trace.json")
    plain, packed = folder / f".{base}", folder / f".{base}.gz"
    try:
        profiler.export_chrome_trace(str(plain))
        with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=3) as sink:
            before, brace, text = source.read(_HEAD_BYTES).partition(b"{")
            if before.strip() or not brace:
                raise CaptureError(f"{plain}: torch.profiler wrote no JSON object")
            # Kineto takes metadata only while it records, which a schedule decides: so it is put in here.
            sink.write(json.dumps({ORIGIN_KEY: dict(captured.origin)})[:-1].encode() + b"," + text)
            shutil.copyfileobj(source, sink, 1 << 20)
        return packed.rename(folder / f"{base}.gz")
    except (OSError, RuntimeError) as error:
        raise CaptureError(f"{folder}: the trace could not be written: {error}") from error
    finally:
        plain.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)
