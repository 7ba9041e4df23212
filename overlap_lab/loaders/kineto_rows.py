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


@dataclass(frozen=True, slots=True)
class KinetoRows:
    columns: Columns
    """All but the depth; a block of rows for each kind, in the order of the file."""
    labels: Column
    """The writer's own process label of each row: the device for device rows, distinct in merged files."""
    names: list[str]


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Where the rows of each kind are among all rows, and which rows of the file they were."""

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
    raw = raw_events(parser)
    events = joined(raw, findings)
    kinds = raw.columns["kind"][events]
    unknown = dict(zip(categories, counts.tolist(), strict=True))
    _count_begins(raw, events[kinds == UNKNOWN], unknown)
    left_out = _tell_left_out(unknown, findings)
    blocks = _blocks(events, kinds)
    if not blocks.place:
        raise _no_events(path, findings, other_writer=left_out or any_start)
    blocks = _timed(raw, blocks, base_ns, findings)
    if not blocks.rows.size:
        raise BrokenTrace(f"{path}: no trace events with a readable time")
    labels = raw.columns["process"][blocks.rows]
    columns = _columns(raw, blocks, base_ns)
    return KinetoRows(columns, labels, _only_used(columns, raw.names))


def _only_used(columns: Columns, names: list[str]) -> list[str]:
    """The names of rows, whose codes follow suit; events that became no row had names too."""
    used = np.zeros(len(names), bool)
    used[columns["name"]] = True
    if used.all():
        return names
    columns["name"] = (np.cumsum(used, dtype=np.int32) - 1)[columns["name"]]
    return [names[code] for code in np.flatnonzero(used).tolist()]


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
    for category, count in counts.items():
        findings.note(f"{count} events of category {category!r} are of no known kind and were left out.")
    return bool(counts)


def _no_events(path: Path, findings: Findings, *, other_writer: bool) -> BrokenTrace | UnknownFormat:
    if other_writer:
        return UnknownFormat(
            f"{path}: Chrome JSON of another writer: no event has a category of torch.profiler's; "
            "record with torch.profiler, or with rocprofv3 -f rocpd"
        )
    skipped = findings.faults.get(Fault.ROWS_SKIPPED, 0)
    return BrokenTrace(f"{path}: no trace events" + (f"; {skipped} could not be read" if skipped else ""))


def _blocks(events: Column, kinds: Column) -> _Blocks:
    """A block for each kind, in the order in which kinds first appear."""
    first = {kind: int((kinds == kind).argmax()) for kind in Kind if (kinds == kind).any()}
    rank = np.full(256, 255, np.uint8)
    in_order = sorted(first, key=first.__getitem__)
    rank[np.array(in_order, np.int64)] = np.arange(len(in_order), dtype=np.uint8)
    ranks = rank[kinds]
    order = np.argsort(ranks, kind="stable")
    sizes = np.bincount(ranks, minlength=len(in_order))[: len(in_order)]
    place: dict[Kind, slice] = {}
    stop = 0
    for kind, size in zip(in_order, sizes.tolist(), strict=True):
        place[kind] = slice(stop, stop + size)
        stop += size
    return _Blocks(events[order[:stop]], place)


def _timed(raw: RawEvents, blocks: _Blocks, base_ns: int, findings: Findings) -> _Blocks:
    """Without the events that have no readable time."""
    start, length = (raw.columns[name][blocks.rows] for name in ("start_ns", "length_ns"))
    good = (start != ABSENT) & (length != ABSENT) & _fits(start, base_ns) & _fits(length, 0)
    if good.all():
        return blocks
    place: dict[Kind, slice] = {}
    begin = 0
    for kind, block in blocks.place.items():
        kept = int(good[block].sum())
        lost = block.stop - block.start - kept
        if lost:
            findings.count(Fault.ROWS_SKIPPED, lost)
            findings.note(f"{lost} events without a readable time were left out.")
        place[kind] = slice(begin, begin + kept)
        begin += kept
    return _Blocks(blocks.rows[good], place)


def _fits(times: Column, base_ns: int) -> Column:
    """Where adding the base, and a duration, stays within int64."""
    if abs(base_ns) >= _FAR:
        return np.zeros(len(times), bool)
    return (times < _FAR - base_ns) & (times > -_FAR - base_ns)


def _columns(raw: RawEvents, blocks: _Blocks, base_ns: int) -> Columns:
    rows = blocks.rows
    start = raw.columns["start_ns"][rows]
    start += base_ns
    end = raw.columns["length_ns"][rows]
    end += start
    columns: Columns = {
        "kind": raw.columns["kind"][rows],
        "name": raw.columns["name"][rows],
        "start_ns": start,
        "end_ns": end,
        "correlation": raw.columns["correlation"][rows],
        "process": _narrow(raw.columns["process"][rows], np.int32, ABSENT_PROCESS),
        "thread": raw.columns["thread"][rows],
    }
    written = {"device", "stream", "api", "copy_kind", "memory", "bytes"}
    written |= {name for name, (places, _) in raw.sparse.items() if places.size}
    for name, dtype in COLUMNS.items():
        if name not in columns and name != "depth":
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
    at = np.full(raw.columns["kind"].size, -1, np.int32)
    at[blocks.rows] = np.arange(blocks.rows.size, dtype=np.int32)
    sparse = {name: _placed(at, *pair) for name, pair in raw.sparse.items()}
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


def _placed(at: Column, rows: Column, values: Column) -> tuple[Column, Column]:
    """The values of rows that are kept, with their new places."""
    places = at[rows]
    kept = places >= 0
    return (places, values) if kept.all() else (places[kept], values[kept])


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
