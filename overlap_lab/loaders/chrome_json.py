"""Chrome trace JSON to a header and a list of events, in spite of what writers do to it.

A file without a fault takes one pass of the standard parser. Any other is read event by event, and an
event that cannot be read is repaired or skipped, and counted: never a silently shorter trace.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.json_repair import repaired_object
from overlap_lab.schema import Fault

__all__ = ["ChromeTrace", "Event", "read_chrome_json"]

Event = dict[str, Any]

_EVENTS_KEY: Final = re.compile(r'"traceEvents"\s*:\s*\[')
_KEYS: Final = "ph|cat|name|pid|tid|ts|dur|args|id|bp|s|cname|tts|tdur|sf|id2|scope"
_BOUNDARY: Final = re.compile(rf'\}}\s*,\s*(?=\{{\s*"(?:{_KEYS})"\s*:)|\}}[\s,]*\]|\}}[\s,]*\Z')
_GAP: Final = re.compile(r"[\s,]*")
_MAX_BOUNDARIES: Final = 3
_AFTER_EVENT: Final = ("", ",", "]", "\n", "\r", " ", "\t")
_WINDOW: Final = 1 << 16
_LONG_WINDOW: Final = 1 << 22
_MAX_LONG_WINDOWS: Final = 256
"""How many broken events may cost a look at the long window."""


@dataclass(frozen=True, slots=True)
class ChromeTrace:
    header: Event
    """The top-level keys besides the events; empty for a bare event list."""
    events: list[Event]
    """Numbers with a fraction are kept as text, so that times stay exact."""


class _Objects:
    """Builds objects for the standard parser and counts what it had to mend in them."""

    def __init__(self) -> None:
        self.repaired = 0
        self._constant = False

    def constant(self, _name: str) -> None:
        """NaN and Infinity become null."""
        self._constant = True

    def object(self, pairs: list[tuple[str, Any]]) -> Event:
        """The last value of a repeated key wins."""
        built = dict(pairs)
        self.repaired += self._constant or len(built) != len(pairs)
        self._constant = False
        return built

    def decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(
            parse_float=str, parse_constant=self.constant, object_pairs_hook=self.object, strict=strict
        )


@contextmanager
def _collector_paused() -> Iterator[None]:
    """The cycle collector only costs time while millions of acyclic objects are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_chrome_json(path: Path, content: bytes, findings: Findings) -> ChromeTrace:
    """Header and events of a Chrome trace file; what was mended or skipped goes to `findings`."""
    text, bad_utf8 = _decoded(content)
    objects = _Objects()
    with _collector_paused():
        try:
            whole = objects.decoder(strict=True).decode(text)
            trace = _shape(path, whole, findings)
            findings.count(Fault.ROWS_REPAIRED, objects.repaired)
        except (ValueError, RecursionError):
            trace = _Scanner(path, text, findings).read()
    if objects.repaired and Fault.ROWS_REPAIRED in findings.faults:
        findings.note("Objects with repeated keys (the last value counts) or NaN (read as absent).")
    broken = sum("\ufffd" in str(event) for event in trace.events) if bad_utf8 else 0
    if broken:
        findings.count(Fault.ROWS_REPAIRED, broken)
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced in {broken} events.")
    return trace


def _decoded(content: bytes) -> tuple[str, bool]:
    encoding = "utf-8-sig" if content[:3] == b"\xef\xbb\xbf" else json.detect_encoding(content[:4])
    try:
        return content.decode(encoding), False
    except UnicodeDecodeError:
        return content.decode(encoding, "replace"), True


def _shape(path: Path, whole: Any, findings: Findings) -> ChromeTrace:
    """Header and events of a well-formed document."""
    items = whole.pop("traceEvents", None) if isinstance(whole, dict) else whole
    if not isinstance(items, list):
        raise UnknownFormat(
            f"{path}: JSON without traceEvents; give a Chrome trace as torch.profiler writes it"
        )
    events = [item for item in items if isinstance(item, dict)]
    findings.count(Fault.ROWS_SKIPPED, len(items) - len(events))
    return ChromeTrace(whole if isinstance(whole, dict) else {}, events)


