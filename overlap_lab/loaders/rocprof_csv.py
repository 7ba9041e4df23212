"""rocprofv3 CSV sets, of every header generation, and what `rocpd convert -f csv` makes of a database.

Columns are found by name in any case, rows are in no order, and a file's kind is told by its header. Copy
bytes, argument values and the streams of host calls are in no version; `Process_Id` is in the API files only.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.alike import Coded, alike, looked_up
from overlap_lab.loaders.api_names import api_codes, copy_directions
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.csv_reading import read_tables
from overlap_lab.loaders.csv_sets import prefix_of
from overlap_lab.loaders.csv_table import TRACE_KINDS, Table, TableKind
from overlap_lab.loaders.device_rows import (
    adopt_processes,
    class_blit_kernels,
    copy_sides,
    fill_copies_from_calls,
    own,
)
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, DEVICE_KINDS, CopyKind, Kind
from overlap_lab.trace import Column, Source, Trace, constant

__all__ = ["read_rocprof_csv"]

_DIRECTIONS: Final = {
    "HOST_TO_DEVICE": CopyKind.HOST_TO_DEVICE,
    "DEVICE_TO_HOST": CopyKind.DEVICE_TO_HOST,
    "DEVICE_TO_DEVICE": CopyKind.DEVICE_TO_DEVICE,
    "HOST_TO_HOST": CopyKind.HOST_TO_HOST,
}
_PROCESSES: Final = 1 << 31
"""No process id is as large."""
_PASSED_OVER: Final = {
    TableKind.STATISTICS: "statistics",
    TableKind.COUNTERS: "hardware counters",
    TableKind.ALLOCATIONS: "allocations",
    TableKind.SAMPLES: "samples",
    TableKind.OTHER: "no events of a known kind",
}


def read_rocprof_csv(files: Sequence[Path]) -> Trace:
    """The trace in one CSV set: the files of one process, or of one `rocpd convert` call."""
    findings = Findings()
    tables = read_tables(files, findings)
    builder = TraceBuilder()
    reader = _Reader(tables, builder)
    kinds = {parts[0].kind for parts in tables}
    while tables:  # each is given back when its rows are added
        reader.add(tables.pop(0), findings)
    rows = builder.ordered()
    if not rows["kind"].size:
        raise BrokenTrace(_nothing(files, kinds))
    reader.complete(rows, files, findings)
    devices = np.unique(rows["device"][np.isin(rows["kind"], DEVICE_KINDS)]).tolist()
    source = Source(
        files=tuple(map(str, files)),
        format="rocprofv3-csv",
        vendor="amd",
        tool="rocprofv3",
        clock="boottime",
        devices={device: reader.agents.get(device, "") for device in devices if device != ABSENT_DEVICE},
        null_streams=frozenset({0} if reader.has_streams else ()),
        faults=findings.faults,
        notes=tuple(findings.notes),
    )
    return builder.build(rows, source)


def _nothing(files: Sequence[Path], kinds: Set[TableKind]) -> str:
    if kinds <= set(_PASSED_OVER) | {TableKind.AGENTS}:
        held = sorted({_PASSED_OVER.get(kind, "agents") for kind in kinds})
        return (
            f"{files[0]}: holds {', '.join(held)} only, no trace; record with "
            "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace"
        )
    return f"{files[0]}: no trace events (the files have headers and no rows)"


class _Reader:
    """Adds the tables of one set; holds what they share: agents, GUIDs, GPU numbers."""

    def __init__(self, tables: Sequence[Sequence[Table]], builder: TraceBuilder) -> None:
        self._builder = builder
        self._guids: dict[str, int] = {}
        self.agents: dict[int, str] = {}
        self.has_streams = False
        self._gpus: set[int] = set()
        parts = [part for parts in tables for part in parts]
        self._only_process = _only_process(parts)
        self._process_of_thread = {} if self._only_process is not None else _owners(parts)
        agents = [part for part in parts if part.kind is TableKind.AGENTS]
        for table in agents:
            numbers = table.agents("node_id").tolist()
            for number, kind, name in zip(
                numbers, table.text("agent_type"), table.text("product_name", "name"), strict=True
            ):
                if kind.upper() == "GPU":
                    self._gpus.add(number)
                    self.agents[number] = name
        if not agents:
            for table in parts:
                if table.kind is TableKind.KERNELS:
                    self._gpus |= table.distinct_agents("agent_id")

    def add(self, parts: list[Table], findings: Findings) -> None:
        """Add a file's rows by its kind; other kinds leave a note. The parts are taken."""
        kind, path = parts[0].kind, parts[0].path
        if kind is TableKind.CALLS:
            self._add_calls(parts)
        elif kind in _PASSED_OVER:
            findings.note(f"{path.name}: {_PASSED_OVER[kind]}, passed over.")
        elif kind is not TableKind.AGENTS:
            add = self._add_kernels if kind is TableKind.KERNELS else self._add_copies
            while parts:
                add(parts.pop(0))

    def _shared(self, table: Table) -> Columns:
        guid = table.coded("guid")
        numbers = [self._guids.setdefault(text, len(self._guids)) for text in guid.texts]
        return {
            "part": looked_up(np.array(numbers, np.int32), guid.codes),
            "start_ns": table.integers("start_timestamp"),
            "end_ns": table.integers("end_timestamp"),
            "correlation": table.ids("correlation_id"),
            "process": self._processes(table),
            "thread": table.integers("thread_id"),
        }

    def _processes(self, table: Table) -> Column:
        """The process of each row; of one without that of all calls, or of its thread if it has but one."""
        process, thread = table.integers("process_id"), table.integers("thread_id")
        lost = (process <= ABSENT_PROCESS) | (process >= _PROCESSES)
        if self._only_process is not None and bool((lost | (process == self._only_process)).all()):
            return constant(self._only_process, table.size, np.dtype(np.int32))  # takes no memory
        if not lost.any():
            return process
        if self._only_process is not None:
            return np.where(lost, self._only_process, process)
        if not self._process_of_thread:
            return process
        first, place = alike(thread)
        owners = [self._process_of_thread.get(number, ABSENT) for number in thread[first].tolist()]
        owner = looked_up(np.array(owners, np.int64), place)
        return owner if lost.all() else np.where(lost, owner, process)

    def _add_calls(self, parts: list[Table]) -> None:
        ranges = []
        while parts:
            table = parts.pop(0)
            domain = table.coded("domain")
            kinds = np.array([_domain(text) for text in domain.texts], np.uint8)
            names, shared = table.coded("function"), self._shared(table)
            if (kinds == Kind.API).all():
                self._add_api(self._named(names), names, shared)
                continue
            is_range = (kinds == Kind.RANGE)[domain.codes]
            picked, columns = _picked(names, shared, np.flatnonzero(~is_range))
            self._add_api(picked.interned(self._builder), picked, columns)
            ranges.append(_picked(names, shared, np.flatnonzero(is_range)))
        for names, shared in ranges:  # behind all calls of the file
            self._builder.add(Kind.RANGE, names.interned(self._builder), **shared)

    def _named(self, names: Coded) -> Column:
        """As `Coded.interned`, for texts that are in the order in which they come first."""
        return looked_up(self._builder.interned(names.texts), names.codes)

    def _add_api(self, codes: Column, names: Coded, shared: Columns) -> None:
        said = {
            "api": looked_up(api_codes(names.texts), names.codes),
            "copy_kind": looked_up(copy_directions(names.texts), names.codes),
        }
        self._builder.add(Kind.API, codes, **shared, **said)

    def _streams(self, table: Table) -> Columns:
        self.has_streams |= table.has("stream_id")
        return {"stream": table.integers("stream_id"), "queue": table.integers("queue_id")}

    def _add_kernels(self, table: Table) -> None:
        self._builder.add(
            Kind.KERNEL,
            self._named(table.coded("kernel_name")),
            device=table.agents("agent_id"),
            **self._shared(table),
            **self._streams(table),
        )

    def _add_copies(self, table: Table) -> None:
        names = table.coded("direction", "name")
        said = names.each(_direction, np.uint8)
        source, target = table.agents("source_agent_id"), table.agents("destination_agent_id")
        device, kind = copy_sides(said, source, target, self._gpus)
        self._builder.add(
            Kind.MEMCPY,
            self._named(names),
            device=device,
            copy_kind=kind,
            **self._shared(table),
            **self._streams(table),
        )

    def complete(self, rows: Columns, files: Sequence[Path], findings: Findings) -> None:
        """Fill in, in place, the process of device rows and what blit kernels were."""
        adopt_processes(rows, rows["device"])
        unknown = rows["process"] == ABSENT_PROCESS
        if unknown.any():
            prefix = prefix_of(files[0]).rpartition("_")[2]
            if prefix.isdecimal() and int(prefix) < _PROCESSES:
                own(rows, "process")[unknown] = int(prefix)
                findings.note(f"The process id {prefix} is taken from the file name.")
        class_blit_kernels(rows, self._builder.names(), findings)
        fill_copies_from_calls(rows)


