"""The native parser's columns with every odd value resolved: still one row per event, in file order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.kineto_values import number_in, stream_in
from overlap_lab.loaders.numbers import (
    decimal_column,
    has_decimal_comma,
    integer_column,
    unsigned_column,
)
from overlap_lab.native import EventParser
from overlap_lab.schema import ABSENT, Fault
from overlap_lab.trace import Column

__all__ = [
    "END",
    "UNKNOWN",
    "UNUSED",
    "RawEvents",
    "decoded",
    "joined",
    "raw_events",
    "tell_decimal_commas",
]

END: Final = 253
UNUSED: Final = 254
UNKNOWN: Final = 255
"""Kinds of rows that become none: ends of events, and events of other categories (see categories.h)."""

_DECODER: Final = json.JSONDecoder(parse_float=str, parse_constant=lambda _name: None, strict=False)
_Resolve = Callable[[Sequence[Any]], Column]


def _streams(values: Sequence[Any]) -> Column:
    return integer_column([stream_in(value) for value in values])


def _numbers(values: Sequence[Any]) -> Column:
    return integer_column([number_in(value) for value in values])


def _graphs(values: Sequence[Any]) -> Column:
    return integer_column([value or None for value in values])


_DENSE: Final[dict[str, tuple[str, _Resolve]]] = {
    "process": ("process", _numbers),
    "thread": ("thread", _numbers),
    "start": ("start_ns", decimal_column),
    "duration": ("length_ns", decimal_column),
    "correlation": ("correlation", unsigned_column),
}
_SPARSE: Final[dict[str, tuple[str, _Resolve]]] = {
    "device": ("device", integer_column),
    "stream": ("stream", _streams),
    "wait_stream": ("wait_stream", _streams),
    "bytes": ("bytes", integer_column),
    "size": ("bytes", integer_column),
    "graph": ("graph", _graphs),
    "hsa_queue": ("queue", integer_column),
    "queue": ("queue", integer_column),
    "wait_correlation": ("wait_correlation", unsigned_column),
    "call_stream": ("stream", _streams),
    "call_device": ("device", integer_column),
}
"""Key of an odd value -> the column it belongs to, and how values become that column."""


@dataclass(slots=True)
class RawEvents:
    columns: Columns
    """kind, name, start_ns, length_ns, process, thread, correlation: one entry per row.

    `kineto_rows` turns start_ns into that of the trace and length_ns into end_ns.
    """
    sparse: dict[str, tuple[Column, Column]]
    """Other columns as rows and values; the last value of a row counts."""
    device: Column
    """What a device row counts as its device where no argument says it: its process, as a plain number."""
    names: list[str]
    tokens: list[str]
    """Odd values, as JSON."""
    odd: dict[str, tuple[Column, Column]]
    """Key -> rows and tokens of its odd values."""
    begins: Column
    ends: Column

    def keep(self, rows: Column) -> None:
        """Only these rows, in this order."""
        place = np.full(self.columns["kind"].size, -1, np.int64)
        place[rows] = np.arange(rows.size)
        for name, (places, values) in self.sparse.items():
            moved = place[places]
            self.sparse[name] = moved[moved >= 0], values[moved >= 0]
        same = self.device is self.columns["process"]
        device = self.device[rows]
        self.columns = {name: column[rows] for name, column in self.columns.items()}
        self.device = self.columns["process"] if same else device


def decoded(token: str) -> Any:
    """The value of a JSON text; numbers with a fraction stay text."""
    return _DECODER.decode(token)


def raw_events(parser: EventParser, findings: Findings) -> RawEvents:
    """What the parser has read; it is empty afterwards. What was repaired in it goes to `findings`."""
    columns: Columns = parser.columns()
    raw = RawEvents(
        columns=columns,
        sparse=parser.sparse_columns(),
        device=columns["process"],
        names=parser.names(),
        tokens=parser.tokens(),
        odd=parser.odd(),
        begins=columns.pop("begins"),
        ends=columns.pop("ends"),
    )
    commas: list[Column] = []
    for key, (rows, tokens) in raw.odd.items():
        distinct, each = np.unique(tokens, return_inverse=True)
        values = [decoded(raw.tokens[token]) for token in distinct.tolist()]
        _resolve(raw, key, rows, values, each)
        if key in ("start", "duration"):
            with_comma = np.array([has_decimal_comma(value) for value in values], bool)[each]
            used = True if key == "start" else ~np.isin(rows, raw.begins)
            commas.append(rows[with_comma & used])
    tell_decimal_commas(np.unique(np.concatenate(commas)).size if commas else 0, findings)
    return raw


def tell_decimal_commas(count: int, findings: Findings) -> None:
    """Count the events in whose times a comma stood for the point."""
    if count:
        findings.count(Fault.ROWS_REPAIRED, count)
        findings.note(f"Times of {count} events have a decimal comma, which was read as a point.")


def _resolve(raw: RawEvents, key: str, rows: Column, values: Sequence[Any], each: Column) -> None:
    """Put odd values where they belong: `values[each]` are those of `rows`."""
    if key == "name":
        raw.columns["name"][rows] = _name_codes(raw.names, [str(value) for value in values])[each]
    elif key in _SPARSE:
        column, resolve = _SPARSE[key]
        known_rows, known = raw.sparse[column]
        found = resolve(values)[each]
        raw.sparse[column] = np.concatenate([known_rows, rows]), np.concatenate([known, found])
    else:
        column, resolve = _DENSE[key]
        if key == "process":
            raw.device = raw.columns["process"].copy()
            raw.device[rows] = integer_column(values)[each]
        raw.columns[column][rows] = resolve(values)[each]


def _name_codes(names: list[str], texts: list[str]) -> Column:
    """Codes of texts, which are added to the names where they are new."""
    known = {name: code for code, name in enumerate(names)}
    for text in texts:
        if known.setdefault(text, len(names)) == len(names):
            names.append(text)
    return np.array([known[text] for text in texts], np.int32)


def joined(raw: RawEvents, findings: Findings) -> Column | None:
    """The rows that are whole events: complete ones, then begins, which get their ends' times; None: all."""
    if not raw.begins.size and not raw.ends.size:
        return None
    parts = np.zeros(raw.columns["kind"].size, bool)
    parts[raw.begins] = parts[raw.ends] = True
    whole = np.flatnonzero(~parts)
    open_rows: dict[tuple[str, str], list[int]] = {}
    begins, ends = [], []
    lost = 0
    is_end = np.isin(np.flatnonzero(parts), raw.ends).tolist()
    texts = zip(_texts(raw, "process", parts), _texts(raw, "thread", parts), strict=True)
    for row, end, thread in zip(np.flatnonzero(parts).tolist(), is_end, texts, strict=True):
        stack = open_rows.setdefault(thread, [])
        if not end:
            stack.append(row)
        elif stack:
            begins.append(stack.pop())
            ends.append(row)
        else:
            lost += 1
    lost += sum(map(len, open_rows.values()))
    if lost:
        findings.count(Fault.ROWS_SKIPPED, lost)
        findings.note(f"{lost} begin or end events have no counterpart and were left out.")
    _set_lengths(raw, np.array(begins, np.int64), np.array(ends, np.int64))
    return np.concatenate([whole, np.array(begins, np.int64)])


def _texts(raw: RawEvents, key: str, wanted: Column) -> list[str]:
    """Processes or threads of the wanted rows as the file spells them."""
    rows, tokens = raw.odd.get(key, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    odd = dict(zip(rows.tolist(), tokens.tolist(), strict=True))
    at = np.flatnonzero(wanted).tolist()
    numbers = raw.columns[key][wanted].tolist()
    return [
        str(decoded(raw.tokens[odd[row]])) if row in odd else str(None if number == ABSENT else number)
        for row, number in zip(at, numbers, strict=True)
    ]


def _set_lengths(raw: RawEvents, begins: Column, ends: Column) -> None:
    start, end = raw.columns["start_ns"][begins], raw.columns["start_ns"][ends]
    known = (start != ABSENT) & (end != ABSENT)
    length = np.full(begins.size, ABSENT, np.int64)
    length[known] = end[known] - start[known]
    named = raw.columns["kind"][begins] != UNKNOWN  # whose length says which category they are of
    raw.columns["length_ns"][begins[named]] = length[named]
