"""The records of one process of a rocprofv3 JSON file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.api_names import api_codes
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.call_arguments import CallArguments
from overlap_lab.loaders.device_rows import copy_sides
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Api, CopyKind, Fault, Kind
from overlap_lab.trace import Column

__all__ = ["ProcessRecords", "mapping", "shortened"]

_GPU: Final = 2
_SHOWN: Final = 8
_NULL_STREAM: Final = 0
_MARKERS: Final = "marker_api"
_KERNELS: Final = "kernel_dispatch"
_COPIES: Final = "memory_copy"
_ON_A_STREAM: Final = (
    Api.LAUNCH,
    Api.GRAPH_LAUNCH,
    Api.HOST_FUNC,
    Api.MEMCPY,
    Api.MEMCPY_ASYNC,
    Api.MEMSET,
    Api.MEMSET_ASYNC,
    Api.STREAM_SYNC,
    Api.STREAM_WAIT_EVENT,
    Api.EVENT_RECORD,
    Api.ASYNC_ALLOC,
    Api.STREAM_DESTROY,
)
"""Calls whose `stream_id` says something; the tool writes the null stream beside all others."""


class ProcessRecords:
    """Adds the rows of one process to the builder; holds its agents, names and strings."""

    def __init__(self, number: int, process: Event, builder: TraceBuilder, findings: Findings) -> None:
        self._number = number
        self._builder = builder
        self._findings = findings
        self._lists = mapping(process.get("buffer_records"))
        self.metadata = mapping(process.get("metadata"))
        pid = integer(self.metadata.get("pid"), ABSENT_PROCESS)
        self.pid = pid if 0 <= pid < 1 << 31 else ABSENT_PROCESS
        self._by_queue = mapping(self.metadata.get("config")).get("group_by_queue") is True
        strings = mapping(process.get("strings"))
        kinds = _objects(strings.get("buffer_records"))
        self._kinds = [str(kind.get("kind", "")) for kind in kinds]
        self._operations = [kind.get("operations") for kind in kinds]
        self._messages = {
            integer(each.get("key")): str(each.get("value", "")) for each in _objects(strings.get(_MARKERS))
        }
        self._symbols = {
            integer(each.get("kernel_id")): each for each in _objects(process.get("kernel_symbols"))
        }
        self._read_agents(_objects(process.get("agents")))
        counters = mapping(process.get("callback_records")).get("counter_collection")
        self.passed_over = ["counter_collection"] if counters else []

    def _read_agents(self, agents: list[Event]) -> None:
        self._agents = {_handle(agent.get("id")): integer(agent.get("node_id")) for agent in agents}
        gpus = [agent for agent in agents if agent.get("type") == _GPU]
        self.device_names = {
            integer(agent.get("node_id")): str(agent.get("product_name") or agent.get("name") or "")
            for agent in gpus
        }
        self._gpus = set(self.device_names)

    def add(self) -> None:
        """Add every kernel, copy, host call and marker."""
        kernels, copies = self._kernels(), self._copies()
        ops = [(rows["correlation"], rows["stream"]) for rows in (kernels, copies)]
        for name, records in self._lists.items():
            if name == _MARKERS:
                self._markers()
            elif name.endswith("_api"):
                self._calls(name, ops)
            elif name not in (_KERNELS, _COPIES) and isinstance(records, list) and records:
                self.passed_over.append(name)
        if self.passed_over:
            self._findings.note(
                f"Passed over, as no host calls or device ops: {shortened(self.passed_over)}."
            )

    def _records(self, name: str) -> list[Event]:
        given = self._lists.get(name)
        records = _objects(given)
        lost = len(given) - len(records) if isinstance(given, list) else 0
        self._findings.count(Fault.ROWS_SKIPPED, lost)
        return records

    def _shared(self, records: list[Event]) -> Columns:
        links = [each.get("correlation_id") for each in records]
        size = len(records)
        return {
            "part": np.full(size, self._number, np.int16),
            "process": np.full(size, self.pid, np.int32),
            "thread": integer_column([each.get("thread_id") for each in records]),
            "start_ns": integer_column([each.get("start_timestamp") for each in records]),
            "end_ns": integer_column([each.get("end_timestamp") for each in records]),
            "correlation": unsigned_column([mapping(each).get("internal", 0) for each in links]),
        }

    def _kernels(self) -> Columns:
        records = self._records(_KERNELS)
        dispatches = [mapping(each.get("dispatch_info")) for each in records]
        names, place = self._kernel_names(integer_column([each.get("kernel_id") for each in dispatches]))
        columns = self._shared(records) | {
            "device": self._devices([each.get("agent_id") for each in dispatches]),
            "queue": _handles([each.get("queue_id") for each in dispatches]),
            "stream": self._streams(records),
            "graph": _graphs(records),
        }
        self._builder.add_timed(Kind.KERNEL, self._builder.interned(names)[place], columns, self._findings)
        return columns

    def _kernel_names(self, ids: Column) -> tuple[list[str], Column]:
        distinct, place = np.unique(ids, return_inverse=True)
        keys = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")
        names = []
        for number in distinct.tolist():
            symbol = self._symbols.get(number, {})
            names.append(next((str(symbol[key]) for key in keys if symbol.get(key)), f"kernel {number}"))
        return names, place

    def _copies(self) -> Columns:
        records = self._records(_COPIES)
        names, place = self._operation_names(_COPIES, records)
        said = np.array([_direction(name) for name in names], np.uint8)[place]
        source = self._devices([each.get("src_agent_id") for each in records])
        target = self._devices([each.get("dst_agent_id") for each in records])
        device, kind = copy_sides(said, source, target, self._gpus)
        columns = self._shared(records) | {
            "device": device,
            "copy_kind": kind,
            "stream": self._streams(records),
            "bytes": integer_column([each.get("bytes") for each in records]),
            "graph": _graphs(records),
        }
        self._builder.add_timed(Kind.MEMCPY, self._builder.interned(names)[place], columns, self._findings)
        return columns

    def _calls(self, name: str, ops: list[tuple[Column, Column]]) -> None:
        records = self._records(name)
        if not records:
            return
        names, place = self._operation_names(name, records)
        api = api_codes(names)[place]
        columns = self._shared(records) | {"api": api}
        links = dict(enumerate(columns["correlation"].tolist()))
        tracked = any(bool((streams != ABSENT).any()) for _, streams in ops)
        arguments = CallArguments(_arguments(records), links, ops, _NULL_STREAM if tracked else None)
        shown = [names[at] for at in place.tolist()]
        columns |= arguments.columns(range(len(records)), shown)
        stream = self._streams(records)
        says = (stream != ABSENT) & np.isin(api, _ON_A_STREAM)
        columns["stream"] = np.where(says, stream, columns["stream"])
        self._builder.add_timed(Kind.API, self._builder.interned(names)[place], columns, self._findings)

    def _markers(self) -> None:
        records = self._records(_MARKERS)
        names, place = self._operation_names(_MARKERS, records)
        columns = self._shared(records)
        links = columns["correlation"].tolist()
        texts = [
            self._messages.get(link) or names[at] for link, at in zip(links, place.tolist(), strict=True)
        ]
        self._builder.add_timed(Kind.RANGE, texts, columns, self._findings)

    def _operation_names(self, name: str, records: list[Event]) -> tuple[list[str], Column]:
        """The distinct names of the records' operations, and for each record the place of its own."""
        kinds = integer_column([each.get("kind") for each in records])
        operations = integer_column([each.get("operation") for each in records])
        pairs = np.stack([kinds, operations])
        distinct, place = np.unique(pairs, axis=1, return_inverse=True)
        found = [self._operation(kind, number) for kind, number in distinct.T.tolist()]
        if name == "hip_api" and found and not any(found):
            raise BrokenTrace(
                f"host calls of process {self.pid} have no names: 'strings' is missing or cannot be read; "
                "record again with -f rocpd"
            )
        shown = [text or f"{name} {number}" for text, number in zip(found, distinct[1].tolist(), strict=True)]
        return shown, place.ravel()

    def _operation(self, kind: int, number: int) -> str:
        named = self._operations[kind] if 0 <= kind < len(self._operations) else None
        return str(named[number]) if isinstance(named, list) and 0 <= number < len(named) else ""

    def _devices(self, agents: list[Any]) -> Column:
        """The `node_id` of each agent; ABSENT_DEVICE for an agent that the file does not list."""
        wide = integer_column([self._agents.get(_handle(agent), ABSENT) for agent in agents])
        fits = (wide >= 0) & (wide <= np.iinfo(np.int16).max)
        return np.where(fits, wide, ABSENT_DEVICE).astype(np.int16)

    def _streams(self, records: list[Event]) -> Column:
        """The stream of each record; absent where the tool was told to group by queue, which makes all 0."""
        if self._by_queue:
            self._findings.note("Recorded with --group-by-queue: streams are unknown.")
            return np.full(len(records), ABSENT)
        return _handles([each.get("stream_id") for each in records])


def shortened(names: list[str]) -> str:
    """The names in one line, whatever is in them and however many there are."""
    shown = ", ".join(repr(name[:40]) for name in names[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")


def mapping(value: Any) -> Event:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Event]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _handle(value: Any) -> int:
    return integer(value.get("handle") if isinstance(value, dict) else value)


def _handles(values: list[Any]) -> Column:
    return integer_column([each.get("handle") if isinstance(each, dict) else each for each in values])


def _graphs(records: list[Event]) -> Column:
    graphs = _handles([each.get("graph_exec_id") for each in records])
    return np.where(graphs == 0, ABSENT, graphs)


def _direction(name: str) -> CopyKind:
    return CopyKind.__members__.get(name.upper().removeprefix("MEMORY_COPY_"), CopyKind.UNKNOWN)


def _arguments(records: list[Event]) -> Iterator[tuple[int, Any, Any, Any]]:
    """(place of the call, type, name, value) of each argument, given as a list or as one object."""
    for place, record in enumerate(records):
        given = record.get("args")
        if isinstance(given, dict):
            yield from ((place, None, name, value) for name, value in given.items())
        for each in _objects(given):
            yield place, each.get("type"), each.get("name"), each.get("value")