class _Scanner:
    """Reads a damaged document event by event."""

    def __init__(self, path: Path, text: str, findings: Findings) -> None:
        self._path = path
        self._text = text
        self._findings = findings
        self._objects = _Objects()
        self._decoder = self._objects.decoder(strict=True)
        self._lenient = self._objects.decoder(strict=False)
        self._events: list[Event] = []
        self._long_windows = _MAX_LONG_WINDOWS

    def read(self) -> ChromeTrace:
        """All events that can be read, and the header from what is around them."""
        start = self._first_event()
        head = self._text[:start]
        end = self._scan(start)
        self._findings.count(Fault.ROWS_REPAIRED, self._objects.repaired)
        header = self._header(head, self._text[end:])
        if not self._events and Fault.TRUNCATED in self._findings.faults:
            raise BrokenTrace(
                f"{self._path}: truncated at offset {len(self._text)}, before the first whole event"
            )
        return ChromeTrace(header, self._events)

    def _first_event(self) -> int:
        """Offset just after the bracket that opens the events."""
        key = _EVENTS_KEY.search(self._text)
        if key:
            return key.end()
        opening = _GAP.match(self._text)
        at = opening.end() if opening else 0
        if self._text[at : at + 1] == "[":
            return at + 1
        raise BrokenTrace(
            f"{self._path}: broken JSON at {self._place(self._error_offset())} and no traceEvents; "
            "is the file truncated?"
        )

    def _error_offset(self) -> int:
        try:
            self._decoder.decode(self._text)
        except json.JSONDecodeError as error:
            return error.pos
        except (ValueError, RecursionError):
            return 0
        return len(self._text)

    def _scan(self, at: int) -> int:
        """Read events from `at` on; returns the offset behind them."""
        text, size = self._text, len(self._text)
        while True:
            gap = _GAP.match(text, at)
            comma = gap is not None and "," in gap[0]
            at = gap.end() if gap else at
            if at >= size:
                if Fault.TRUNCATED not in self._findings.faults:
                    self._cut_off(at, "has no closing bracket")
                return at
            if text[at] == "]":
                if comma:
                    self._findings.count(Fault.ROWS_REPAIRED)
                    self._findings.note(f"A comma before the closing bracket, at {self._place(at)}.")
                return at + 1
            event, end = self._event_at(at)
            if event is None:
                at = self._mend(at)
            else:
                self._events.append(event)
                at = end

    def _event_at(self, at: int) -> tuple[Event | None, int]:
        """The well-formed event that starts at `at` and the offset behind it; None where there is none.

        Parsed in a window: the parser counts the lines of all its text for every error that it raises.
        """
        for size in (_WINDOW, _LONG_WINDOW):
            if size == _LONG_WINDOW:
                self._long_windows -= 1
            if self._long_windows < 0:
                break
            try:
                event, length = self._decoder.raw_decode(self._text[at : at + size])
            except (ValueError, RecursionError):
                if at + size >= len(self._text):
                    break
                continue
            behind = self._text[at + length : at + length + 1]
            return (event if isinstance(event, dict) and behind in _AFTER_EVENT else None), at + length
        return None, at

    def _mend(self, at: int) -> int:
        """Repair or skip the event at `at`; returns the offset behind it."""
        first = 0
        for count, boundary in enumerate(_BOUNDARY.finditer(self._text, at)):
            end = boundary.start() + 1
            first = first or end
            short = end - at <= _LONG_WINDOW
            event = repaired_object(self._text[at:end], self._lenient) if short else None
            if event is not None:
                self._events.append(event)
                self._mended("were repaired", Fault.ROWS_REPAIRED, at)
                return end
            if count + 1 == _MAX_BOUNDARIES:
                break
        if not first:
            self._cut_off(at, "is cut off inside an event")
            return len(self._text)
        self._mended("cannot be read and were skipped", Fault.ROWS_SKIPPED, at)
        return first

    def _mended(self, what: str, fault: Fault, at: int) -> None:
        if fault not in self._findings.faults:
            self._findings.note(f"Events that are not valid JSON {what}, the first at {self._place(at)}.")
        self._findings.count(fault)

    def _cut_off(self, at: int, how: str) -> None:
        self._findings.count(Fault.TRUNCATED)
        self._findings.note(
            f"{self._path.name} {how} at {self._place(at)}: only the part before it was read."
        )

    def _place(self, offset: int) -> str:
        return f"line {self._text.count(chr(10), 0, offset) + 1}, offset {offset}"

    def _header(self, head: str, tail: str) -> Event:
        """The top-level keys before and after the events, as far as they can be read."""
        key = _EVENTS_KEY.search(head)
        if not key:
            return {}
        if not tail.strip() and Fault.TRUNCATED not in self._findings.faults:
            self._cut_off(len(self._text), "has no closing brace")
        header: Event = {}
        before = head[: key.start()].rstrip().rstrip(",") + "}"
        after = "{" + tail.strip().lstrip(",")
        for part in (before, after):
            if part.strip() in ("}", "{", "{}"):
                continue
            found = repaired_object(part, self._decoder) or repaired_object(part + "}", self._decoder)
            if found is None:
                self._findings.count(Fault.TRUNCATED)
                self._findings.note(f"{self._path.name}: the keys around the events cannot all be read.")
            header.update(found or _readable_keys(part))
        return header


def _readable_keys(part: str) -> Event:
    """The plain integers and strings of a header that cannot be parsed as a whole."""
    numbers = re.findall(r'"(\w+)"\s*:\s*(-?\d{1,19})(?=\s*[,}\n])', part)
    texts = re.findall(r'"(\w+)"\s*:\s*"([^"\\\n]*)"', part)
    return {**dict(texts), **{key: int(value) for key, value in numbers}}
