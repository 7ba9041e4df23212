"""The events of a Chrome trace file as columns: read by the native parser, damage handed to Python's.

The native parser takes the list of events. Where it meets an event that is not well-formed, that one event
goes to the repairs in Python, and what these make of it goes back. Files that start like nothing the parser
knows (UTF-16, keys spelled oddly) are read whole by Python, and the events handed on.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.chrome_json import (
    EVENTS_KEY,
    NO_EVENTS,
    cut_before_events,
    not_utf8,
    read_chrome_json,
)
from overlap_lab.loaders.content import Unpacked, opened, plain_bytes
from overlap_lab.loaders.event_handover import hand_over
from overlap_lab.loaders.event_steps import (
    EVENT_KEYS,
    LONGEST_EVENT,
    REPEATED_KEYS,
    EventSteps,
    Step,
    TextEnds,
)
from overlap_lab.loaders.json_text import Event, Objects
from overlap_lab.loaders.long_header import LONGEST_HEADER, shortened
from overlap_lab.loaders.text_feed import NotUtf8, TextFeed, place_in, replaced
from overlap_lab.native import EventParser, State
from overlap_lab.schema import Fault

__all__ = ["EventColumns", "read_events"]

_KEY: Final = re.compile(rb'"traceEvents"[ \t\n\r]*:[ \t\n\r]*\[')
_LIST: Final = re.compile(rb"[ \t\n\r]*\[")
_OBJECT: Final = re.compile(rb"[ \t\n\r]*\{")
_COMMA: Final = re.compile(rb"[ \t\n\r]*,")
_LONGEST_KEY: Final = 256
_EVENTS: Final = f"\0events{os.urandom(8).hex()}"
"""Stands for all events where the text around them is parsed; no file can have foreseen it."""
_WINDOW: Final = 1 << 14
_FEW: Final = 1 << 20
"""Bytes of a file that are read before threads have started."""
_PART: Final = 0
_THREADS: Final = 0
"""How a file is read in parts; 0: as suits the machine."""


@dataclass(frozen=True, slots=True)
class EventColumns:
    header: Event
    """The top-level keys besides the events; empty for a bare event list."""
    parser: EventParser
    """Holds the columns."""


class _TooOdd(Exception):
    """The whole file is for Python to read."""


def read_events(path: Path, findings: Findings) -> EventColumns:
    """Header and events of a Chrome trace file; what was mended or skipped goes to `findings`."""
    source = partial(opened, path)
    try:
        try:
            reading = _Reading(path, source, bad_utf8=False)
            found = reading.read()
        except NotUtf8:
            reading = _Reading(path, lambda: replaced(source()), bad_utf8=True)
            found = reading.read()
    except _TooOdd:
        return _read_by_python(path, findings)
    findings.add(reading.findings)
    return found


class _Reading:
    """One pass over a file."""

    def __init__(self, path: Path, source: Callable[[], io.RawIOBase], *, bad_utf8: bool) -> None:
        self.findings = Findings()
        self._path = path
        self._source = source
        self._parser = EventParser()
        self._parser.count_replaced = bad_utf8
        self._steps: EventSteps | None = None
        self._left_out = 0
        """Objects that needed a repair in values of the header that were left out."""
        self._readable = True

    def read(self) -> EventColumns:
        """Raises NotUtf8, or _TooOdd where Python must read the file instead."""
        with self._source() as stream:
            self._feed = TextFeed(stream)
            return self._all(stream)

    def _all(self, stream: io.RawIOBase) -> EventColumns:
        head = self._head()
        if isinstance(stream, io.FileIO):
            self._parse_file(stream)
        elif isinstance(stream, Unpacked):
            self._parse_gzip()
        while self._parser.state != State.CLOSED and self._parse():
            pass
        header = self._header(head, self._tail())
        if self._parser.odd_letters:
            raise _TooOdd
        if self._parser.count_replaced:
            if self._parser.repaired:
                raise _TooOdd  # a repeated key may hide what was replaced
            not_utf8(self._path, self._parser.replaced, self.findings)
        return EventColumns(header, self._parser)

    def _head(self) -> str:
        """The text up to the bracket that opens the events; the feed is behind it afterwards."""
        feed = self._feed
        feed.more(_LONGEST_KEY)
        if json.detect_encoding(feed.bytes(4)) != "utf-8":
            raise _TooOdd
        opening = _LIST.match(feed.bytes(_LONGEST_KEY))
        searched = 0
        while opening is None:
            opening = _KEY.search(feed.view(), searched)
            if opening is None:
                if feed.last or not _OBJECT.match(feed.bytes(_LONGEST_KEY)):
                    raise _TooOdd
                searched = max(feed.size - _LONGEST_KEY, 0)
                feed.more(feed.size)  # twice as much: no byte is copied often
        head = bytearray(feed.bytes(opening.end()))
        feed.use(opening.end())
        del opening  # it holds on to a view
        if len(head) > LONGEST_HEADER and head.startswith(b"{"):
            head[-1:] = b"0}"  # the events: what is left is an object
            short = self._without_long_values(head)
            if short is not None:
                return f"{short[:-2]}["
            head[-2:] = b"["
        return _decoded(head)

    def _tail(self) -> str:
        """The text behind the bracket that closes the events."""
        tail = self._feed.rest()
        comma = _COMMA.match(tail) if len(tail) > LONGEST_HEADER else None
        if comma:
            at = comma.end()
            del comma  # it holds on to the text
            del tail[: at - 1]
            tail[:1] = b"{"
            short = self._without_long_values(tail)
            if short is not None:
                return f",{short[1:]}"
            tail[:1] = b","
            self._readable = False
        return _decoded(tail)

    def _without_long_values(self, text: bytearray) -> str | None:
        found = shortened(text)
        if found is None:
            return None
        self._left_out += found[1]
        self.findings.note(
            f"{self._path.name} has {len(text) >> 20} MiB of other values than events on one side of these: "
            "of the longest ones only the first items of lists were read."
        )
        return found[0]

    def _parse_file(self, file: io.FileIO) -> None:
        """Read all up to the first damage, on as many threads as there are cores."""
        begin = file.tell() - self._feed.size
        if os.fstat(file.fileno()).st_size - begin >= _FEW:
            self._feed.jump(self._parser.parse_file(file.fileno(), begin, part=_PART, threads=_THREADS))

    def _parse_gzip(self) -> None:
        """Unpack and read on several threads; nothing where something is wrong, which is found again."""
        parser = EventParser()
        with self._path.open("rb") as file:
            read = parser.parse_gzip(file.fileno(), self._feed.place, part=_PART, threads=_THREADS)
        if read is not None:
            self._parser = parser
            self._feed.end_with(bytearray(read[1]), used=read[0])

    def _parse(self) -> bool:
        """Read what is in the buffer, or judge what stopped the parser; False behind the last event."""
        feed, parser = self._feed, self._parser
        with feed.view() as view:
            used = parser.parse(view, feed.last)
        feed.use(used)
        if parser.state == State.NOT_UTF8:
            raise NotUtf8
        if parser.state == State.STOPPED:
            return self._step()
        if parser.state == State.READING:
            wanted = 1 if used else feed.size  # of an event longer than the buffer, twice as much
            feed.more(wanted)
        return parser.state != State.CLOSED

    def _step(self) -> bool:
        """One step by Python over what stopped the parser."""
        steps = self._one_by_one()
        size = _WINDOW
        while True:
            text, last = self._feed.text(size)
            try:
                step, event, end = steps.step(text, 0, partial(self._place, text), last=last)
                break
            except TextEnds:
                size *= 8
        if event is not None:
            hand_over(event, self._parser)
        self._feed.use(len(text[:end].encode()))
        self._parser.any_commas = steps.odd_commas > 0
        self._parser.resume()
        return step in (Step.EVENT, Step.SKIPPED)

    def _one_by_one(self) -> EventSteps:
        """From here on the list is damaged: as if every event so far had been read on its own."""
        if self._steps is None:
            parser = self._parser
            if parser.skipped or parser.longest > LONGEST_EVENT:
                raise _TooOdd
            parser.lenient = True
            self._steps = EventSteps(
                self._path.name,
                EVENT_KEYS,
                self.findings,
                long_events=parser.long_events,
                first=not parser.events,
            )
        return self._steps

    def _place(self, text: str, at: int) -> str:
        return self._place_of(self._feed.offset + len(text[:at].encode()))[0]

    def _place_of(self, offset: int | None) -> tuple[str, int]:
        with self._source() as stream:
            return place_in(stream, offset)

    def _header(self, head: str, tail: str) -> Event:
        if self._steps is None and not self._readable:
            self._one_by_one()
        if self._steps is None:
            objects = Objects()
            try:
                whole = objects.decoder(strict=True).decode(f"{head}{json.dumps(_EVENTS)}]{tail}")
            except (ValueError, RecursionError):
                self._one_by_one()
            else:
                return self._whole(whole, objects)
        return self._damaged(head, tail, self._one_by_one())

    def _whole(self, whole: Any, objects: Objects) -> Event:
        events = whole.pop("traceEvents", None) if isinstance(whole, dict) else whole
        if events != [_EVENTS]:
            raise _TooOdd  # these are not the events that count
        self.findings.skip(self._parser.skipped, NO_EVENTS)
        self._count_repaired(self._parser.repaired + objects.repaired + self._left_out)
        return whole if isinstance(whole, dict) else {}

    def _damaged(self, head: str, tail: str, steps: EventSteps) -> Event:
        header: Event = {}
        if not _LIST.fullmatch(head.encode()):
            key = EVENTS_KEY.search(head)
            if key is None or key.end() != len(head):
                raise _TooOdd
            header = steps.header(head[: key.start()], tail, lambda: self._place_of(None)[0])
        else:
            steps.rest(tail)
        self._count_repaired(self._parser.repaired + steps.repaired)
        self.findings.count(Fault.ROWS_REPAIRED, self._parser.odd_commas)
        if not self._parser.events and Fault.TRUNCATED in self.findings.faults:
            raise cut_before_events(self._path, self._place_of(None)[1])
        return header

    def _count_repaired(self, count: int) -> None:
        if count:
            self.findings.count(Fault.ROWS_REPAIRED, count)
            self.findings.note(REPEATED_KEYS)


def _decoded(text: bytearray) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise NotUtf8 from None


def _read_by_python(path: Path, findings: Findings) -> EventColumns:
    trace = read_chrome_json(path, plain_bytes(path), findings)
    parser = EventParser()
    for event in trace.events:
        category = event.get("cat")
        if isinstance(category, str):
            event["cat"] = category.lower()  # of any alphabet, where the parser knows one
        hand_over(event, parser)
    return EventColumns(trace.header, parser)
