"""Write what the CPU host runtime recorded as a rocpd schema 3 database.

The file says what a rocprofv3 capture of the same calls would say, and no more: host functions are marker
ranges on the thread that ran them, never device rows. What the runtime knows about its own waits is left out.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from overlap_lab.capture.rocpd_schema import schema_sql
from overlap_lab.errors import CaptureError
from overlap_lab.whole_file import cleaned_up

__all__ = ["ApiCall", "DeviceOp", "MarkerRange", "Recording", "Stream", "write_rocpd"]

_NODE = 1
_CPU_AGENT = 0
_DEVICE_AGENT = 1
_QUEUE = 1
_API = "HIP_RUNTIME_API_EXT"
_MARKER = "MARKER_CORE_RANGE_API"
_PYTHON = "python"
_RANGE_NAME = "roctxThreadRangeA"


@dataclass(frozen=True, slots=True)
class ApiCall:
    name: str
    start_ns: int
    end_ns: int
    thread: int
    correlation: int
    args: tuple[tuple[str, str, str], ...] = ()
    """(C type, name, value) of each argument."""
    stack: tuple[str, ...] = ()
    """Python frames that the call was made from, outermost first, as "file(line): function": regions of
    category "python", as rocprofiler-systems writes frames, that last as long as the call."""


@dataclass(frozen=True, slots=True)
class DeviceOp:
    name: str
    start_ns: int
    end_ns: int
    thread: int
    correlation: int
    stream: int
    copy_direction: str = ""
    """"HOST_TO_DEVICE" and so on for a copy, empty for a kernel or fill."""
    host_memory: str = ""
    """"pinned" or "pageable": the host side of a copy."""
    bytes: int = 0
    graph_exec: int = 0
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    lds_bytes: int = 0


@dataclass(frozen=True, slots=True)
class MarkerRange:
    message: str
    start_ns: int
    end_ns: int
    thread: int


@dataclass(frozen=True, slots=True)
class Stream:
    number: int
    nonblocking: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """One process's calls, ops and ranges on one device; times are CLOCK_BOOTTIME ns."""

    process: int
    command: str
    device: str
    calls: tuple[ApiCall, ...]
    ops: tuple[DeviceOp, ...]
    ranges: tuple[MarkerRange, ...]
    streams: tuple[Stream, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)


