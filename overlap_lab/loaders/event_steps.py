"""A damaged list of events, one event at a time: read, repaired, or skipped and counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.json_repair import repaired_object
from overlap_lab.loaders.json_text import Event, Objects, is_sound_gap
from overlap_lab.schema import Fault

__all__ = [
    "EVENT_KEYS",
    "LONGEST_EVENT",
    "REPEATED_KEYS",
    "EventSteps",
    "Step",
    "TextEnds",
]

REPEATED_KEYS: Final = "Objects with repeated keys (the last value counts) or NaN (read as absent)."
LONGEST_EVENT: Final = 1 << 22

EVENT_KEYS: Final = "ph|cat|name|pid|tid|ts|dur|args|id|bp|s|cname|tts|tdur|sf|id2|scope"
_GAP: Final = re.compile(r"[\s,]*")
_SEPARATORS: Final = " \t\n\r,"
_MAX_BOUNDARIES: Final = 3
_AFTER_EVENT: Final = (",", "]", "\n", "\r", " ", "\t")
_WINDOW: Final = 1 << 16
_MAX_LONG_EVENTS: Final = 256
"""How many events may be longer than the short window."""
_LONGEST_OPENING: Final = 64
"""Characters of an event up to behind its first key."""
_UNDECIDED: Final = 16
"""An error this near to the end of a window may be the window's fault."""


class TextEnds(Exception):
    """More text is needed to decide what the next step is."""


class Step(Enum):
    EVENT = auto()
    SKIPPED = auto()
    CLOSED = auto()
    """The bracket that closes the list was read."""
    ENDED = auto()
    """The text is at its end."""


