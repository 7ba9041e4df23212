"""The rows of one GUID of a rocpd file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.api_names import api_codes
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.call_arguments import CallArguments
from overlap_lab.loaders.numbers import integer_column, unsigned_column
from overlap_lab.loaders.rocpd_tables import GuidTables
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, CopyKind, Kind, Memory
from overlap_lab.trace import Column

__all__ = ["REGION_KINDS", "Part", "Provenance", "host_memory", "message_in", "region_kind"]

REGION_KINDS: Final = (Kind.API, Kind.RANGE, Kind.PYTHON)
_STREAM_NAME: Final = re.compile(r"Stream (\d{1,18})")
_NULL_STREAM: Final = "Default Stream"
_API: Final = (
    "HIP_",
    "HSA_",
    "RCCL_",
    "ROCDECODE_",
    "ROCJPEG_",
    "hip_",
    "hsa_",
    "rccl_",
    "rocm_hip",
    "rocm_hsa",
)
_API_NAME: Final = re.compile(r"_{0,2}hip[A-Z]|hsa_|nccl[A-Z]")
_DIRECTIONS: Final = {
    ("CPU", "GPU"): CopyKind.HOST_TO_DEVICE,
    ("GPU", "CPU"): CopyKind.DEVICE_TO_HOST,
    ("CPU", "CPU"): CopyKind.HOST_TO_HOST,
}
_MEMORY: Final = {"pinned": Memory.PINNED, "pageable": Memory.PAGEABLE}
_METADATA: Final = ("schema_version",)
_CAPTURE_TAG: Final = "capture."  # what our own host capture says about itself


@dataclass(slots=True)
class Provenance:
    """What the parts of a file say about where it came from."""

    devices: dict[int, str] = field(default_factory=dict)
    processes: dict[int, str] = field(default_factory=dict)
    null_streams: set[int] = field(default_factory=set)
    nonblocking_streams: set[int] = field(default_factory=set)
    metadata: dict[str, str] = field(default_factory=dict)


class Part:
    """Reads one GUID's tables into the builder; holds its id -> value maps."""

    def __init__(
        self,
        number: int,
        tables: GuidTables,
        builder: TraceBuilder,
        provenance: Provenance,
        findings: Findings,
    ) -> None:
        self._number = number
        self._tables = tables
        self._builder = builder
        self._provenance = provenance
        self._findings = findings

    def read(self) -> None:
        """Add every region, mark, kernel and copy of this GUID."""
        self._read_identities()
        self._read_events()
        kernels = self._kernels()
        copies = self._copies()
        streams = (kernels.pop("link"), kernels["stream"]), (copies.pop("link"), copies["stream"])
        arguments = self._tables.columns("arg", "event_id", "type", "name", "value")
        self._arguments = CallArguments(
            zip(*arguments, strict=True), self._links_of_regions(), streams, self._null_stream
        )
        self._add_regions()
        self._add_marks()

    def _read_identities(self) -> None:
        tables, provenance = self._tables, self._provenance
        strings = tables.by_id("string", "string")
        self._strings = {key: str(text) for key, text in strings.items() if text is not None}
        self._pids = tables.by_id("info_process", "pid")
        self._tids = tables.by_id("info_thread", "tid")
        commands = tables.by_id("info_process", "command")
        provenance.processes |= {
            pid: str(commands.get(key) or "") for key, pid in self._pids.items() if pid is not None
        }
        tags, values = tables.columns("metadata", "tag", "value")
        provenance.metadata |= {
            tag.removeprefix(_CAPTURE_TAG): str(value)
            for tag, value in zip(map(str, tags), values, strict=True)
            if tag in _METADATA or tag.startswith(_CAPTURE_TAG)
        }
        self._read_agents()
        self._read_streams()

    def _read_events(self) -> None:
        events = self._tables.columns("event", "id", "stack_id", "category_id", "extdata")
        self._event_row = dict(zip(events[0], range(len(events[0])), strict=True))
        self._links, self._categories, self._extdata = events[1:]

    def _read_agents(self) -> None:
        ids, kinds, numbers, *names = self._tables.columns(
            "info_agent", "id", "type", "absolute_index", "product_name", "name"
        )
        self._agent_kinds = dict(zip(ids, kinds, strict=True))
        self._agent_numbers = dict(zip(ids, numbers, strict=True))
        for number, kind, product, name in zip(numbers, kinds, *names, strict=True):
            if kind == "GPU" and number is not None:
                self._provenance.devices[number] = str(product or name or "")

    def _read_streams(self) -> None:
        """Stream numbers: those in the names where they tell all streams apart, else the ids."""
        ids, names, extras = self._tables.columns("info_stream", "id", "name", "extdata")
        found = [_STREAM_NAME.fullmatch(str(name)) for name in names]
        numbers = [
            0 if name == _NULL_STREAM else int(m[1]) if m else None
            for name, m in zip(names, found, strict=True)
        ]
        if None in numbers or len(set(numbers)) < len(numbers):
            numbers = list(ids)
        self._stream_numbers = dict(zip(ids, numbers, strict=True))
        named = [n for n, name in zip(numbers, names, strict=True) if name == _NULL_STREAM]
        self._null_stream = named[0] if named else self._stream_numbers.get(0, ABSENT)
        self._provenance.null_streams.add(ABSENT if self._null_stream is None else self._null_stream)
        for number, extra in zip(numbers, extras, strict=True):
            if number is not None and _json_object(extra).get("nonblocking"):
                self._provenance.nonblocking_streams.add(number)

    def _mapped(self, ids: Sequence[Any], known: dict[int, Any], absent: int) -> Column:
        """The numbers that ids stand for; an id without a row in its table stands for itself."""
        return integer_column([known.get(i, i) for i in ids], absent)

    def _linked(self, events: Sequence[Any]) -> Column:
        rows = [self._event_row.get(event) for event in events]
        return unsigned_column([0 if row is None else self._links[row] or 0 for row in rows])

    def _shared(
        self, pid: Sequence[Any], tid: Sequence[Any], start: Sequence[Any], end: Sequence[Any]
    ) -> Columns:
        return {
            "part": np.full(len(pid), self._number, np.int32),
            "process": self._mapped(pid, self._pids, ABSENT_PROCESS),
            "thread": self._mapped(tid, self._tids, ABSENT),
            "start_ns": integer_column(start),
            "end_ns": integer_column(end),
        }

    def _kernels(self) -> Columns:
        pid, tid, agent, kernel, queue, stream, start, end, event, graph = self._tables.columns(
            "kernel_dispatch",
            *("pid", "tid", "agent_id", "kernel_id", "queue_id", "stream_id", "start", "end", "event_id"),
            "graph_exec_id",
        )
        shown = self._tables.by_id("info_kernel_symbol", "display_name")
        mangled = self._tables.by_id("info_kernel_symbol", "kernel_name")
        columns = self._shared(pid, tid, start, end) | {
            "correlation": self._linked(event),
            "device": self._mapped(agent, self._agent_numbers, ABSENT_DEVICE),
            "stream": self._mapped(stream, self._stream_numbers, ABSENT),
            "queue": integer_column(queue),
            "graph": integer_column([number or None for number in graph]),
        }
        names = [str(shown.get(k) or mangled.get(k) or f"kernel {k}") for k in kernel]
        self._builder.add_timed(Kind.KERNEL, names, columns, self._findings)
        return {"link": columns["correlation"], "stream": columns["stream"]}

    def _copies(self) -> Columns:
        pid, tid, start, end, name, target, source, size, queue, stream, event, extra, graph = (
            self._tables.columns(
                "memory_copy",
                *(
                    "pid",
                    "tid",
                    "start",
                    "end",
                    "name_id",
                    "dst_agent_id",
                    "src_agent_id",
                    "size",
                    "queue_id",
                ),
                *("stream_id", "event_id", "extdata", "graph_exec_id"),
            )
        )
        names = [str(self._strings.get(n) or "MEMORY_COPY") for n in name]
        sides = [self._copy_side(s, t, n) for s, t, n in zip(source, target, names, strict=True)]
        columns = self._shared(pid, tid, start, end) | {
            "correlation": self._linked(event),
            "device": self._mapped([agent for agent, _ in sides], self._agent_numbers, ABSENT_DEVICE),
            "stream": self._mapped(stream, self._stream_numbers, ABSENT),
            "queue": integer_column(queue),
            "bytes": integer_column(size),
            "copy_kind": np.array([kind for _, kind in sides], np.uint8),
            "memory": np.array([host_memory(each) for each in extra], np.uint8),
            "graph": integer_column([number or None for number in graph]),
        }
        self._builder.add_timed(Kind.MEMCPY, names, columns, self._findings)
        return {"link": columns["correlation"], "stream": columns["stream"]}

    def _copy_side(self, source: int | None, target: int | None, name: str) -> tuple[int | None, CopyKind]:
        """The agent whose copy this is, and its direction; the agents' types come before the name."""
        types = (self._agent_kinds.get(source), self._agent_kinds.get(target))
        if types == ("GPU", "GPU"):
            return source, CopyKind.DEVICE_TO_DEVICE if source == target else CopyKind.PEER_TO_PEER
        kind = _DIRECTIONS.get((str(types[0]), str(types[1])))
        if kind is None:
            kind = CopyKind.__members__.get(name.removeprefix("MEMORY_COPY_"), CopyKind.UNKNOWN)
        return (target if kind == CopyKind.HOST_TO_DEVICE else source), kind

    def _links_of_regions(self) -> dict[Any, int]:
        self._regions = self._tables.columns(
            "region", "pid", "tid", "start", "end", "name_id", "event_id", "extdata"
        )
        self._region_names = [str(self._strings.get(name) or "") for name in self._regions[4]]
        return dict(zip(self._regions[5], self._linked(self._regions[5]).tolist(), strict=True))

    def _add_regions(self) -> None:
        pid, tid, start, end, _, event, extra = self._regions
        columns = self._shared(pid, tid, start, end) | {"correlation": self._linked(event)}
        kinds = np.array([self._kind(e, n) for e, n in zip(event, self._region_names, strict=True)], np.uint8)
        for kind in REGION_KINDS:
            here = np.flatnonzero(kinds == kind)
            rows = here.tolist()
            mine = {key: column[here] for key, column in columns.items()}
            names = [self._region_names[row] for row in rows]
            if kind == Kind.API:
                mine |= {"api": api_codes(names)} | self._arguments.columns(
                    [event[row] for row in rows], names
                )
            else:
                names = [self._message(event[r], extra[r]) or self._region_names[r] for r in rows]
            self._builder.add_timed(kind, names, mine, self._findings)

    def _add_marks(self) -> None:
        track, time, event, extra = self._tables.columns(
            "sample", "track_id", "timestamp", "event_id", "extdata"
        )
        pids, tids = self._tables.by_id("track", "pid"), self._tables.by_id("track", "tid")
        labels = self._tables.by_id("track", "name_id")
        names = [
            self._message(e, x) or str(self._strings.get(labels.get(t, -1)) or "mark")
            for t, e, x in zip(track, event, extra, strict=True)
        ]
        columns = self._shared([pids.get(t) for t in track], [tids.get(t) for t in track], time, time)
        self._builder.add_timed(Kind.RANGE, names, columns, self._findings)

    def _kind(self, event: int | None, name: str) -> Kind:
        row = self._event_row.get(event) if event is not None else None
        return region_kind(self._strings.get(self._categories[row]) if row is not None else None, name)

    def _message(self, event: int | None, own: Any) -> str:
        row = self._event_row.get(event) if event is not None else None
        return message_in(self._extdata[row] if row is not None else None, own)


def region_kind(category: str | None, name: str) -> Kind:
    """What a region is, by its event's category, else by its own name: a host call, a Python frame as
    rocprofiler-systems writes them and our own host captures, or a range."""
    if category == "python":
        return Kind.PYTHON
    is_call = category.startswith(_API) if category else bool(_API_NAME.match(name))
    return Kind.API if is_call else Kind.RANGE


def message_in(*extras: Any) -> str:
    """A marker's text, which its event's or its own extdata holds."""
    for extra in extras:
        message = _json_object(extra).get("message")
        if message is not None:
            return str(message)
    return ""


def host_memory(extra: Any) -> Memory:
    """The host side of a copy, where its extdata says it."""
    return _MEMORY.get(str(_json_object(extra).get("host_memory")), Memory.UNKNOWN)


def _json_object(text: Any) -> dict[str, Any]:
    """The JSON object that this text is; an empty one for anything else."""
    if not text or text == "{}":
        return {}
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
