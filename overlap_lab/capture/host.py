"""Capture on the CPU host target: run a callable with the host runtime recording, get a rocpd file."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from overlap_lab.capture.annotate import recording_ranges
from overlap_lab.capture.captured import Captured, free_folder, own_name
from overlap_lab.capture.origin import origin
from overlap_lab.capture.rocpd_writer import (
    ApiCall,
    DeviceOp,
    MarkerRange,
    Recording,
    Stream,
    write_rocpd,
)
from overlap_lab.errors import CaptureError, MissingDependency, UsageError

__all__ = ["DEVICE_NAME", "HostCapture", "capture", "host", "record"]

DEVICE_NAME: Final = "HIP host runtime (CPU)"

_DIRECTIONS: Final = ("HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE")
_COPY, _MEMSET = 1, 2  # hip_host::OpKind
_HOST_MEMORY: Final = {1: "pageable", 2: "pinned"}  # hip_host::MemoryKind
_FILL_KERNEL: Final = "hip_host_fill_buffer"

_under_way = threading.Lock()


@dataclass(frozen=True, slots=True)
class HostCapture:
    """What one run recorded, in memory; `write` makes the file."""

    recording: Recording
    waited: frozenset[int]
    """Correlation ids of the calls that really waited, by the runtime's own account. It is not in the file:
    tests hold it against what the analysis concludes from times alone."""

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write a rocpd schema 3 database and return its path; an existing file needs `force`."""
        target = _free_place(path, force=force)
        if not target.parent.is_dir():
            raise UsageError(f"{target}: the folder {target.parent} does not exist")
        write_rocpd(self.recording, target)
        return target


def record(
    work: Callable[[], object], *, metadata: Mapping[str, str] | None = None, stacks: bool = False
) -> HostCapture:
    """Run `work()` with recording on; its own last synchronize is its terminal wait. `stacks` adds the Python
    stack of each call that waited, taken when it has returned.

    Device work that is still queued when `work` returns is waited for, and that wait is not recorded. Raises
    CaptureError when another recording is under way or when nothing was recorded.
    """
    with _recording(stacks=stacks) as recorder:
        work()
    return recorder.capture(metadata or {})


@contextmanager
def host(folder: str | Path, *, stacks: bool = False) -> Iterator[Captured]:
    """Record the HIP calls of the block on the CPU host target, as one rocpd file in `folder`.

    `stacks` adds the Python stack of each call that waited.

    Raises MissingDependency without hip_ext, and CaptureError where another recording is under way and where
    the block made no call to the host runtime.
    """
    target = free_folder(folder)
    captured = Captured("host")
    with _recording(stacks=stacks) as recorder:
        yield captured
    captured.origin = origin(backend="host", device=DEVICE_NAME, clock="CLOCK_BOOTTIME", tool="hip_ext")
    path = target / own_name(f"{recorder.began_ns}.db")
    captured.paths = (recorder.capture(captured.origin).write(path),)


def capture(work: Callable[[], object], path: str | Path, *, force: bool = False) -> Path:
    """Run `work()` with recording on and write its trace to `path`; see `record` and `HostCapture.write`."""
    target = _free_place(path, force=force)  # before the work is run for nothing
    return record(work).write(target, force=force)


def _free_place(path: str | Path, *, force: bool) -> Path:
    target = Path(path)
    if target.exists() and not force:
        raise UsageError(f"{target}: exists already; pass force=True (--force) or another name")
    return target


def _runtime() -> ModuleType:
    try:
        import hip_ext  # noqa: F401  loads torch and the libraries beside it
        from hip_ext import _host_runtime
    except ImportError as error:
        raise MissingDependency("torch", purpose=f"the host target ({error})", extra="torch") from error
    return _host_runtime


class _Recorder:
    """The runtime's recording of one block, and the ranges that its threads annotate meanwhile."""

    def __init__(self, runtime: ModuleType, *, stacks: bool) -> None:
        self._runtime = runtime
        self._stacks = stacks
        self._ranges: list[MarkerRange] = []
        self._tables: Mapping[str, Any] = {}
        self.began_ns = _now_ns()

    def push(self, name: str) -> object:
        return name, _now_ns()

    def pop(self, pushed: Any) -> None:
        name, start_ns = pushed
        self._ranges.append(MarkerRange(name, start_ns, _now_ns(), threading.get_native_id()))

    def start(self) -> None:
        self._runtime.start_recording(stacks=self._stacks)

    def stop(self) -> None:
        self._runtime.stop_recording()
        self._runtime.device_synchronize()
        self._tables = self._runtime.take_records()

    def capture(self, metadata: Mapping[str, str]) -> HostCapture:
        if not len(self._tables["api"]["start_ns"]):
            raise CaptureError(
                "the work made no call to the HIP host runtime: nothing to trace. torch's own ops on the CPU "
                "are not recorded: use hip_ext, or a GPU"
            )
        return _host_capture(self._tables, self._ranges, metadata)