class EventSteps:
    """Each step reads from a place in some text, which may be a window of the file.

    `keys` are names joined by "|"; one of them comes first in each event, by which the next one is found.
    `long_events` counts those that were already read, and `first` says whether none was.
    """

    def __init__(
        self, name: str, keys: str, findings: Findings, *, long_events: int = 0, first: bool = True
    ) -> None:
        self._name = name
        self._boundary = re.compile(rf'\}}\s*,?\s*(?=\{{\s*"(?:{keys})"\s*:)|\}}[\s,]*\]|\}}[\s,]*\Z')
        self._opening = re.compile(rf'\{{\s*"(?:{keys})"\s*:')
        self._first = first
        self.odd_commas = 0
        """Events before which commas were missing, or too many."""
        self._findings = findings
        self._objects = Objects()
        self._decoder = self._objects.decoder(strict=True)
        self._lenient = self._objects.decoder(strict=False)
        self._long_events = _MAX_LONG_EVENTS - long_events

    @property
    def repaired(self) -> int:
        """Objects with repeated keys or NaN, in events that were read."""
        return self._objects.repaired

    def step(
        self, text: str, at: int, place: Callable[[int], str], *, last: bool
    ) -> tuple[Step, Event | None, int]:
        """What is at `at`, and the offset behind it; `place` says to people where an offset of the text is.

        Raises TextEnds where the text, which is not the `last` of the file, is too short to decide.
        """
        gap = _GAP.match(text, at)
        begin = gap.end() if gap else at
        if begin >= len(text):
            if not last:
                raise TextEnds
            if Fault.TRUNCATED not in self._findings.faults:
                self.cut_off(place(begin), "has no closing bracket")
            return Step.ENDED, None, begin
        if text[begin] == "]":
            if not is_sound_gap(text[at:begin], comma=False):
                self._findings.count(Fault.ROWS_REPAIRED)
                self._findings.note(f"A comma before the closing bracket, at {place(begin)}.")
            return Step.CLOSED, None, begin + 1
        event, end = self._event_at(text, begin, last=last)
        read = (Step.EVENT, event, end) if event is not None else self._mended(text, begin, place, last=last)
        if read[0] != Step.ENDED:
            self._judge_gap(text[at:begin], lambda: place(begin))
        return read

    def _judge_gap(self, gap: str, place: Callable[[], str]) -> None:
        """Count what stands before an event where that is not one comma, or none before the first."""
        sound = is_sound_gap(gap, comma=not self._first)
        self._first = False
        if not sound:
            if not self.odd_commas:
                self._findings.note(f"Commas between events are missing or too many, first before {place()}.")
            self.odd_commas += 1
            self._findings.count(Fault.ROWS_REPAIRED)

    def _event_at(self, text: str, at: int, *, last: bool) -> tuple[Event | None, int]:
        """The well-formed event that starts at `at` and the offset behind it; None where there is none.

        Parsed in a window: the parser counts the lines of all its text for every error that it raises.
        """
        for size in (_WINDOW, LONGEST_EVENT):
            if size == LONGEST_EVENT:
                self._long_events -= 1
                if self._long_events < 0:
                    break
            before = self._objects.repaired
            window = text[at : at + size]
            whole = last and at + size >= len(text)
            try:
                event, length = self._decoder.raw_decode(window)
            except json.JSONDecodeError as error:
                self._objects.forget(before)
                unsure = "Unterminated" in error.msg or error.pos >= len(window) - _UNDECIDED
                if whole or not unsure:
                    break
                if len(window) < size:
                    self._long_events += size == LONGEST_EVENT
                    raise TextEnds from None
                continue
            except (ValueError, RecursionError):
                self._objects.forget(before)
                break
            end = at + length
            if end >= len(text) and not last:
                self._objects.forget(before)
                raise TextEnds
            if isinstance(event, dict) and self._may_end(text, end, last=last):
                return event, end
            self._objects.forget(before)
            break
        return None, at

    def _may_end(self, text: str, end: int, *, last: bool) -> bool:
        """Whether what follows can follow an event: a quote in a name ends many a one too early."""
        if end >= len(text) or text[end] in _AFTER_EVENT:
            return True
        if not last and len(text) - end < _LONGEST_OPENING:
            raise TextEnds
        return bool(self._opening.match(text, end))

    def _mended(
        self, text: str, at: int, place: Callable[[int], str], *, last: bool
    ) -> tuple[Step, Event | None, int]:
        """The event at `at` repaired or skipped."""
        ends = self._boundaries(text, at, last=last)
        for end in ends:
            before = self._objects.repaired
            short = end - at <= LONGEST_EVENT
            event = repaired_object(text[at:end], self._lenient) if short else None
            if event is not None:
                self._tell("were repaired", Fault.ROWS_REPAIRED, at, place)
                return Step.EVENT, event, end
            self._objects.forget(before)
        if not ends:
            self.cut_off(place(at), "is cut off inside an event")
            return Step.ENDED, None, len(text)
        self._tell("cannot be read and were skipped", Fault.ROWS_SKIPPED, at, place)
        return Step.SKIPPED, None, ends[0]

    def _boundaries(self, text: str, at: int, *, last: bool) -> list[int]:
        """Offsets behind the next braces that look like the end of an event."""
        ends: list[int] = []
        for boundary in self._boundary.finditer(text, at):
            if boundary.end() == len(text) and not last:
                raise TextEnds
            ends.append(boundary.start() + 1)
            if len(ends) == _MAX_BOUNDARIES:
                return ends
        if not last:
            raise TextEnds
        return ends

    def _tell(self, what: str, fault: Fault, at: int, place: Callable[[int], str]) -> None:
        if fault not in self._findings.faults:
            self._findings.note(f"Events that are not valid JSON {what}, the first at {place(at)}.")
        self._findings.count(fault)

    def cut_off(self, place: str, how: str) -> None:
        """Count that the file ends too early, and say where."""
        self._findings.count(Fault.TRUNCATED)
        self._findings.note(f"{self._name} {how} at {place}: only the part before it was read.")

    def header(self, head: str, tail: str, end: Callable[[], str]) -> Event:
        """The top-level keys before and after the events, as far as they can be read.

        `head` ends before the key of the events; `tail` starts behind their closing bracket.
        """
        if not tail.strip():
            self._without_end(end)
        elif _odd_commas(head, tail):
            self._around_repaired()
        header: Event = {}
        before = head.rstrip().rstrip(",") + "}"
        after = "{" + tail.strip().lstrip(",")
        for part in (before, after):
            if part.strip() not in ("}", "{", "{}"):
                header.update(self._around(part, end))
        return header

    def rest(self, tail: str) -> None:
        """Count text behind a list that is all of its file."""
        if tail.strip():
            self._findings.count(Fault.ROWS_SKIPPED)
            self._findings.note(f"{self._name}: the text behind the list of events was left out.")

    def _around(self, part: str, end: Callable[[], str]) -> Event:
        """The keys on one side of the events."""
        before = self._objects.repaired
        if len(part) <= LONGEST_EVENT:  # else each of many tries would take as long as all events
            try:
                return dict(self._decoder.decode(part))
            except RecursionError:
                self._objects.forget(before)
                self._findings.count(Fault.ROWS_SKIPPED)
                self._findings.note(
                    f"{self._name}: the keys around the events are nested too deep: only plain numbers and "
                    "texts of them were read."
                )
                return _readable_keys(part)
            except ValueError:
                self._objects.forget(before)
            found = repaired_object(part, self._lenient)
            if found is not None:
                self._around_repaired()
                return found
            self._objects.forget(before)
            found = repaired_object(part + "}", self._lenient)
            if found is not None:
                self._without_end(end)
                return found
            self._objects.forget(before)
        self._findings.count(Fault.TRUNCATED)
        self._findings.note(f"{self._name}: the keys around the events cannot all be read.")
        return _readable_keys(part)

    def _around_repaired(self) -> None:
        self._findings.count(Fault.ROWS_REPAIRED)
        self._findings.note(f"{self._name}: the keys around the events are not valid JSON and were repaired.")

    def _without_end(self, end: Callable[[], str]) -> None:
        if Fault.TRUNCATED not in self._findings.faults:
            self.cut_off(end(), "has no closing brace")


def _odd_commas(head: str, tail: str) -> bool:
    """Whether commas next to the events are missing or too many."""
    keys, rest = head.rstrip(_SEPARATORS), tail.lstrip(_SEPARATORS)
    before = is_sound_gap(head[len(keys) :], comma=keys.strip() != "{")
    after = is_sound_gap(tail[: len(tail) - len(rest)], comma=rest[:1] != "}")
    return not (before and after)


def _readable_keys(part: str) -> Event:
    """The plain integers and strings of a header that cannot be parsed as a whole."""
    if len(part) > 2 * LONGEST_EVENT:
        part = f"{part[:LONGEST_EVENT]}\n{part[-LONGEST_EVENT:]}"
    numbers = re.findall(r'"(\w+)"\s*:\s*(-?\d{1,19})(?=\s*[,}\n])', part)
    texts = re.findall(r'"(\w+)"\s*:\s*"([^"\\\n]*)"', part)
    return {**dict(texts), **{key: int(value) for key, value in numbers}}
