"""rocprofv3 JSON to one object per process, in spite of damage.

A file without a fault takes one pass of the standard parser. Of any other, each list is read record by
record and each other key as a whole: a record is repaired, or skipped and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.json_list import ObjectList
from overlap_lab.loaders.json_text import Event, collector_paused, decoded_text
from overlap_lab.schema import Fault

__all__ = ["ROOT_KEY", "read_processes"]

ROOT_KEY: Final = "rocprofiler-sdk-tool"
_ROOT: Final = re.compile(rf'\s*\{{\s*"{ROOT_KEY}"\s*:\s*')
_KEY: Final = re.compile(r'[\s,]*"([^"\\]{0,200})"\s*:\s*')
_OPENING: Final = re.compile(r"[\s,]*\{")
_CLOSING: Final = re.compile(r"[\s,]*\}")
_MAX_BROKEN_VALUES: Final = 100
"""Each costs the parser a look at the whole text before it."""
_END: Final = re.compile(r"[\s,]*\]?[\s,]*\}")
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
        try:
            items = _decoder(strict=True).decode(text)[ROOT_KEY]
        except (ValueError, RecursionError):
            return _Walker(path, text, findings).read()
    given = items if isinstance(items, list) else [items]
    return [item for item in given if isinstance(item, dict)]


def _decoder(*, strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(parse_float=str, parse_constant=lambda _: None, strict=strict)


class _Walker:
    """Reads a damaged document key by key."""

    def __init__(self, path: Path, text: str, findings: Findings) -> None:
        self._path = path
        self._text = text
        self._findings = findings
        self._decoders = (_decoder(strict=True), _decoder(strict=False))
        self._records = 0
        self._patience = _MAX_BROKEN_VALUES

    def read(self) -> list[Event]:
        """The objects, as far as they can be read."""
        root = _ROOT.match(self._text)
        at = root.end() if root else 0
        at += self._text[at : at + 1] == "["
        found: list[Event] = []
        while opening := _OPENING.match(self._text, at):
            process: Event = {}
            found.append(process)
            at = self._members(opening.end(), process, self._value)
        if not _END.match(self._text, at):
            self._cut_off(at)
        if not self._records:
            raise BrokenTrace(
                f"{self._path}: broken JSON at {self._place(at)}, before the first whole record"
            )
        return found

    def _members(self, at: int, into: Event, value: Callable[[str, int], tuple[Any, int]]) -> int:
        """Read `"key": value` from behind the opening brace; returns the offset behind the closing one."""
        while key := _KEY.match(self._text, at):
            into[key[1]], at = value(key[1], key.end())
        closing = _CLOSING.match(self._text, at)
        return closing.end() if closing else at

    def _value(self, key: str, at: int) -> tuple[Any, int]:
        if key.endswith("_records") and self._text[at : at + 1] == "{":
            lists: Event = {}
            return lists, self._members(at + 1, lists, self._value)
        if not self._patience:
            raise BrokenTrace(
                f"{self._path}: broken JSON: over {_MAX_BROKEN_VALUES} values cannot be read, "
                f"the last at {self._place(at)}"
            )
        for decoder in self._decoders:
            try:
                found, end = decoder.raw_decode(self._text, at)
            except (ValueError, RecursionError):
                continue
            self._records += len(found) if isinstance(found, list) else 0
            return found, end
        self._patience -= 1
        if self._text[at : at + 1] == "[":
            records = ObjectList(self._path, self._text, _RECORD_KEYS, self._findings)
            end = records.read(at + 1)
            self._findings.count(Fault.ROWS_REPAIRED, records.mended)
            self._records += len(records.found)
            return records.found, end
        self._findings.count(Fault.ROWS_REPAIRED)
        self._findings.note(f"{self._path.name}: {key!r} at {self._place(at)} cannot be read.")
        following = _NEXT_KEY.search(self._text, at)
        return None, following.start() if following else len(self._text)

    def _cut_off(self, at: int) -> None:
        if Fault.TRUNCATED not in self._findings.faults:
            self._findings.count(Fault.TRUNCATED)
            self._findings.note(
                f"{self._path.name} is cut off or damaged at {self._place(at)}: only the part before it was "
                "read."
            )

    def _place(self, offset: int) -> str:
        return f"line {self._text.count(chr(10), 0, offset) + 1}, offset {offset}"
