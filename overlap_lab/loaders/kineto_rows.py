"""Rows of a trace from the raw columns of Kineto events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.api_names import api_codes, copy_directions
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.kineto_devices import ON_DEVICE
from overlap_lab.loaders.kineto_raw import UNKNOWN, RawEvents, decoded, joined, raw_events
from overlap_lab.loaders.kineto_values import NO_STREAM, call_direction, copy_direction, memory_of
from overlap_lab.native import EventParser
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    COLUMNS,
    Api,
    CopyKind,
    Fault,
    Kind,
)
from overlap_lab.trace import DEFAULTS, Column, constant

__all__ = ["KinetoRows", "kineto_rows"]

_FAR: Final = 1 << 62
_NAMED_CATEGORIES: Final = 20
"""Notes on so many categories; real files have about ten, a hostile one as many as events."""
_PROCESSES: Final = np.iinfo(np.int32)


@dataclass(slots=True)
class KinetoRows:
    raw: RawEvents
    """All rows, in the order of the file; the columns whose values are the same for most rows are below."""
    rank: Column
    """Per number of a kind: how many kinds came before it."""
    columns: Columns
    """All columns but the end and the depth, of calls and what is on a device: a block for each kind."""
    rows: Column
    """Which of all rows these are."""
    labels: Column
    """The writer's own process label of each: the device for device rows, distinct in merged files."""
    names: list[str]
    frame_process: int | None = None
    """The process of Python frames whose process the profiler did not know, which are filed under 0."""

    @property
    def first_ns(self) -> int:
        """The earliest start."""
        return int(self.raw.columns["start_ns"].min())

    @property
    def host_without_process(self) -> bool:
        """Whether there is a row beside those of `columns` that has no process."""
        process = self.raw.columns["process"]
        if fits_process(process.min()) and fits_process(process.max()):
            return False
        without = ~fits_process(process)
        without[self.rows] = False
        return bool(without.any())


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Which rows of the file are in the columns, and where those of each kind are among them."""

    rows: Column
    place: dict[Kind, slice]

    def of(self, *kinds: Kind) -> list[slice]:
        return [self.place[kind] for kind in kinds if kind in self.place]


def kineto_rows(path: Path, parser: EventParser, base_ns: int, findings: Findings) -> KinetoRows:
    """Everything that the events themselves say.

    Raises InputError where no event is of torch.profiler's.
    """
    counts = parser.category_counts()
    categories, any_start = parser.categories(), parser.any_start
    raw = raw_events(parser, findings)
    events = joined(raw, findings)
    kinds = raw.columns["kind"] if events is None else raw.columns["kind"][events]
    unknown = dict(zip(categories, counts.tolist(), strict=True))
    if events is not None:
        _count_begins(raw, events[kinds == UNKNOWN], unknown)
    left_out = _tell_left_out(unknown, findings)
    in_order = _first_seen(kinds)
    if not in_order:
        raise _no_events(path, findings, other_writer=left_out or any_start)
    if events is not None or not _all_timed(raw, base_ns):
        _keep_timed(raw, events, in_order, base_ns, findings)
    if not raw.columns["kind"].size:
        raise BrokenTrace(f"{path}: no trace events with a readable time")
    _set_times(raw, base_ns)
    return _rows_of(raw, in_order)


def _rows_of(raw: RawEvents, in_order: Sequence[Kind]) -> KinetoRows:
    rank = np.full(256, len(in_order), np.uint8)
    rank[np.array(in_order, np.int64)] = np.arange(len(in_order), dtype=np.uint8)
    blocks = _blocks(raw, in_order, rank)
    columns = _columns(raw, blocks)
    return KinetoRows(raw, rank, columns, blocks.rows, raw.columns["process"][blocks.rows], raw.names)


def _count_begins(raw: RawEvents, begins: Column, unknown: dict[str, int]) -> None:
    """Add events of unknown categories that were written in two parts."""
    for token in raw.columns["length_ns"][begins].tolist():
        category = raw.tokens[token]
        unknown[category] = unknown.get(category, 0) + 1


def _tell_left_out(unknown: dict[str, int], findings: Findings) -> bool:
    """Note events of unknown categories (as JSON, with their counts); whether there are any."""
    counts: dict[str, int] = {}
    for token, count in unknown.items():
        category = str(decoded(token)).lower()
        counts[category] = counts.get(category, 0) + count
    named = list(counts.items())[:_NAMED_CATEGORIES]
    for category, count in named:
        findings.note(f"{count} events of category {category!r} are of no known kind and were left out.")
    rest = sum(counts.values()) - sum(count for _, count in named)
    if rest:
        others = len(counts) - len(named)
        findings.note(f"{rest} events of {others} more categories are of no known kind and were left out.")
    return bool(counts)


def _no_events(path: Path, findings: Findings, *, other_writer: bool) -> BrokenTrace | UnknownFormat:
    if other_writer:
        return UnknownFormat(
            f"{path}: Chrome JSON of another writer: no event has a category of torch.profiler's; "
            "record with torch.profiler, or with rocprofv3 -f rocpd"
        )
    skipped = findings.faults.get(Fault.ROWS_SKIPPED, 0)
    return BrokenTrace(f"{path}: no trace events" + (f"; {skipped} could not be read" if skipped else ""))


def _first_seen(kinds: Column) -> list[Kind]:
    """The kinds of rows in the order in which they first appear."""
    first: dict[Kind, int] = {}
    for kind in Kind if kinds.size else ():
        here = kinds == kind
        at = int(here.argmax())
        if here[at]:
            first[kind] = at
    return sorted(first, key=first.__getitem__)


def _all_timed(raw: RawEvents, base_ns: int) -> bool:
    return all(
        _fits(bound, base)
        for name, base in (("start_ns", base_ns), ("length_ns", 0))
        for bound in (raw.columns[name].min(), raw.columns[name].max())
    )


def _keep_timed(
    raw: RawEvents, events: Column | None, kinds: Sequence[Kind], base_ns: int, findings: Findings
) -> None:
    """Drop what is no whole event of one of these kinds with a readable time."""
    rows = np.arange(raw.columns["kind"].size) if events is None else events
    kind, start, length = (raw.columns[name][rows] for name in ("kind", "start_ns", "length_ns"))
    good = _fits(start, base_ns) & _fits(length, 0)
    for one in kinds:
        lost = int((~good & (kind == one)).sum())
        if lost:
            findings.count(Fault.ROWS_SKIPPED, lost)
            findings.note(f"{lost} events without a readable time were left out.")
    raw.keep(rows[good & np.isin(kind, kinds)])
    _only_used(raw)


def _only_used(raw: RawEvents) -> None:
    """Keep the names of rows, whose codes follow suit; events that became no row had names too."""
    used = np.zeros(len(raw.names), bool)
    used[raw.columns["name"]] = True
    raw.columns["name"] = (np.cumsum(used, dtype=np.int32) - 1)[raw.columns["name"]]
    raw.names = [raw.names[code] for code in np.flatnonzero(used).tolist()]


def _set_times(raw: RawEvents, base_ns: int) -> None:
    raw.columns["start_ns"] += base_ns
    end = raw.columns.pop("length_ns")
    end += raw.columns["start_ns"]
    raw.columns["end_ns"] = end


def _blocks(raw: RawEvents, in_order: Sequence[Kind], rank: Column) -> _Blocks:
    """A block of rows for each kind that has more than times and a thread."""
    linked = np.zeros(256, bool)
    linked[[Kind.API, *ON_DEVICE]] = True
    rows = np.flatnonzero(linked[raw.columns["kind"]])
    ranks = rank[raw.columns["kind"][rows]]
    sizes = np.bincount(ranks, minlength=len(in_order)).tolist()
    place: dict[Kind, slice] = {}
    stop = 0
    for kind, size in zip(in_order, sizes, strict=True):
        if size:
            place[kind] = slice(stop, stop + size)
        stop += size
    return _Blocks(rows[np.argsort(ranks, kind="stable")], place)


def _fits(times: Any, base_ns: int) -> Any:
    """Where adding the base, and a duration, stays within int64; not where there is no time."""
    if abs(base_ns) >= _FAR:
        return np.zeros(np.shape(times), bool)
    return (times < _FAR - base_ns) & (times > max(-_FAR - base_ns, ABSENT))


def fits_process(process: Any) -> Any:
    """Where a number can be that of a process."""
    return (process > _PROCESSES.min) & (process <= _PROCESSES.max)


def _columns(raw: RawEvents, blocks: _Blocks) -> Columns:
    rows = blocks.rows
    columns: Columns = {
        "kind": raw.columns["kind"][rows],
        "name": raw.columns["name"][rows],
        "start_ns": raw.columns["start_ns"][rows],
        "correlation": raw.columns["correlation"][rows],
        "process": _narrow(raw.columns["process"][rows], np.int32, ABSENT_PROCESS),
        "thread": raw.columns["thread"][rows],
    }
    written = {"device", "stream", "api", "copy_kind", "memory", "bytes"}
    written |= {name for name, (places, _) in raw.sparse.items() if places.size}
    for name, dtype in COLUMNS.items():
        if name not in columns and name not in ("end_ns", "depth"):
            value = DEFAULTS.get(name, 0)
            kept = name in written
            columns[name] = np.full(rows.size, value, dtype) if kept else constant(value, rows.size, dtype)
    for block in blocks.of(*ON_DEVICE):
        columns["device"][block] = _narrow(raw.device[rows[block]], np.int16, ABSENT_DEVICE)
        columns["stream"][block] = columns["thread"][block]
        columns["process"][block] = ABSENT_PROCESS
        columns["thread"][block] = ABSENT
    _fill_sparse(raw, blocks, columns)
    _fill_calls(raw, blocks, columns)
    _fill_copies(raw, blocks, columns)
    return columns


def _fill_sparse(raw: RawEvents, blocks: _Blocks, columns: Columns) -> None:
    at = np.zeros(raw.columns["kind"].size, np.int32)
    at[blocks.rows] = np.arange(blocks.rows.size, dtype=np.int32)
    sparse = {name: (at[places], values) for name, (places, values) in raw.sparse.items()}
    rows, values = sparse["device"]
    columns["device"][rows] = _narrow(values, np.int16, ABSENT_DEVICE)
    for name, column in (
        ("stream", "stream"),
        ("wait_stream", "stream"),
        ("bytes", "bytes"),
        ("graph", "graph"),
        ("queue", "queue"),
        ("wait_correlation", "wait_correlation"),
    ):
        rows, values = sparse[name]
        if rows.size:
            columns[column][rows] = values
    for block in blocks.of(*ON_DEVICE):
        streams = columns["stream"][block]
        streams[(streams == NO_STREAM[0]) | (streams == NO_STREAM[1])] = ABSENT
    raw.sparse["copy_kind"] = sparse["copy_kind"]


def _fill_calls(raw: RawEvents, blocks: _Blocks, columns: Columns) -> None:
    for block in blocks.of(Kind.API):
        names = columns["name"][block]
        api = columns["api"][block]
        api[:] = _by_name(names, raw.names, api_codes)
        columns["copy_kind"][block] = _by_name(names, raw.names, copy_directions)
        rows, tokens = raw.sparse["copy_kind"]
        inside = (rows >= block.start) & (rows < block.stop)
        rows, tokens = rows[inside], tokens[inside]
        copies = np.isin(columns["api"][rows], (Api.MEMCPY, Api.MEMCPY_ASYNC))
        said = _by_token(tokens, raw.tokens, call_direction)
        told = copies & (said != CopyKind.UNKNOWN)
        columns["copy_kind"][rows[told]] = said[told]


def _fill_copies(raw: RawEvents, blocks: _Blocks, columns: Columns) -> None:
    for block in blocks.of(Kind.MEMCPY):
        names = columns["name"][block]
        direction = columns["copy_kind"][block]
        direction[:] = _by_name(names, raw.names, lambda texts: _each(copy_direction, texts))
        columns["memory"][block] = _by_name(names, raw.names, lambda texts: _each(memory_of, texts))
        rows, tokens = raw.sparse["copy_kind"]
        inside = (rows >= block.start) & (rows < block.stop)
        rows, tokens = rows[inside] - block.start, tokens[inside]
        vague = direction[rows] == CopyKind.UNKNOWN
        said = _by_token(tokens[vague], raw.tokens, copy_direction)
        direction[rows[vague]] = said


def _each(meaning: Callable[[str], int], texts: Sequence[str]) -> Column:
    return np.array([meaning(text) for text in texts], np.uint8)


def _by_name(codes: Column, names: list[str], meaning: Callable[[list[str]], Column]) -> Column:
    """What each row's name means, asked once for each distinct name."""
    used = np.zeros(len(names), bool)
    used[codes] = True
    distinct = np.flatnonzero(used)
    table = np.zeros(len(names), np.uint8)
    table[distinct] = meaning([names[code] for code in distinct.tolist()])
    return np.asarray(table[codes])


def _by_token(tokens: Column, texts: list[str], meaning: Callable[[Any], CopyKind]) -> Column:
    distinct, each = np.unique(tokens, return_inverse=True)
    found = np.array([meaning(decoded(texts[token])) for token in distinct.tolist()], np.uint8)
    return found[each]


def _narrow(wide: Column, dtype: type[np.signedinteger[Any]], absent: int) -> Column:
    bounds = np.iinfo(dtype)
    narrow = wide.astype(dtype)
    outside = (wide <= bounds.min) | (wide > bounds.max)
    narrow[outside] = absent
    return narrow
