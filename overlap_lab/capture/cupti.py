"""Capture on NVIDIA GPUs with CUPTI's activity records alone: less in the way of the host than a profiler.

It records what `hip_ext` and torch do through the CUDA runtime and driver. Ranges are those of
`overlap_lab.annotate`; there are no CPU ops and no Python frames.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from overlap_lab.capture.annotate import Outlet, recording_ranges
from overlap_lab.capture.captured import Captured, free_folder, own_name
from overlap_lab.capture.chrome_writer import Activity, Call, Op, Range, Wait, write_chrome
from overlap_lab.capture.origin import origin
from overlap_lab.errors import CaptureError, MissingDependency

__all__ = ["cupti"]

_BUFFER_BYTES: Final = 32 << 20
"""Records of some 200,000 calls: a full buffer is read by Python, in the way of the program."""
_SYSTEM_THREAD_ID: Final = 1  # CUpti_ActivityThreadIdType
_FLUSH_ALL: Final = 1
_OPS: Final = ("CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMSET")
_LONGEST_NAME: Final = 256
_CUSTOM_RANGES: Final = "CUSTOM0"
_COPIES: Final = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}
_MEMORIES: Final = {1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed"}
_WAITS: Final = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
_NO_STREAM: Final = ((1 << 32) - 1, (1 << 64) - 1)
_SUFFIX: Final = re.compile(r"_(?:v\d+|ptsz|ptds)(?=_|$)")

_busy = threading.Lock()


@contextmanager
def cupti(folder: str | Path, *, synchronize: bool = True) -> Iterator[Captured]:
    """Record the CUDA calls and device ops of this process in the block, as one Chrome trace in `folder`.

    Runtime and driver calls, kernels, copies, memsets, what each synchronize waited for, and which range of
    `overlap_lab.annotate` a call was made in. The device is synchronized before the recording ends, unless
    told otherwise; that call is not recorded. Raises MissingDependency without cupti-python, and CaptureError
    where there is no GPU, where another CUPTI client (a profiler) is at work, and where nothing was recorded.
    """
    api = _api()
    target = free_folder(folder)
    captured = Captured("cupti")
    if not _busy.acquire(blocking=False):
        raise CaptureError("a CUPTI capture is under way in this process already; one at a time")
    try:
        recorder = _Recorder(api)
        recorder.start()
        try:
            with recording_ranges(recorder):
                yield captured
        finally:
            recorder.stop(synchronize=synchronize)
        activity = recorder.activity()
        if not len(activity):
            raise CaptureError("the block made no CUDA call: nothing to trace; is there a GPU?")
        devices = ", ".join(activity.devices.values())
        facts = origin(backend="cupti", device=devices, clock="epoch", tool=f"cupti-python {_version()}")
        captured.origin = {**facts, **recorder.losses()}
        path = target / own_name(f"{recorder.began_ns}.cupti.json.gz")
        captured.paths = (write_chrome(activity, path, captured.origin),)
    finally:
        _busy.release()


def _version() -> str:
    try:
        return version("cupti-python")
    except PackageNotFoundError:  # on the path without having been installed
        return "of unknown version"


def _api() -> Any:
    try:
        from cupti import cupti as api
    except ImportError as error:
        purpose = f"a capture with CUPTI ({error})"
        raise MissingDependency("cupti-python", purpose=purpose, extra="cupti") from error
    return api


class _Recorder(Outlet):
    """CUPTI's records as they come, as tuples: what they mean is worked out when the block has ended."""

    def __init__(self, api: Any) -> None:
        self._api = api
        kinds = api.ActivityKind
        self._kinds = (
            kinds.RUNTIME,
            kinds.DRIVER,
            kinds.CONCURRENT_KERNEL,
            kinds.MEMCPY,
            kinds.MEMCPY2,
            kinds.MEMSET,
            kinds.SYNCHRONIZATION,
            kinds.CUDA_EVENT,
            kinds.EXTERNAL_CORRELATION,
        )
        self._rows: dict[int, list[tuple[Any, ...]]] = {int(kind): [] for kind in self._kinds}
        self._fields = _fields(kinds)
        self._ranges: list[Range] = []
        self._range_count = 0
        self._lock = threading.Lock()
        self._dropped = 0
        self._errors: list[str] = []
        self.began_ns = 0

    def start(self) -> None:
        api = self._api
        try:
            api.set_thread_id_type(_SYSTEM_THREAD_ID)
            api.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._take)
            for kind in self._kinds:
                api.activity_enable(kind)
            self.began_ns = api.get_timestamp()
        except api.cuptiError as error:
            self._disable()
            raise CaptureError(
                f"CUPTI cannot record: {error}; there must be a GPU, and no other profiler at work"
            ) from error

    def stop(self, *, synchronize: bool) -> None:
        api = self._api
        began = api.get_timestamp()
        if synchronize:
            _synchronize_device()
        self._ended_ns = began
        try:
            api.activity_flush_all(_FLUSH_ALL)
            dropped = ctypes.c_size_t(0)
            api.activity_get_num_dropped_records(0, 0, ctypes.addressof(dropped))
            self._dropped = dropped.value
        except api.cuptiError as error:
            self._errors.append(str(error))
        self._disable()

    def _disable(self) -> None:
        for kind in self._kinds:
            try:
                self._api.activity_disable(kind)
            except self._api.cuptiError as error:
                self._errors.append(str(error))

    def losses(self) -> dict[str, str]:
        """What CUPTI says was lost."""
        said: dict[str, str] = {}
        if self._dropped:
            said["dropped records"] = str(self._dropped)
        if self._errors:
            said["cupti errors"] = "; ".join(dict.fromkeys(self._errors))
        return said

    def _take(self, activities: Sequence[Any]) -> None:
        """CUPTI's callback: it may not raise, and the records are gone when it returns."""
        rows, fields = self._rows, self._fields
        for record in activities:
            kind = record.kind
            wanted = fields.get(kind)
            if wanted is not None:
                rows[kind].append(tuple([getattr(record, name) for name in wanted]))

    def push(self, name: str) -> object:
        with self._lock:
            self._range_count += 1
            number = self._range_count
        kind = self._api.ExternalCorrelationKind[_CUSTOM_RANGES]
        self._api.activity_push_external_correlation_id(kind, number)
        return name, self._api.get_timestamp()

    def pop(self, pushed: Any) -> None:
        end_ns = self._api.get_timestamp()
        self._api.activity_pop_external_correlation_id(self._api.ExternalCorrelationKind[_CUSTOM_RANGES])
        name, start_ns = pushed
        one = Range(name, start_ns, end_ns, threading.get_native_id())
        with self._lock:
            self._ranges.append(one)

    def activity(self) -> Activity:
        """The records as a trace's rows; the recording's own last calls are left out."""
        kinds = self._api.ActivityKind
        rows = {name: self._rows[int(kinds[name])] for name in kinds.__members__ if self._has(name)}
        events = {(context, event, sync): corr for context, event, sync, corr in rows["CUDA_EVENT"]}
        external = {correlation: number for number, correlation in rows["EXTERNAL_CORRELATION"]}
        return Activity(
            process=os.getpid(),
            calls=[
                *self._calls(rows["RUNTIME"], external, driver=False),
                *self._calls(rows["DRIVER"], external, driver=True),
            ],
            ops=[
                *(_kernel(row) for row in rows["CONCURRENT_KERNEL"]),
                *(_copy(row) for row in (*rows["MEMCPY"], *rows["MEMCPY2"])),
                *(_memset(row) for row in rows["MEMSET"]),
            ],
            waits=[_wait(row, events) for row in rows["SYNCHRONIZATION"] if row[1] < self._ended_ns],
            ranges=self._ranges,
            devices=_device_names({row[2] for name in _OPS for row in rows[name]}),
        )

    def _has(self, name: str) -> bool:
        return int(self._api.ActivityKind[name]) in self._rows

    def _calls(
        self, rows: list[tuple[Any, ...]], external: dict[int, int], *, driver: bool
    ) -> Iterator[Call]:
        api = self._api
        domain = api.CallbackDomain.DRIVER_API if driver else api.CallbackDomain.RUNTIME_API
        names: dict[int, str] = {}
        for call, start, end, thread, correlation in rows:
            if start >= self._ended_ns:
                continue
            if call not in names:
                names[call] = _SUFFIX.sub("", api.get_callback_name(domain, call))
            yield Call(names[call], start, end, thread, correlation, driver, external.get(correlation, 0))