def write_rocpd(recording: Recording, path: Path) -> None:
    """Write the database to `path`, replacing it in one step, so that no reader sees half a file.

    Raises CaptureError where it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    with cleaned_up():
        try:
            _write(recording, partial)
            partial.replace(path)
        except (sqlite3.Error, OSError) as error:
            raise CaptureError(
                f"{path}: cannot be written ({error}); is the folder writable, the disk full?"
            ) from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _write(recording: Recording, path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        with connection:
            _Tables(connection, recording).write()
    finally:
        connection.close()


class _Tables:
    """The rows of one file; it holds the connection and the ids handed out so far."""

    def __init__(self, connection: sqlite3.Connection, recording: Recording) -> None:
        self._connection = connection
        self._recording = recording
        self._guid = str(uuid.uuid4())
        self._suffix = "_" + self._guid.replace("-", "_")
        self._strings: dict[str, int] = {}
        self._kernels: dict[str, int] = {}
        self._events = 0
        self._args = 0

    def write(self) -> None:
        self._connection.executescript(schema_sql(self._guid))
        self._write_metadata()
        self._write_identities()
        for call in self._recording.calls:
            self._write_call(call)
        for number, op in enumerate(self._recording.ops, start=1):
            if op.copy_direction:
                self._write_copy(op)
            else:
                self._write_kernel(number, op)
        for marker in self._recording.ranges:
            extdata = {"message": marker.message}
            event = self._event(_MARKER, 0, extdata)
            self._region(marker.thread, marker.start_ns, marker.end_ns, _RANGE_NAME, event)
        self._insert("string", "id, string", ((n, s) for s, n in self._strings.items()))

    def _insert(self, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
        marks = ", ".join("?" for _ in columns.split(","))
        sql = f'INSERT INTO "rocpd_{table}{self._suffix}" ({columns}) VALUES ({marks})'
        self._connection.executemany(sql, rows)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)

    def _event(self, category: str, correlation: int, extdata: Mapping[str, str] | None = None) -> int:
        self._events += 1
        row = (self._events, self._string(category), correlation, 0, 0, json.dumps(extdata or {}))
        self._insert("event", "id, category_id, stack_id, parent_stack_id, correlation_id, extdata", [row])
        return self._events

    def _write_metadata(self) -> None:
        tags = {"schema_version": "3", "uuid": self._suffix, "guid": self._guid}
        tags |= {f"capture.{key}": value for key, value in self._recording.metadata.items()}
        self._insert("metadata", "tag, value", tags.items())

    def _write_identities(self) -> None:
        recording, process = self._recording, self._recording.process
        times = [c.start_ns for c in recording.calls] + [c.end_ns for c in recording.calls]
        first, last = (min(times), max(times)) if times else (None, None)
        self._insert("info_node", "id, hash, machine_id", [(_NODE, 0, "")])
        self._insert(
            "info_process",
            "id, nid, pid, start, end, command, extdata",
            [(process, _NODE, process, first, last, recording.command, json.dumps(dict(recording.metadata)))],
        )
        threads = {c.thread for c in recording.calls}
        threads |= {o.thread for o in recording.ops} | {r.thread for r in recording.ranges}
        self._insert("info_thread", "id, nid, pid, tid", ((t, _NODE, process, t) for t in sorted(threads)))
        agents = [(_CPU_AGENT, "CPU", "host memory"), (_DEVICE_AGENT, "GPU", recording.device)]
        self._insert(
            "info_agent",
            "id, nid, pid, type, absolute_index, logical_index, type_index, name, product_name",
            ((i, _NODE, process, kind, i, i, 0, name, name) for i, kind, name in agents),
        )
        self._insert("info_queue", "id, nid, pid, name", [(_QUEUE, _NODE, process, "Queue 0")])
        self._insert(
            "info_stream",
            "id, nid, pid, name, extdata",
            (
                (
                    s.number,
                    _NODE,
                    process,
                    f"Stream {s.number}" if s.number else "Default Stream",
                    json.dumps({"nonblocking": True} if s.nonblocking else {}),
                )
                for s in recording.streams
            ),
        )

    def _region(self, thread: int, start_ns: int, end_ns: int, name: str, event: int) -> None:
        row = (_NODE, self._recording.process, thread, start_ns, end_ns, self._string(name), event)
        self._insert("region", "nid, pid, tid, start, end, name_id, event_id", [row])

    def _write_call(self, call: ApiCall) -> None:
        for frame in call.stack:
            self._region(call.thread, call.start_ns, call.end_ns, frame, self._event(_PYTHON, 0))
        event = self._event(_API, call.correlation)
        self._region(call.thread, call.start_ns, call.end_ns, call.name, event)
        rows = [(event, place, *arg) for place, arg in enumerate(call.args)]
        self._insert("arg", "event_id, position, type, name, value", rows)

    def _write_kernel(self, number: int, op: DeviceOp) -> None:
        process = self._recording.process
        if op.name not in self._kernels:
            kernel = self._kernels[op.name] = len(self._kernels) + 1
            row = (kernel, _NODE, process, op.name, op.name)
            self._insert("info_kernel_symbol", "id, nid, pid, kernel_name, display_name", [row])
        event = self._event("KERNEL_DISPATCH", op.correlation)
        grid = tuple(g * b for g, b in zip(op.grid, op.block, strict=True))  # work-items, as rocprofv3
        self._insert(
            "kernel_dispatch",
            "nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, end, "
            "private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, "
            "grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id, graph_exec_id",
            [
                (_NODE, process, op.thread, _DEVICE_AGENT, self._kernels[op.name], number, _QUEUE, op.stream)
                + (op.start_ns, op.end_ns, 0, op.lds_bytes, *op.block, *grid)
                + (self._string(""), event, op.graph_exec)
            ],
        )

    def _write_copy(self, op: DeviceOp) -> None:
        source, _, destination = op.copy_direction.partition("_TO_")
        agent = {"HOST": _CPU_AGENT, "DEVICE": _DEVICE_AGENT}
        event = self._event("MEMORY_COPY", op.correlation)
        name = self._string(f"MEMORY_COPY_{op.copy_direction}")
        extdata = json.dumps({"host_memory": op.host_memory} if op.host_memory else {})
        self._insert(
            "memory_copy",
            "nid, pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, "
            "event_id, extdata, graph_exec_id",
            [
                (_NODE, self._recording.process, op.thread, op.start_ns, op.end_ns, name)
                + (agent[destination], agent[source], op.bytes, op.stream, event, extdata, op.graph_exec)
            ],
        )
