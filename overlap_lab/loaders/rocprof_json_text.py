"""rocprofv3 JSON to one object per process, in spite of damage.

A file without a fault takes one pass of the standard parser. Of any other, each list is read record by
record and each other key as a whole: a record is repaired, or skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.event_steps import REPEATED_KEYS
from overlap_lab.loaders.json_list import ObjectList
from overlap_lab.loaders.json_text import Event, Objects, collector_paused, decoded_text, is_sound_gap
from overlap_lab.schema import Fault

__all__ = ["ROOT_KEY", "read_processes"]

ROOT_KEY: Final = "rocprofiler-sdk-tool"
_ROOT: Final = re.compile(rf'\s*\{{\s*"{ROOT_KEY}"\s*:\s*')
_GAP: Final = re.compile(r"[\s,]*")
_KEY: Final = re.compile(r'"([^"\\]{0,200})"\s*:\s*')
_MAX_BROKEN_VALUES: Final = 100
"""Each costs the parser a look at the whole text before it."""
_RECORD_KEYS: Final = "size|kind|operation|thread_id|correlation_id|start_timestamp"
_NEXT_KEY: Final = re.compile(
    r',\s*(?="(?:metadata|agents|counters|strings|code_objects|kernel_symbols|host_functions|summary'
    r'|callback_records|buffer_records)"\s*:\s*[\[{])'
)


def read_processes(path: Path, content: bytes, findings: Findings) -> list[Event]:
    """The objects of the file, one per process; what was mended or skipped goes to `findings`."""
    text, bad_utf8 = decoded_text(content)
    if bad_utf8:
        findings.count(Fault.ROWS_REPAIRED)
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced.")
    with collector_paused():
        objects = Objects()
        try:
            items = objects.decoder(strict=True).decode(text)[ROOT_KEY]
        except (ValueError, RecursionError):
            return _Walker(path, text, findings).read()
        _tell_repeated(objects.repaired, findings)
    given = items if isinstance(items, list) else [items]
    processes = [item for item in given if isinstance(item, dict)]
    findings.skip(len(given) - len(processes), "processes that are none")
    return processes


def _tell_repeated(count: int, findings: Findings) -> None:
    if count:
        findings.count(Fault.ROWS_REPAIRED, count)
        findings.note(REPEATED_KEYS)


class _Walker:
    """Reads a damaged document key by key."""

    def __init__(self, path: Path, text: str, findings: Findings) -> None:
        self._path = path
        self._text = text
        self._findings = findings
        self._objects = Objects()
        self._strict = self._objects.decoder(strict=True)
        self._lenient = self._objects.decoder(strict=False)
        self._records = 0
        self._patience = _MAX_BROKEN_VALUES
        self._told_commas = False

    def read(self) -> list[Event]:
        """The objects, as far as they can be read."""
        root = _ROOT.match(self._text)
        at = root.end() if root else 0
        is_list = self._text[at : at + 1] == "["
        at += is_list
        found: list[Event] = []
        while (begin := self._behind_gap(at)) < len(self._text) and self._text[begin] == "{":
            self._judge_commas(at, begin, comma=bool(found))
            process: Event = {}
            found.append(process)
            at = self._members(begin + 1, process, self._value)
        self._close(at, "]}" if is_list else "}")
        _tell_repeated(self._objects.repaired, self._findings)
        if not self._records:
            raise BrokenTrace(
                f"{self._path}: broken JSON at {self._place(at)}, before the first whole record"
            )
        return found

    def _members(self, at: int, into: Event, value: Callable[[str, int], tuple[Any, int]]) -> int:
        """Read `"key": value` from behind the opening brace; returns the offset behind the closing one."""
        first = True
        while key := _KEY.match(self._text, self._behind_gap(at)):
            self._judge_commas(at, key.start(), comma=not first)
            self._objects.repaired += key[1] in into
            first = False
            into[key[1]], at = value(key[1], key.end())
        begin = self._behind_gap(at)
        if self._text[begin : begin + 1] != "}":
            return at
        self._judge_commas(at, begin, comma=False)
        return begin + 1

    def _close(self, at: int, brackets: str) -> None:
        """Judge what stands behind all processes."""
        for bracket in brackets:
            begin = self._behind_gap(at)
            if self._text[begin : begin + 1] != bracket:
                self._cut_off(at)
                return
            self._judge_commas(at, begin, comma=False)
            at = begin + 1
        if self._text[at:].strip():
            self._cut_off(at)

    def _behind_gap(self, at: int) -> int:
        gap = _GAP.match(self._text, at)
        return gap.end() if gap else at

    def _judge_commas(self, at: int, end: int, *, comma: bool) -> None:
        """Count a comma that is missing, or too many."""
        if is_sound_gap(self._text[at:end], comma=comma):
            return
        self._findings.count(Fault.ROWS_REPAIRED)
        if not self._told_commas:
            self._told_commas = True
            self._findings.note(
                f"{self._path.name}: commas are missing or too many, the first at {self._place(at)}."
            )

    def _value(self, key: str, at: int) -> tuple[Any, int]:
        if key.endswith("_records") and self._text[at : at + 1] == "{":
            lists: Event = {}
            return lists, self._members(at + 1, lists, self._value)
        if not self._patience:
            raise BrokenTrace(
                f"{self._path}: broken JSON: over {_MAX_BROKEN_VALUES} values cannot be read, "
                f"the last at {self._place(at)}"
            )
        for decoder in (self._strict, self._lenient):
            before = self._objects.repaired
            try:
                found, end = decoder.raw_decode(self._text, at)
            except (ValueError, RecursionError):
                self._objects.forget(before)
                continue
            if decoder is self._lenient:
                self._tell_control_characters(found, at)
            self._records += len(found) if isinstance(found, list) else 0
            return found, end
        self._patience -= 1
        if self._text[at : at + 1] == "[":
            records = ObjectList(self._path, self._text, _RECORD_KEYS, self._findings)
            end = records.read(at + 1)
            _tell_repeated(records.mended, self._findings)
            self._records += len(records.found)
            return records.found, end
        self._findings.count(Fault.ROWS_REPAIRED)
        self._findings.note(f"{self._path.name}: {key!r} at {self._place(at)} cannot be read.")
        following = _NEXT_KEY.search(self._text, at)
        return None, following.start() if following else len(self._text)

    def _tell_control_characters(self, found: Any, at: int) -> None:
        """Count a value that only the lenient parser reads; of a list, those of its items."""
        self._findings.note(
            f"{self._path.name}: control characters in text were kept, the first behind {self._place(at)}."
        )
        count, at, before = 0, at + 1, self._objects.repaired
        for _ in found if isinstance(found, list) else ():
            at = self._behind_gap(at)
            try:
                _, at = self._strict.raw_decode(self._text, at)
            except ValueError:
                _, at = self._lenient.raw_decode(self._text, at)
                count += 1
        self._objects.forget(before)
        self._findings.count(Fault.ROWS_REPAIRED, max(count, 1))

    def _cut_off(self, at: int) -> None:
        if Fault.TRUNCATED not in self._findings.faults:
            self._findings.count(Fault.TRUNCATED)
            self._findings.note(
                f"{self._path.name} is cut off or damaged at {self._place(at)}: only the part before it was "
                "read."
            )

    def _place(self, offset: int) -> str:
        return f"line {self._text.count(chr(10), 0, offset) + 1}, offset {offset}"
