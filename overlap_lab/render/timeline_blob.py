"""Panels of a timeline -> one text of base64 that the page inflates, with every name inside it.

The text is a head (JSON, deflated) and after it the columns that the head describes; nothing in it can be
markup. A trace whose host rows do not fit has its short CPU ops, ranges and host calls joined; device ops and
waits are always all there.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.plots.palette import COLOURS
from overlap_lab.render.names import printable
from overlap_lab.render.timeline_columns import Packed, packed, packed_spans, signed
from overlap_lab.render.timeline_data import DrawnPanel, Series

__all__ = ["TimelineText", "timeline_text"]

_COLOURS: Final = {**COLOURS, "range": "#3C8D7C", "CPU op": "#A58C5F"}
_ROOM_SMALL: Final = 4_000_000
_ROOM_LARGE: Final = 14_000_000
"""Bytes before base64, so that a page stays under 6 MB up to 10^5 device ops and under 20 MB at 10^6."""
_SMALL_OPS: Final = 100_000
_JOINED_FIRST: Final = ("CPU op", "range", "host call")
_GRAINS: Final = (100_000, 20_000, 4_000)
"""Parts of the trace; neighbours that lie in one part are joined, finer parts first."""
_OPS: Final = ("kernel", "copy", "memset")
_WAITS: Final = ("blocked", "blocked, final wait")
_WHOLE: Final = (1 << 53) - 1
"""Up to here the page's numbers are exact."""


@dataclass(frozen=True, slots=True)
class TimelineText:
    """What the page's script reads: `text` is base64, its first `head_bytes` bytes are the head."""

    text: str
    head_bytes: int
    notes: tuple[str, ...]


def timeline_text(panels: Sequence[DrawnPanel]) -> TimelineText:
    """The panels in the order given, on one axis."""
    ops = sum(one.row.size for panel in panels for one in _series(panel) if one.entry in _OPS)
    room = _ROOM_SMALL if ops <= _SMALL_OPS else _ROOM_LARGE
    notes: list[str] = [f"{panel.title}: {note}" for panel in panels for note in panel.notes]
    names = _Names()
    drawn = [_Panel(panel, names) for panel in panels]
    _make_room(drawn, room, notes)
    data: list[bytes] = []
    head = {"panels": [panel.head(data) for panel in drawn], "names": names.words, "colours": _COLOURS}
    deflated = zlib.compress(json.dumps({**head, "notes": notes}, separators=(",", ":")).encode(), 6)
    text = base64.b64encode(b"".join((deflated, *data))).decode("ascii")
    return TimelineText(text, len(deflated), tuple(notes))


def _series(panel: DrawnPanel) -> list[Series]:
    return [one for row in panel.rows for one in row.series]


class _Names:
    """The names of all panels, each once, made visible."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    @property
    def words(self) -> list[str]:
        return list(self._index)

    def code(self, word: str) -> int:
        return self._index.setdefault(printable(word), len(self._index))

    def codes(self, panel: DrawnPanel) -> Ints:
        """The code of each of a panel's names that is drawn; frequent ones get small numbers."""
        drawn = np.concatenate([np.zeros(0, np.int64), *(one.name for one in _series(panel))])
        count = np.bincount(drawn, minlength=len(panel.names))
        codes = np.zeros(count.size, np.int64)
        for name in np.argsort(-count, kind="stable")[: np.count_nonzero(count)].tolist():
            codes[name] = self.code(panel.names[name])
        return codes


