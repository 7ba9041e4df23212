"""Trace: recorded events as numpy columns, with where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from overlap_lab.display import card, grid
from overlap_lab.errors import UsageError
from overlap_lab.native import nesting_depth
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    COLUMNS,
    DEVICE_KINDS,
    EARLIEST_NS,
    LATEST_NS,
    LONGEST_NS,
    NO_CORRELATION,
    Fault,
    Kind,
)
from overlap_lab.units import format_ns

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEFAULTS",
    "Column",
    "Mask",
    "Source",
    "Trace",
    "columns_of",
    "constant",
    "possible_times",
]

Mask = npt.NDArray[np.bool_]
Column = npt.NDArray[Any]

_NOTES = 5
"""Notes of a loader that a notebook shows."""
_DEVICE_KIND = np.isin(np.arange(256), DEVICE_KINDS)
"""Per number of a kind: whether it is a device op's."""

DEFAULTS: dict[str, int] = {
    "name": -1,
    "process": ABSENT_PROCESS,
    "thread": ABSENT,
    "device": ABSENT_DEVICE,
    "stream": ABSENT,
    "queue": ABSENT,
    "correlation": NO_CORRELATION,
    "wait_correlation": NO_CORRELATION,
    "bytes": ABSENT,
    "graph": ABSENT,
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trace came from, and what a loader knows about it beyond its rows."""

    files: tuple[str, ...] = ()
    format: str = "memory"
    vendor: str = "unknown"
    """"amd", "nvidia", "host" (our CPU runtime) or "unknown"."""
    tool: str = ""
    """Writer and version, as far as the file says."""
    clock: str = "unknown"
    """"boottime", "epoch", "nsys-session" or "unknown": only one clock per trace."""
    devices: Mapping[int, str] = field(default_factory=dict)
    """Device number -> device name."""
    processes: Mapping[int, str] = field(default_factory=dict)
    """Process id -> name or command."""
    null_streams: frozenset[int] = frozenset()
    """Stream numbers that are the legacy null stream in this file; empty where it does not say."""
    nonblocking_streams: frozenset[int] = frozenset()
    """Streams recorded as created non-blocking; a stream that is not listed counts as blocking."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Anything else worth printing: command, driver, rank, world size, capture settings."""
    faults: Mapping[Fault, int] = field(default_factory=dict)
    """What the loader repaired, skipped or found cut off, by count."""
    notes: tuple[str, ...] = ()
    """One sentence for each repair, skip or assumption, for people."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Events as columns; row i of every column is event i, ordered by start, ties by the longer first.

    `start_ns`, `end_ns`: integer ns of one clock, half open. `name`: index into `names`. `part`: link
    domain (file or GUID): rows of different parts never link. `process`, `thread`: the host side; for a
    device op the process that enqueued it and, where known, the thread. `device`, `stream`, `queue`: the
    device side; for a host call the stream and device that it names, where the file says so; for a SYNC row
    the stream that was waited for. `wait_correlation`: for a SYNC row of an event, the id of the call that
    recorded the event. `correlation`: id shared by an enqueue call and its ops (SYNC rows: the waiting
    call); 0 links nothing. `bytes`, `copy_kind`, `memory`: copies and memsets. `graph`: graph id, where
    known. `depth`: nesting depth of host rows on their thread, 0 outermost.
    """

    kind: Column
    api: Column
    name: Column
    start_ns: Column
    end_ns: Column
    part: Column
    process: Column
    thread: Column
    device: Column
    stream: Column
    queue: Column
    correlation: Column
    wait_correlation: Column
    bytes: Column
    copy_kind: Column
    memory: Column
    graph: Column
    depth: Column
    names: tuple[str, ...]
    source: Source

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], *, names: tuple[str, ...], source: Source) -> Trace:
        """A trace from any subset of columns; missing ones are absent, rows are sorted here.

        `depth` is computed from nesting where it is not given. Raises UsageError for an unknown column, for
        columns of different lengths, and for times that are none (`possible_times`).
        """
        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise UsageError(f"Trace.from_columns: unknown columns {sorted(unknown)}")
        sizes = {len(column) for column in columns.values()}
        if len(sizes) > 1:
            raise UsageError(f"Trace.from_columns: columns differ in length: {sorted(sizes)}")
        size = sizes.pop() if sizes else 0
        full = {
            name: np.asarray(columns[name]).astype(dtype, copy=False)
            if name in columns
            else constant(DEFAULTS.get(name, 0), size, dtype)
            for name, dtype in COLUMNS.items()
        }
        if not possible_times(full["start_ns"], full["end_ns"]).all():
            raise UsageError("Trace.from_columns: times are ns of one clock, within the limits of schema.py")
        order = _time_order(full["start_ns"], full["end_ns"])
        trace = cls(**{k: _in_order(v, order) for k, v in full.items()}, names=names, source=source)
        if "depth" not in columns:
            trace = trace.replace(depth=_nesting_depth(trace))
        return trace

    @classmethod
    def from_ordered(cls, columns: Mapping[str, Column], *, names: tuple[str, ...], source: Source) -> Trace:
        """A trace of all columns but the depth, in their types and order of rows, which are not checked."""
        unset = np.zeros(0, COLUMNS["depth"])
        trace = cls(**columns, depth=unset, names=names, source=source)
        return trace.replace(depth=_nesting_depth(trace))

    def __len__(self) -> int:
        return int(self.kind.size)

    def __repr__(self) -> str:
        devices = ", ".join(self.source.devices.values()) or "no device named"
        files = ", ".join(self.source.files) or "no file"
        return f"Trace({len(self):,} rows, {self.source.format}, {devices}, {files})"

    def _repr_html_(self) -> str:
        """Where the trace came from, and how many rows of each kind it has."""
        kinds, counts = np.unique(self.kind, return_counts=True)
        rows = [
            (Kind(kind).name.lower(), f"{count:,}")
            for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        ]
        length = int(self.end_ns.max()) - int(self.start_ns[0]) if len(self) else 0
        devices = ", ".join(self.source.devices.values()) or "no device named"
        said = f"{len(self):,} rows over {format_ns(length)}, {self.source.format}, {devices}"
        notes = self.source.notes
        told = grid(["note"], [[note] for note in notes[:_NOTES]], more=len(notes) - _NOTES) if notes else ""
        title = f"Trace of {', '.join(self.source.files) or 'no file'}"
        return card(title, said, grid(["kind", "rows"], rows), told)

    def where(self, selected: npt.NDArray[Any]) -> Trace:
        """The rows of a mask or index array, in the given order of rows."""
        picked = {name: getattr(self, name)[selected] for name in COLUMNS}
        return Trace(**picked, names=self.names, source=self.source)

    def replace(self, **changes: Any) -> Trace:
        """A copy with other columns, names or source; the order of rows is the caller's duty."""
        current = {f.name: getattr(self, f.name) for f in fields(self)}
        return Trace(**{**current, **changes})

    @property
    def is_device(self) -> Mask:
        """True for the rows that are device ops: kernels, copies, memsets."""
        return _DEVICE_KIND[self.kind]

    @property
    def is_host_call(self) -> Mask:
        """True for the rows that are runtime or driver API calls."""
        return np.asarray(self.kind == Kind.API)

    def name_of(self, row: int) -> str:
        """The name of one row; empty where it has none."""
        index = int(self.name[row])
        return self.names[index] if index >= 0 else ""

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one column for each of ours; enums as words, absent values as NA."""
        from overlap_lab.frames import trace_frame

        return trace_frame(self)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """The path of an Arrow IPC file with this trace, which `load` maps into memory instead of reading it.

        Written whole or not at all. Raises UsageError where there is a file and `force` does not say to
        replace it, or where it cannot be written; MissingDependency without pyarrow.
        """
        from overlap_lab.arrow_file import write_trace

        return write_trace(self, Path(path), force=force)

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """The trace that `save` wrote; its columns are views of the file that cannot be written.

        `overlap_lab.load` reads these files too. Raises InputError for anything else, or a damaged file;
        MissingDependency without pyarrow.
        """
        from overlap_lab.arrow_file import read_trace

        return read_trace(Path(path))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's C stream of the rows as `to_pandas` shows them, for polars, DuckDB, pyarrow and others.

        Columns are handed over without a copy. MissingDependency without pyarrow.
        """
        from overlap_lab.arrow_table import arrow_stream

        return arrow_stream(self, requested_schema)


