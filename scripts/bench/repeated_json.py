"""Captures in JSON, repeated until they are large: Kineto's list of events, rocprofv3's lists of records."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from scripts.bench.repeated_text import TIME, Copies, Repeated, Unrepeatable, repeated_keys

__all__ = ["kineto_copies", "members", "repeat_kineto", "repeat_rocprof", "rocprof_copies", "text_of"]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder(strict=False)
_GAP: Final = 1000  # between copies, in the unit of their times

Step = Callable[[list[Repeated]], int]
_KINETO: Final = {
    "ts": TIME,
    "external ts": TIME,
    "correlation": "call",
    "id": "call",  # of a flow: the correlation id of the call that it leaves
    "wait_on_cuda_event_record_corr_id": "call",
    "External id": "op",
    "external id": "op",
    "Ev Idx": "index",
    "Profiler Event Index": "index",
    "Python id": "frame",
    "Python parent id": "frame",
    "Sequence number": "sequence",
}
_ROCPROF: Final = {
    "start_timestamp": TIME,
    "end_timestamp": TIME,
    "timestamp": TIME,
    "internal": "call",
    "dispatch_id": "dispatch",
}


def text_of(path: Path) -> str:
    """The unpacked text of a file."""
    content = path.read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    return content.decode("utf-8-sig", "surrogateescape")


def members(text: str, at: int) -> Iterator[tuple[str, int, int, Any]]:
    """Key, start, end and value of every member of the object that starts there."""
    at = _after_space(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)  # past the colon
        value, end = _DECODER.raw_decode(text, start)
        yield key, start, end, value
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _events_of(text: str) -> tuple[int, int, list[dict[str, Any]]]:
    """Where the list of events starts and ends, and the events."""
    start = _after_space(text, 0)
    if text[start] == "[":
        events, end = _DECODER.raw_decode(text, start)
        return start, end, events
    for key, at, end, value in members(text, start):
        if key == "traceEvents":
            return at, end, value
    raise Unrepeatable("no traceEvents")


def _span_us(events: list[dict[str, Any]]) -> int:
    """Whole microseconds from the first start to the last end of what is no metadata, and a gap."""
    timed = [each for each in events if each.get("ph") != "M" and each.get("ts") is not None]
    starts = [float(each["ts"]) for each in timed]
    ends = [at + float(each.get("dur") or 0) for at, each in zip(starts, timed, strict=True)]
    if not timed:
        raise Unrepeatable("no events with times")
    return math.ceil(max(ends) - min(starts)) + _GAP


@dataclass(frozen=True)
class _Prepared:
    """A text, and the lists in it that are repeated."""

    text: str
    pieces: tuple[tuple[int, int, Copies], ...]
    """Start and end of each list, and copies of what is between its brackets."""

    def write(self, path: Path, copies: int) -> None:
        with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            done = 0
            for start, end, piece in self.pieces:
                file.write(self.text[done : start + 1])
                for number in range(copies):
                    file.write(("," if number else "") + piece[number])
                done = end - 1
            file.write(self.text[done:])


def _prepared(text: str, places: list[tuple[int, int]], families: Mapping[str, str], step: Step) -> _Prepared:
    found = [repeated_keys(text[start + 1 : end - 1].rstrip(), families) for start, end in places]
    steps: dict[str, int] = {}
    for piece in found:
        for family, largest in piece.largest().items():
            steps[family] = max(steps.get(family, 0), largest + 1)
    steps[TIME] = step(found)
    pieces = ((*place, piece.copies(steps)) for place, piece in zip(places, found, strict=True))
    return _Prepared(text, tuple(pieces))


@lru_cache(maxsize=2)
def _prepared_kineto(capture: Path) -> _Prepared:
    text = text_of(capture)
    start, end, events = _events_of(text)
    return _prepared(text, [(start, end)], _KINETO, lambda _: _span_us(events))


def kineto_copies(capture: Path, size: int) -> int:
    """How many copies of a capture come closest to this many bytes; at least one."""
    return max(1, round(size / len(_prepared_kineto(capture).text)))


def repeat_kineto(capture: Path, path: Path, copies: int) -> None:
    """Write a capture's events this often; names, arguments, frames and flows are kept."""
    _prepared_kineto(capture).write(path, copies)


def rocprof_copies(capture: Path, size: int) -> int:
    """How many copies of a capture's records come closest to this many bytes of file; at least one."""
    prepared = _prepared_rocprof(capture)
    records = sum(end - start for start, end, _ in prepared.pieces)
    return max(1, 1 + round((size - len(prepared.text)) / records))


def repeat_rocprof(capture: Path, path: Path, copies: int) -> None:
    """Write the records of a rocprofv3 JSON file this often; the tables of kernels and strings stay."""
    _prepared_rocprof(capture).write(path, copies)


@lru_cache(maxsize=1)
def _prepared_rocprof(capture: Path) -> _Prepared:
    text = text_of(capture)
    places = list(_record_lists(text))
    if not places:
        raise Unrepeatable("no records")
    return _prepared(text, places, _ROCPROF, _span_ns)


def _span_ns(pieces: list[Repeated]) -> int:
    times: list[int] = [
        value
        for piece in pieces
        for value, family in zip(piece.values.tolist(), piece.families, strict=True)
        if family == TIME and value > 0
    ]
    return max(times) - min(times) + _GAP


def _record_lists(text: str) -> Iterator[tuple[int, int]]:
    """Where each list of records starts and ends; empty ones are left out."""
    for _, start, end, _ in members(text, _after_space(text, 0)):
        at = text.find("{", start, end)
        while at >= 0:  # every process of the list
            for key, records, _, _ in members(text, at):
                if key == "buffer_records":
                    yield from ((a, b) for _, a, b, each in members(text, records) if each)
            _, done = _DECODER.raw_decode(text, at)
            at = text.find("{", done, end)
