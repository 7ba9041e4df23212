"""Chrome trace JSON to a header and a list of events, in spite of what writers do to it.

A file without a fault takes one pass of the standard parser. Any other is read event by event, and an
event that cannot be read is repaired or skipped, and counted: never a silently shorter trace.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.json_list import ObjectList
from overlap_lab.loaders.json_repair import repaired_object
from overlap_lab.loaders.json_text import Event, Objects, collector_paused, decoded_text
from overlap_lab.schema import Fault

__all__ = ["ChromeTrace", "Event", "read_chrome_json"]

_EVENTS_KEY: Final = re.compile(r'"traceEvents"\s*:\s*\[')
_KEYS: Final = "ph|cat|name|pid|tid|ts|dur|args|id|bp|s|cname|tts|tdur|sf|id2|scope"
_GAP: Final = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class ChromeTrace:
    header: Event
    """The top-level keys besides the events; empty for a bare event list."""
    events: list[Event]
    """Numbers with a fraction are kept as text, so that times stay exact."""


def read_chrome_json(path: Path, content: bytes, findings: Findings) -> ChromeTrace:
    """Header and events of a Chrome trace file; what was mended or skipped goes to `findings`."""
    text, bad_utf8 = decoded_text(content)
    objects = Objects()
    with collector_paused():
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
        self._decoder = Objects().decoder(strict=True)
        self._list = ObjectList(path, text, _KEYS, findings)

    def read(self) -> ChromeTrace:
        """All events that can be read, and the header from what is around them."""
        start = self._first_event()
        head = self._text[:start]
        end = self._list.read(start)
        self._findings.count(Fault.ROWS_REPAIRED, self._list.mended)
        header = self._header(head, self._text[end:])
        if not self._list.found and Fault.TRUNCATED in self._findings.faults:
            raise BrokenTrace(
                f"{self._path}: truncated at offset {len(self._text)}, before the first whole event"
            )
        return ChromeTrace(header, self._list.found)

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
            f"{self._path}: broken JSON at {self._list.place(self._error_offset())} and no traceEvents; "
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

    def _header(self, head: str, tail: str) -> Event:
        """The top-level keys before and after the events, as far as they can be read."""
        key = _EVENTS_KEY.search(head)
        if not key:
            return {}
        if not tail.strip() and Fault.TRUNCATED not in self._findings.faults:
            self._list.cut_off(len(self._text), "has no closing brace")
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
