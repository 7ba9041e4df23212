"""`CallArguments` for columns: the same answers without a Python object per argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import Coded, Lookup, alike
from overlap_lab.loaders.building import Columns
from overlap_lab.loaders.call_arguments import (
    SIZES,
    STREAM_TYPES,
    Links,
    copy_kind_of,
    null_pointers,
    pointer_of,
)
from overlap_lab.loaders.numbers import integer, integer_column
from overlap_lab.schema import ABSENT, NO_CORRELATION, CopyKind
from overlap_lab.trace import Column, Mask

__all__ = ["ArgumentColumns"]

_NONE: Final = -1


class ArgumentColumns:
    """What the arguments of one process's calls say, by the event of the call.

    `texts` are types, names and values, `links` the events of calls and their correlation ids, `ops` ids
    and streams of ops.
    """

    def __init__(
        self,
        event: Column,
        texts: tuple[Coded, Coded, Coded],
        links: Links,
        ops: Sequence[Links],
        null_stream: int | None,
    ) -> None:
        kind, name, value = texts
        is_stream = _is(name, ("stream",)) | _is(kind, STREAM_TYPES)
        is_kind = ~is_stream & _is(name, ("kind",))
        is_size = ~is_stream & ~is_kind & _is(name, SIZES)
        self._pointers = _Last(event, value, is_stream, pointer_of)
        self._kinds = _Last(event, value, is_kind, copy_kind_of)
        self._sizes = _Last(event, value, is_size, integer)
        self._streams = self._learn(links, ops) | null_pointers(null_stream)

    def _learn(self, links: Links, ops: Sequence[Links]) -> dict[int, int]:
        """Pointer -> the stream of most ops of its calls; of equals the one whose call comes first."""
        ids = np.concatenate([op[0] for op in ops])
        streams = np.concatenate([op[1] for op in ops])
        known = (ids != NO_CORRELATION) & (streams != ABSENT)
        ids, streams = ids[known], streams[known]
        events, place = self._pointers.first_events()
        call = Lookup(links[0]).rows(events)
        link = np.append(links[1], np.uint64(NO_CORRELATION))[call]  # the last: no call
        op = Lookup(ids.view(np.int64)).rows(link.view(np.int64))
        seen = np.flatnonzero((op >= 0) & (link != NO_CORRELATION))
        place, stream = place[seen], streams[op[seen]]
        if not seen.size:
            return {}
        first, code = alike(place, stream)
        votes: dict[int, dict[int, int]] = {}
        counts = np.bincount(code, minlength=first.size).tolist()
        for at, count in zip(first.tolist(), counts, strict=True):
            pointer = self._pointers.said[int(place[at])]
            if pointer != ABSENT:
                of_pointer = votes.setdefault(pointer, {})
                of_pointer[int(stream[at])] = of_pointer.get(int(stream[at]), 0) + count
        return {pointer: max(seen, key=seen.__getitem__) for pointer, seen in votes.items()}

    def columns(self, events: Column, directions: Column) -> Columns:
        """`stream`, `copy_kind` and `bytes` of calls, of which `directions` says what their names say."""
        kinds = self._kinds.each(events, CopyKind.UNKNOWN, int).astype(np.uint8)
        return {
            "stream": self._pointers.each(events, ABSENT, lambda said: self._streams.get(said, ABSENT)),
            "copy_kind": np.where(kinds == CopyKind.UNKNOWN, directions, kinds),
            "bytes": self._sizes.each(events, ABSENT, int),
        }


class _Last:
    """What the last argument of a kind says for each event."""

    def __init__(self, event: Column, value: Coded, wanted: Mask, number: Callable[[object], int]) -> None:
        rows = np.flatnonzero(wanted)
        self._event = event[rows]
        first, self._place = alike(value.codes[rows])
        self.said = [number(value.at(row)) for row in rows[first].tolist()]
        """The numbers of distinct texts; those of Python, which may not fit a column."""
        self._lookup = Lookup(self._event)
        no_event = np.flatnonzero(self._event == ABSENT)
        self._of_none = int(no_event[-1]) if no_event.size else _NONE

    def first_events(self) -> tuple[Column, Column]:
        """The distinct events in the order in which they came, and for each the place in `said`."""
        first, _ = alike(self._event)
        events = self._event[first]
        return events, self._place[self._rows(events)]

    def each(self, events: Column, absent: int, number: Callable[[int], int]) -> Column:
        """A number for each event, `absent` where no argument says one or it does not fit."""
        rows = self._rows(events)
        numbers = integer_column([*map(number, self.said), absent], absent)
        return np.asarray(numbers[np.append(self._place, len(self.said))[rows]])

    def _rows(self, events: Column) -> Column:
        return np.where(events == ABSENT, self._of_none, self._lookup.rows(events))


def _is(texts: Coded, wanted: Sequence[str]) -> Mask:
    answers = np.array([*(text in wanted for text in texts.texts), False], np.bool_)  # the last: no text
    return np.asarray(answers[texts.codes])
