"""NVTX ranges and marks of an Nsight Systems export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from overlap_lab.columns import rows_of
from overlap_lab.loaders.alike import CodedNumbers, gathered, together
from overlap_lab.loaders.building import Block, Findings, TraceBuilder
from overlap_lab.loaders.nsys_tables import NsysTables
from overlap_lab.loaders.nsys_target import owners_of
from overlap_lab.loaders.sqlite_columns import TableColumns
from overlap_lab.schema import ABSENT, Fault, Kind
from overlap_lab.trace import Column

__all__ = ["add_ranges"]

_TABLE: Final = "NVTX_EVENTS"
_TYPES: Final = {
    34: "NvtxMark",
    59: "NvtxPushPopRange",
    60: "NvtxStartEndRange",
    65: "NvtxtMark",
    70: "NvtxtPushPopRange",
    71: "NvtxtStartEndRange",
}
_UNWANTED: Final = 63
_RANGES: Final = ("NvtxPushPopRange", "NvtxStartEndRange", "NvtxtPushPopRange", "NvtxtStartEndRange")
_MARKS: Final = ("NvtxMark", "NvtxtMark")
_NUMBERED: Final = (", seq = ", ", op_id = ", ", sizes = ")
"""What ends the name in what torch's emit_nvtx writes of ops: "aten::add, seq = 12, op_id = 99"."""


def add_ranges(tables: NsysTables, builder: TraceBuilder, findings: Findings, *, last_ns: int) -> None:
    """Add ranges and marks; a range that was never closed ends at `last_ns`."""
    rows = tables.columns(_TABLE, ("start", "end"), ("eventType", "globalTid", "textId"), ("text",))
    types = tables.enum("ENUM_NSYS_EVENT_TYPE", _TYPES)
    place, names, kinds = _named(tables, rows, types)
    end = _ends(rows, types, last_ns, findings)
    kind = gathered(kinds, place)
    for each in (Kind.RANGE, Kind.CPU_OP):
        here = rows_of(kind, (each,))
        mine: dict[str, Block] = {"start_ns": rows["start"][here], "end_ns": end[here]}
        mine |= owners_of(rows.few["globalTid"][here])
        used = CodedNumbers.of(place[here])
        codes = builder.interned([names[at] for at in used.values.tolist()])
        builder.add_timed(each, used.mapped(codes), mine, findings)


def _numbers(types: Mapping[int, str], names: Sequence[str]) -> list[int]:
    return [number for number, name in types.items() if name in names]


def _named(
    tables: NsysTables, rows: TableColumns, types: Mapping[int, str]
) -> tuple[Column, list[str], Column]:
    """For each row the place of its name; the names, and the kinds of row that have them.

    Rows that are neither ranges nor marks have a kind of their own.
    """
    text, text_id, kind = rows.texts["text"], rows.few["textId"], rows.few["eventType"]
    first, place = together(text, text_id, kind)
    ids = text_id.values[text_id.codes[first]]
    strings = tables.strings(ids)
    texts = [*text.texts, ""]  # NO_TEXT is the last one's place
    pairs = zip(text.codes[first].tolist(), ids.tolist(), strict=True)
    kinds, names = _classed([texts[own] or strings.get(number) or "range" for own, number in pairs])
    wanted = np.isin(kind.values, _numbers(types, (*_RANGES, *_MARKS)))
    return place, names, np.where(wanted[kind.codes[first]], kinds, _UNWANTED).astype(np.uint8)


def _ends(rows: TableColumns, types: Mapping[int, str], last_ns: int, findings: Findings) -> Column:
    """The end of each row; that of a mark is its start, that of a range that never ends `last_ns`."""
    start, end, kind = rows["start"], rows["end"], rows.few["eventType"]
    is_range = np.isin(kind.values, _numbers(types, _RANGES))
    is_mark = np.isin(kind.values, _numbers(types, _MARKS))
    at = np.flatnonzero(end <= 0)  # old schemas have no NULL
    at = at[is_range[kind.codes[at]] & ((end[at] == ABSENT) | ((end[at] == 0) & (start[at] > 0)))]
    if at.size or is_mark.any():
        end = end.copy()
    if at.size:
        end[at] = np.maximum(start[at], last_ns)
        findings.count(Fault.ROWS_REPAIRED, at.size)
        findings.note(f"{at.size} NVTX ranges never end; they were closed at the last event.")
    marks = np.flatnonzero(kind.each(is_mark)) if is_mark.any() else at[:0]
    if marks.size:
        end[marks] = start[marks]
    return end


def _classed(texts: list[str]) -> tuple[Column, list[str]]:
    """Kind and name of each text: torch's own ops are told by their suffix, which numbers every call."""
    names, ops = texts.copy(), []
    for row, text in enumerate(texts):
        ends = [end for word in _NUMBERED if (end := text.find(word, 1)) > 0] if " = " in text else ()
        if ends:
            names[row] = text[: min(ends)]
            ops.append(row)
    kinds = np.full(len(texts), Kind.RANGE, np.uint8)
    kinds[ops] = Kind.CPU_OP
    return kinds, names