def _fields(kinds: Any) -> dict[int, tuple[str, ...]]:
    """Which fields of a record are kept, by its kind."""
    call = ("cbid", "start", "end", "thread_id", "correlation_id")
    place = ("start", "end", "device_id", "stream_id", "context_id", "correlation_id", "graph_id")
    copy = (*place, "bytes", "copy_kind", "src_kind", "dst_kind")
    return {
        int(kinds.RUNTIME): call,
        int(kinds.DRIVER): call,
        int(kinds.CONCURRENT_KERNEL): (*place, "name"),
        int(kinds.MEMCPY): copy,
        int(kinds.MEMCPY2): copy,
        int(kinds.MEMSET): (*place, "bytes", "memory_kind"),
        int(kinds.SYNCHRONIZATION): (
            *("type", "start", "end", "context_id", "stream_id", "correlation_id"),
            *("cuda_event_id", "cuda_event_sync_id"),
        ),
        int(kinds.CUDA_EVENT): ("context_id", "event_id", "cuda_event_sync_id", "correlation_id"),
        int(kinds.EXTERNAL_CORRELATION): ("external_id", "correlation_id"),
    }


def _kernel(row: tuple[Any, ...]) -> Op:
    start, end, device, stream, context, correlation, graph, name = row
    return Op("kernel", name, start, end, device, stream, context, correlation, graph=graph)