def columns_of(trace: Trace) -> dict[str, Column]:
    """The columns by name, without names and source."""
    return {name: getattr(trace, name) for name in COLUMNS}


def possible_times(start_ns: Column, end_ns: Column) -> Mask:
    """True for the rows whose times can be times, so that all sums and differences of them are exact.

    False for all rows where their durations together do not fit.
    """
    inside = (np.minimum(start_ns, end_ns) >= EARLIEST_NS) & (np.maximum(start_ns, end_ns) <= LATEST_NS)
    duration = np.where(inside, end_ns, 0) - np.where(inside, start_ns, 0)
    inside &= duration <= LONGEST_NS
    fits = float(np.maximum(duration[inside], 0).sum(dtype=np.float64)) < LATEST_NS
    return np.asarray(inside & fits)


def constant(value: int, size: int, dtype: np.dtype[Any]) -> Column:
    """A column of one value, which takes no memory and cannot be written."""
    return np.broadcast_to(np.asarray(value, dtype), size)


def _in_order(column: Column, order: Column) -> Column:
    return column if column.strides == (0,) else column[order]


def _time_order(start: Column, end: Column) -> Column:
    """Rows by start, ties by the longer first, then as they are."""
    order = np.argsort(start, kind="stable")
    ordered = start[order]
    tied = np.zeros(ordered.size, bool)
    tied[1:] = ordered[1:] == ordered[:-1]
    tied[:-1] |= tied[1:]
    at = np.flatnonzero(tied)
    if at.size:
        rows = order[at]
        order[at] = rows[np.lexsort((-end[rows], start[rows]))]
    return order


def _nesting_depth(trace: Trace) -> Column:
    """How many rows of the same thread and kind enclose each host row."""
    host = (Kind.API, Kind.RANGE, Kind.CPU_OP, Kind.PYTHON)
    columns = (trace.kind, trace.process, trace.thread, trace.start_ns, trace.end_ns)
    return nesting_depth(*columns, kinds=sum(1 << kind for kind in host))