@contextmanager
def _recording(*, stacks: bool) -> Iterator[_Recorder]:
    recorder = _Recorder(_runtime(), stacks=stacks)
    if not _under_way.acquire(blocking=False):
        raise CaptureError("a host recording is under way already; one at a time")
    try:
        recorder.start()
        try:
            with recording_ranges(recorder):
                yield recorder
        finally:
            recorder.stop()
    finally:
        _under_way.release()


def _now_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _host_capture(
    tables: Mapping[str, Any], ranges: list[MarkerRange], metadata: Mapping[str, str]
) -> HostCapture:
    api = _rows(tables["api"])
    recording = Recording(
        process=os.getpid(),
        command=shlex.join(sys.argv).encode("utf-8", "backslashreplace").decode(),  # SQLite takes UTF-8 only
        device=DEVICE_NAME,
        calls=tuple(_call(row, tables["stacks"]) for row in api),
        ops=tuple(_op(row) for row in _rows(tables["device"])),
        ranges=tuple(ranges)
        + tuple(
            MarkerRange("host function", row["start_ns"], row["end_ns"], row["thread_id"])
            for row in _rows(tables["host_functions"])
        )
        + tuple(
            MarkerRange(row["name"], row["start_ns"], row["end_ns"], row["thread_id"])
            for row in _rows(tables["ranges"])
        ),
        streams=tuple(
            Stream(row["stream_id"], nonblocking=row["non_blocking"]) for row in _rows(tables["streams"])
        ),
        metadata=metadata,
    )
    return HostCapture(recording, frozenset(r["correlation_id"] for r in api if r["waited"]))


def _rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = {k: v if isinstance(v, list) else v.tolist() for k, v in table.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _call(row: Mapping[str, Any], stacks: Sequence[tuple[str, ...]]) -> ApiCall:
    """The call with the arguments that rocprofv3 would write for it."""
    args: list[tuple[str, str, str]] = []
    if row["bytes"]:
        args.append(("void*", "dst", hex(row["dst"])))
        if row["src"]:
            args.append(("void const*", "src", hex(row["src"])))
        args.append(("size_t", "sizeBytes", str(row["bytes"])))
        if row["copy_kind"] >= 0:
            args.append(("hipMemcpyKind", "kind", _hip_spelling(_DIRECTIONS[row["copy_kind"]])))
    if row["event"]:
        args.append(("hipEvent_t", "event", hex(row["event"])))
    if row["stream_id"] >= 0:
        args.append(("hipStream_t", "stream", hex(row["stream_argument"])))
    times = row["start_ns"], row["end_ns"]
    stack = stacks[row["stack"] - 1] if row["stack"] else ()
    return ApiCall(row["name"], *times, row["thread_id"], row["correlation_id"], tuple(args), stack)


def _hip_spelling(direction: str) -> str:
    return "".join(word.capitalize() for word in direction.split("_"))


def _op(row: Mapping[str, Any]) -> DeviceOp:
    is_copy = row["kind"] == _COPY
    host_side = row["src_memory"] if row["copy_kind"] == 1 else row["dst_memory"]
    return DeviceOp(
        name=_FILL_KERNEL if row["kind"] == _MEMSET else row["name"],
        start_ns=row["start_ns"],
        end_ns=row["end_ns"],
        thread=row["thread_id"],
        correlation=row["correlation_id"],
        stream=row["stream_id"],
        copy_direction=_DIRECTIONS[row["copy_kind"]] if is_copy else "",
        host_memory=_HOST_MEMORY.get(host_side, "") if is_copy else "",
        bytes=row["bytes"],
        graph_exec=row["graph_exec"],
        grid=(row["grid_x"], row["grid_y"], row["grid_z"]),
        block=(row["block_x"], row["block_y"], row["block_z"]),
        lds_bytes=row["lds_bytes"],
    )
