"""NVTX ranges and marks of an Nsight Systems export."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import Coded, CodedNumbers, gathered, together
from overlap_lab.loaders.building import Findings, TraceBuilder
from overlap_lab.loaders.nsys_tables import NsysTables
from overlap_lab.loaders.nsys_target import owners_of
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
_RANGES: Final = ("NvtxPushPopRange", "NvtxStartEndRange", "NvtxtPushPopRange", "NvtxtStartEndRange")
_MARKS: Final = ("NvtxMark", "NvtxtMark")
_FRAMEWORK_OP: Final = re.compile(r"(.+?)(?:, (?:seq|op_id|sizes) = .*)$", re.DOTALL)
"""How torch's emit_nvtx names ops: "aten::add, seq = 12, op_id = 99"."""


def add_ranges(tables: NsysTables, builder: TraceBuilder, findings: Findings, *, last_ns: int) -> None:
    """Add ranges and marks; a range that was never closed ends at `last_ns`."""
    rows = tables.columns(_TABLE, ("start", "end"), ("eventType", "globalTid", "textId"), ("text",))
    start, end, kind = rows["start"], rows["end"], rows.few["eventType"]
    types = tables.enum("ENUM_NSYS_EVENT_TYPE", _TYPES)
    is_mark = kind.each(np.isin(kind.values, [n for n, name in types.items() if name in _MARKS]))
    is_range = kind.each(np.isin(kind.values, [n for n, name in types.items() if name in _RANGES]))
    is_open = is_range & ((end == ABSENT) | ((end == 0) & (start > 0)))  # old schemas have no NULL
    end = np.where(is_mark, start, np.where(is_open, np.maximum(start, last_ns), end))
    wanted = np.flatnonzero(is_mark | is_range)
    if is_open.any():
        findings.count(Fault.ROWS_REPAIRED, int(is_open.sum()))
        findings.note(f"{int(is_open.sum())} NVTX ranges never end; they were closed at the last event.")
    shown, place = _shown(tables, rows.texts["text"].rows(wanted), rows.few["textId"].rows(wanted))
    kinds, names = _classed(shown)
    kind_of, thread = gathered(kinds, place), rows.few["globalTid"].rows(wanted)
    for each in (Kind.RANGE, Kind.CPU_OP):
        here = np.flatnonzero(kind_of == each)
        mine = {"start_ns": start[wanted[here]], "end_ns": end[wanted[here]], **owners_of(thread.rows(here))}
        builder.add_timed(each, Coded(place[here], names).interned(builder), mine, findings)


def _shown(tables: NsysTables, text: Coded, text_id: CodedNumbers) -> tuple[list[str], Column]:
    """The distinct names of ranges, and for each row the place of its name."""
    first, place = together(text, text_id)
    ids = text_id.values[text_id.codes[first]]
    strings = tables.strings(ids)
    texts = map(text.text, text.codes[first].tolist())
    pairs = zip(texts, ids.tolist(), strict=True)
    return [own or strings.get(number) or "range" for own, number in pairs], place


def _classed(texts: list[str]) -> tuple[Column, list[str]]:
    """Kind and name of each text: torch's own ops are told by their suffix, which numbers every call."""
    kinds, names = np.full(len(texts), Kind.RANGE, np.uint8), texts.copy()
    for row, text in enumerate(texts):
        found = _FRAMEWORK_OP.match(text) if " = " in text else None
        if found:
            names[row] = found[1]
            kinds[row] = Kind.CPU_OP
    return kinds, names
