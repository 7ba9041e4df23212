"""The records of one process of a rocprofv3 JSON file as Python objects: also of a damaged file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from overlap_lab.loaders.api_names import api_codes
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.call_arguments import CallArguments
from overlap_lab.loaders.device_rows import copy_sides
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.loaders.rocprof_json_names import (
    COPIES,
    KERNELS,
    MARKERS,
    NULL_STREAM,
    ON_A_STREAM,
    ProcessNames,
    direction_of,
    mapping,
    objects,
    shortened,
)
from overlap_lab.schema import ABSENT, Kind
from overlap_lab.trace import Column

__all__ = ["ProcessRecords"]


class ProcessRecords:
    """Adds the rows of one process to the builder."""

    def __init__(self, number: int, process: Event, builder: TraceBuilder, findings: Findings) -> None:
        self._number = number
        self._builder = builder
        self._findings = findings
        self.names = ProcessNames(process)
        self._lists = mapping(process.get("buffer_records"))
        self._symbols = {
            integer(each.get("kernel_id")): each for each in objects(process.get("kernel_symbols"))
        }
        counters = mapping(process.get("callback_records")).get("counter_collection")
        self.passed_over = ["counter_collection"] if counters else []

    def add(self) -> None:
        """Add every kernel, copy, host call and marker."""
        kernels, copies = self._kernels(), self._copies()
        ops = [(rows["correlation"], rows["stream"]) for rows in (kernels, copies)]
        for name, records in self._lists.items():
            if name == MARKERS:
                self._markers()
            elif name.endswith("_api"):
                self._calls(name, ops)
            elif name not in (KERNELS, COPIES) and isinstance(records, list) and records:
                self.passed_over.append(name)
        if self.passed_over:
            self._findings.note(
                f"Passed over, as no host calls or device ops: {shortened(self.passed_over)}."
            )

    def _records(self, name: str) -> list[Event]:
        given = self._lists.get(name)
        records = objects(given)
        lost = len(given) - len(records) if isinstance(given, list) else given not in (None, {})
        self._findings.skip(lost, f"values of {name} that are no records")
        return records

    def _shared(self, records: list[Event]) -> Columns:
        links = [each.get("correlation_id") for each in records]
        size = len(records)
        return {
            "part": np.full(size, self._number, np.int16),
            "process": np.full(size, self.names.pid, np.int32),
            "thread": integer_column([each.get("thread_id") for each in records]),
            "start_ns": integer_column([each.get("start_timestamp") for each in records]),
            "end_ns": integer_column([each.get("end_timestamp") for each in records]),
            "correlation": unsigned_column([mapping(each).get("internal", 0) for each in links]),
        }

    def _kernels(self) -> Columns:
        records = self._records(KERNELS)
        dispatches = [mapping(each.get("dispatch_info")) for each in records]
        names, place = self._kernel_names(integer_column([each.get("kernel_id") for each in dispatches]))
        columns = self._shared(records) | {
            "device": self.names.devices([each.get("agent_id") for each in dispatches]),
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
        records = self._records(COPIES)
        names, place = self._operation_names(COPIES, records)
        said = np.array([direction_of(name) for name in names], np.uint8)[place]
        source = self.names.devices([each.get("src_agent_id") for each in records])
        target = self.names.devices([each.get("dst_agent_id") for each in records])
        device, kind = copy_sides(said, source, target, self.names.gpus)
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
        arguments = CallArguments(_arguments(records), links, ops, NULL_STREAM if tracked else None)
        shown = [names[at] for at in place.tolist()]
        columns |= arguments.columns(range(len(records)), shown)
        stream = self._streams(records)
        says = (stream != ABSENT) & np.isin(api, ON_A_STREAM)
        columns["stream"] = np.where(says, stream, columns["stream"])
        self._builder.add_timed(Kind.API, self._builder.interned(names)[place], columns, self._findings)

    def _markers(self) -> None:
        records = self._records(MARKERS)
        names, place = self._operation_names(MARKERS, records)
        columns = self._shared(records)
        links = columns["correlation"].tolist()
        texts = [
            self.names.messages.get(link) or names[at] for link, at in zip(links, place.tolist(), strict=True)
        ]
        self._builder.add_timed(Kind.RANGE, texts, columns, self._findings)

    def _operation_names(self, name: str, records: list[Event]) -> tuple[list[str], Column]:
        """The distinct names of the records' operations, and for each record the place of its own."""
        kinds = integer_column([each.get("kind") for each in records])
        operations = integer_column([each.get("operation") for each in records])
        pairs = np.stack([kinds, operations])
        distinct, place = np.unique(pairs, axis=1, return_inverse=True)
        shown = self.names.operations(name, [(kind, number) for kind, number in distinct.T.tolist()])
        return shown, place.ravel()

    def _streams(self, records: list[Event]) -> Column:
        """The stream of each record; absent where the tool was told to group by queue, which makes all 0."""
        if self.names.by_queue:
            self._findings.note("Recorded with --group-by-queue: streams are unknown.")
            return np.full(len(records), ABSENT)
        return _handles([each.get("stream_id") for each in records])


def _handles(values: list[Any]) -> Column:
    return integer_column([each.get("handle") if isinstance(each, dict) else each for each in values])


def _graphs(records: list[Event]) -> Column:
    graphs = _handles([each.get("graph_exec_id") for each in records])
    return np.where(graphs == 0, ABSENT, graphs)


def _arguments(records: list[Event]) -> Iterator[tuple[int, Any, Any, Any]]:
    """(place of the call, type, name, value) of each argument, given as a list or as one object."""
    for place, record in enumerate(records):
        given = record.get("args")
        if isinstance(given, dict):
            yield from ((place, None, name, value) for name, value in given.items())
        for each in objects(given):
            yield place, each.get("type"), each.get("name"), each.get("value")
