"""Chrome trace JSON to a header and a list of events, with Python's own parser.

The native reader is faster and reads almost every file; this one reads what is too odd for it. A file
without a fault takes one pass of the standard parser. Any other is read event by event, and an event that
cannot be read is repaired or skipped, and counted: never a silently shorter trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.event_steps import EVENT_KEYS, REPEATED_KEYS
from overlap_lab.loaders.json_list import ObjectList
from overlap_lab.loaders.json_text import Event, Objects, collector_paused, decoded_text
from overlap_lab.schema import Fault

__all__ = ["EVENTS_KEY", "NO_EVENTS", "ChromeTrace", "cut_before_events", "not_utf8", "read_chrome_json"]

EVENTS_KEY: Final = re.compile(r'"traceEvents"\s*:\s*\[')
NO_EVENTS: Final = "items of the list of events that are no events"
_BLANK: Final = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class ChromeTrace:
    header: Event
    """The top-level keys besides the events; empty for a bare event list."""
    events: list[Event]
    """Numbers with a fraction are kept as text, so that times stay exact."""


def read_chrome_json(path: Path, content: bytes, findings: Findings) -> ChromeTrace:
    """Header and events of a Chrome trace file; what was mended or skipped goes to `findings`."""
    text, bad_utf8 = decoded_text(content)
    with collector_paused():
        objects = Objects()
        try:
            whole = objects.decoder(strict=True).decode(text)
        except (ValueError, RecursionError):
            trace = _scanned(path, text, findings)
        else:
            trace = _shape(path, whole, findings)
            if objects.repaired:
                findings.count(Fault.ROWS_REPAIRED, objects.repaired)
                findings.note(REPEATED_KEYS)
    if bad_utf8:
        not_utf8(path, sum("\ufffd" in str(event) for event in trace.events), findings)
    return trace


def not_utf8(path: Path, broken: int, findings: Findings) -> None:
    """Count the events of a file that is not UTF-8 in which bytes were replaced."""
    if broken:
        findings.count(Fault.ROWS_REPAIRED, broken)
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced in {broken} events.")


def cut_before_events(path: Path, size: int) -> BrokenTrace:
    """The error for a file of `size` characters that ends before its first event does."""
    return BrokenTrace(f"{path}: truncated at offset {size}, before the first whole event")


def _shape(path: Path, whole: Any, findings: Findings) -> ChromeTrace:
    """Header and events of a well-formed document."""
    items = whole.pop("traceEvents", None) if isinstance(whole, dict) else whole
    if not isinstance(items, list):
        raise UnknownFormat(
            f"{path}: JSON without traceEvents; give a Chrome trace as torch.profiler writes it"
        )
    events = [item for item in items if isinstance(item, dict)]
    findings.skip(len(items) - len(events), NO_EVENTS)
    return ChromeTrace(whole if isinstance(whole, dict) else {}, events)


def _scanned(path: Path, text: str, findings: Findings) -> ChromeTrace:
    """All events of a damaged document that can be read, and the header from what is around them."""

    found = ObjectList(path, text, EVENT_KEYS, findings)
    key, start = _first_event(path, text, found.place)
    end = found.read(start)
    header = {} if key is None else found.header(text[: key.start()], text[end:])
    if key is None:
        found.rest(text[end:])
    if found.mended:
        findings.count(Fault.ROWS_REPAIRED, found.mended)
        findings.note(REPEATED_KEYS)
    if not found.found and Fault.TRUNCATED in findings.faults:
        raise cut_before_events(path, len(text))
    return ChromeTrace(header, found.found)


def _first_event(path: Path, text: str, place: Callable[[int], str]) -> tuple[re.Match[str] | None, int]:
    """The key of the events, where there is one, and the offset behind the bracket that opens them."""
    opening = _BLANK.match(text)
    at = opening.end() if opening else 0
    if text[at : at + 1] == "[":
        return None, at + 1
    key = EVENTS_KEY.search(text)
    if key:
        return key, key.end()
    raise BrokenTrace(
        f"{path}: broken JSON at {place(_error_offset(text))} and no traceEvents; is the file truncated?"
    )


def _error_offset(text: str) -> int:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos
    except (ValueError, RecursionError):
        return 0
    return len(text)