def _only_process(tables: Sequence[Table]) -> int | None:
    """The process of all calls, where each of them names it; None also where there are several parts."""
    calls = [table for table in tables if table.kind is TableKind.CALLS and table.size]
    domains = {text for table in calls for text in table.coded("domain").texts}
    if not any(_domain(text) == Kind.API for text in domains) or any(table.has("guid") for table in tables):
        return None
    processes = [table.integers("process_id") for table in calls]
    numbers = {int(number) for each in processes for number in (each.min(), each.max())}
    known = len(numbers) == 1 and ABSENT_PROCESS < min(numbers) < _PROCESSES
    return numbers.pop() if known else None


def _owners(tables: Sequence[Table]) -> dict[int, int]:
    """The process of each thread that is in the rows of one process alone."""
    seen: dict[int, set[int]] = {}
    for table in tables:
        if table.kind not in TRACE_KINDS or not table.has("process_id") or not table.has("thread_id"):
            continue
        process, thread = table.integers("process_id"), table.integers("thread_id")
        first, _ = alike(thread, process)
        for number, owner in zip(thread[first].tolist(), process[first].tolist(), strict=True):
            if number != ABSENT and ABSENT_PROCESS < owner < _PROCESSES:
                seen.setdefault(number, set()).add(owner)
    return {thread: owners.pop() for thread, owners in seen.items() if len(owners) == 1}


def _picked(names: Coded, columns: Columns, rows: Column) -> tuple[Coded, Columns]:
    return names.rows(rows), {name: column[rows] for name, column in columns.items()}


def _domain(text: str) -> Kind:
    return Kind.RANGE if text.upper().startswith("MARKER") else Kind.API


def _direction(name: str) -> CopyKind:
    return _DIRECTIONS.get(name.upper().removeprefix("MEMORY_COPY_"), CopyKind.UNKNOWN)
