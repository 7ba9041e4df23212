"""The objects of one JSON list that is damaged somewhere, read one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.json_repair import repaired_object
from overlap_lab.loaders.json_text import Event, Objects
from overlap_lab.schema import Fault

__all__ = ["ObjectList"]

_GAP: Final = re.compile(r"[\s,]*")
_MAX_BOUNDARIES: Final = 3
_AFTER_EVENT: Final = ("", ",", "]", "\n", "\r", " ", "\t")
_WINDOW: Final = 1 << 16
_LONG_WINDOW: Final = 1 << 22
_MAX_LONG_WINDOWS: Final = 256
"""How many broken events may cost a look at the long window."""


class ObjectList:
    """Collects the objects of lists in one text; what cannot be read is repaired or skipped, and counted.

    `keys` are names joined by "|"; one of them comes first in each object, by which the next one is found.
    """

    def __init__(self, path: Path, text: str, keys: str, findings: Findings) -> None:
        self._path = path
        self._text = text
        self._boundary = re.compile(rf'\}}\s*,\s*(?=\{{\s*"(?:{keys})"\s*:)|\}}[\s,]*\]|\}}[\s,]*\Z')
        self._findings = findings
        self._objects = Objects()
        self._decoder = self._objects.decoder(strict=True)
        self._lenient = self._objects.decoder(strict=False)
        self._long_windows = _MAX_LONG_WINDOWS
        self.found: list[Event] = []

    @property
    def mended(self) -> int:
        """Objects with repeated keys or with words for NaN."""
        return self._objects.repaired

    def read(self, at: int) -> int:
        """Read objects from behind the opening bracket on; returns the offset behind the closing one."""
        text, size = self._text, len(self._text)
        while True:
            gap = _GAP.match(text, at)
            comma = gap is not None and "," in gap[0]
            at = gap.end() if gap else at
            if at >= size:
                if Fault.TRUNCATED not in self._findings.faults:
                    self.cut_off(at, "has no closing bracket")
                return at
            if text[at] == "]":
                if comma:
                    self._findings.count(Fault.ROWS_REPAIRED)
                    self._findings.note(f"A comma before the closing bracket, at {self.place(at)}.")
                return at + 1
            event, end = self._event_at(at)
            if event is None:
                at = self._mend(at)
            else:
                self.found.append(event)
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
        for count, boundary in enumerate(self._boundary.finditer(self._text, at)):
            end = boundary.start() + 1
            first = first or end
            short = end - at <= _LONG_WINDOW
            event = repaired_object(self._text[at:end], self._lenient) if short else None
            if event is not None:
                self.found.append(event)
                self._mended("were repaired", Fault.ROWS_REPAIRED, at)
                return end
            if count + 1 == _MAX_BOUNDARIES:
                break
        if not first:
            self.cut_off(at, "is cut off inside an event")
            return len(self._text)
        self._mended("cannot be read and were skipped", Fault.ROWS_SKIPPED, at)
        return first

    def _mended(self, what: str, fault: Fault, at: int) -> None:
        if fault not in self._findings.faults:
            self._findings.note(f"Events that are not valid JSON {what}, the first at {self.place(at)}.")
        self._findings.count(fault)

    def cut_off(self, at: int, how: str) -> None:
        """Count the text as truncated at an offset."""
        self._findings.count(Fault.TRUNCATED)
        self._findings.note(f"{self._path.name} {how} at {self.place(at)}: only the part before it was read.")

    def place(self, offset: int) -> str:
        """Line and offset, for people."""
        return f"line {self._text.count(chr(10), 0, offset) + 1}, offset {offset}"