class _Panel:
    """A panel with the packed columns of its series, some of which may be joined later."""

    def __init__(self, panel: DrawnPanel, names: _Names) -> None:
        self._panel, self._names = panel, names
        self._codes = names.codes(panel)
        self.series = _series(panel)
        self._calls = self._calls_of_ops()
        self.packed = [self._pack(one) for one in self.series]
        self._joined: set[int] = set()
        self.whole_ns = max((int(one.end_ns.max(initial=0)) for one in self.series), default=0)

    def size(self) -> int:
        return sum(len(one.data) for one in self.packed)

    def join(self, at: int, parts: int) -> int:
        """Join what is short in a series; how many spans are gone by that."""
        one = self.series[at]
        first = _first_of_parts(one, max(self.whole_ns // parts, 1))
        last = np.append(first[1:], one.start_ns.size) - 1
        several = last > first
        word = self._names.code(f"several {one.entry}s")
        name = np.where(several, word, self._codes[one.name[first]])
        start, end = one.start_ns[first], one.end_ns[last]
        self.packed[at] = packed_spans(start, end, name)
        self.series[at] = Series(one.entry, start, end, one.name[first], np.zeros(0, np.int64))
        self._joined.add(at)
        return int(one.start_ns.size - first.size)

    def head(self, data: list[bytes]) -> Mapping[str, Any]:
        """Numbers of the page's script; what they point to is added to `data`."""
        base, place, rows = 0, sum(map(len, data)), []
        packed_of = iter(enumerate(self.packed))
        for row in self._panel.rows:
            parts = []
            for one in row.series:
                at, columns = next(packed_of)
                about = {"entry": one.entry, "base": base, "joined": at in self._joined}
                parts.append(about | columns.head(place))
                data.append(columns.data)
                place += len(columns.data)
                base += columns.count
            rows.append({"label": printable(row.label), "series": parts})
        arrows = self._arrows()
        data.append(arrows.data)
        return {
            "title": printable(self._panel.title),
            "first": str(self._panel.first_ns),
            "zero": self._panel.zero_ns,
            "rows": rows,
            "arrows": arrows.head(place),
        }

    def _pack(self, one: Series) -> Packed:
        name = self._codes[one.name]
        if one.entry not in _OPS:
            return packed_spans(one.start_ns, one.end_ns, name)
        call = self._calls[one.row]
        return packed_spans(one.start_ns, one.end_ns, name, signed(np.diff(call, prepend=0)))

    def _rows(self) -> int:
        return 1 + max((int(one.row.max(initial=-1)) for one in self.series), default=-1)

    def _events(self, entries: Sequence[str] | None) -> Ints:
        """Per row of the trace the number of the span that shows it, -1 where none does."""
        found, base = np.full(self._rows() + 1, -1, np.int64), 0
        for one in self.series:
            chosen = one.entry in entries if entries is not None else one.entry not in _WAITS
            if chosen and one.row.size:
                found[one.row] = np.arange(base, base + one.row.size)
            base += one.start_ns.size
        return found

    def _calls_of_ops(self) -> Ints:
        """Per row of the trace, for ops, where their call is: its series and place in it, as one number; -1
        for none. Joining other series does not move it."""
        size = self._rows() + 1
        place = np.full(size, -1, np.int64)
        for at, one in enumerate(self.series):
            if one.entry == "host call" and one.row.size:
                place[one.row] = (at << 32) + np.arange(one.row.size)
        calls = np.full(size, -1, np.int64)
        calls[self._panel.op_rows] = place[np.minimum(self._panel.call_rows, size - 1)]
        return calls

    def _arrows(self) -> Packed:
        op, wait = self._events(_OPS), self._events(_WAITS)
        size = op.size - 1
        rows = np.minimum(self._panel.arrow_op, size), np.minimum(self._panel.arrow_wait, size)
        ops, waits = op[rows[0]], wait[rows[1]]
        there = (ops >= 0) & (waits >= 0)
        return packed(*(signed(np.diff(ids[there], prepend=0)) for ids in (ops, waits)))


def _first_of_parts(one: Series, grain_ns: int) -> Ints:
    """The first span of each that stays: a long one for itself, the short ones of one part together."""
    short = one.end_ns - one.start_ns < grain_ns
    part = one.start_ns // grain_ns
    apart = np.ones(one.start_ns.size, np.bool_)
    apart[1:] = ~(short[1:] & short[:-1] & (part[1:] == part[:-1]))
    return np.flatnonzero(apart)


def _make_room(drawn: Sequence[_Panel], room: int, notes: list[str]) -> None:
    gone: dict[str, int] = {}
    for parts in _GRAINS:
        for entry in _JOINED_FIRST:
            for panel in drawn:
                for at, one in enumerate(panel.series):
                    if sum(each.size() for each in drawn) <= room:
                        break
                    if one.entry == entry:
                        gone[entry] = gone.get(entry, 0) + panel.join(at, parts)
    notes += [
        f"{count:,} {entry}s shorter than a pixel of the whole trace are joined with their neighbours, to "
        "keep this file small; the exported trace (overlap-lab export) has each of them"
        for entry, count in gone.items()
        if count
    ]