def _copy(row: tuple[Any, ...]) -> Op:
    start, end, device, stream, context, correlation, graph, size, kind, source, target = row
    ends = " -> ".join(_MEMORIES.get(memory, "Unknown") for memory in (source, target))
    name = f"Memcpy {_COPIES.get(kind, 'copy')} ({ends})"
    return Op("gpu_memcpy", name, start, end, device, stream, context, correlation, size, graph)


def _memset(row: tuple[Any, ...]) -> Op:
    start, end, device, stream, context, correlation, graph, size, memory = row
    name = f"Memset ({_MEMORIES.get(memory, 'Unknown')})"
    return Op("gpu_memset", name, start, end, device, stream, context, correlation, size, graph)


def _wait(row: tuple[Any, ...], events: dict[tuple[int, int, int], int]) -> Wait:
    kind, start, end, context, stream, correlation, event, sync = row
    return Wait(
        _WAITS.get(kind, "Sync"),
        start,
        end,
        context,
        -1 if stream in _NO_STREAM else stream,
        correlation,
        events.get((context, event, sync), 0),
    )


def _device_names(devices: set[int]) -> dict[int, str]:
    """Names of devices by number; CUPTI tells them only when a context is made, which was before."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {}
    names = {}
    for number in sorted(devices):
        handle, name = ctypes.c_int(), ctypes.create_string_buffer(_LONGEST_NAME)
        if driver.cuDeviceGet(ctypes.byref(handle), number) == 0:
            driver.cuDeviceGetName(name, _LONGEST_NAME, handle)
            names[number] = name.value.decode("utf-8", "replace")
    return names


def _synchronize_device() -> None:
    """Through torch where it is in use, else through the driver's own context of this thread."""
    torch = sys.modules.get("torch")
    if torch is not None:
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        return
    try:
        ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()
    except OSError:
        return
