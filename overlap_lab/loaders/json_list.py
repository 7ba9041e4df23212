"""The objects of one JSON list that is damaged somewhere, read one by one."""

from __future__ import annotations

from pathlib import Path

from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.event_steps import EventSteps, Step
from overlap_lab.loaders.json_text import Event

__all__ = ["ObjectList"]


class ObjectList:
    """Collects the objects of lists in one text; what cannot be read is repaired or skipped, and counted.

    `keys` are names joined by "|"; one of them comes first in each object, by which the next one is found.
    """

    def __init__(self, path: Path, text: str, keys: str, findings: Findings) -> None:
        self._text = text
        self._steps = EventSteps(path.name, keys, findings)
        self.found: list[Event] = []

    @property
    def mended(self) -> int:
        """Objects with repeated keys or with words for NaN."""
        return self._steps.repaired

    def read(self, at: int) -> int:
        """Read objects from behind the opening bracket on; returns the offset behind the closing one."""
        step = Step.SKIPPED
        while step in (Step.EVENT, Step.SKIPPED):
            step, event, at = self._steps.step(self._text, at, self.place, last=True)
            if event is not None:
                self.found.append(event)
        return at

    def header(self, head: str, tail: str) -> Event:
        """The keys around the list, as far as they can be read: see `EventSteps.header`."""
        return self._steps.header(head, tail, lambda: self.place(len(self._text)))

    def rest(self, tail: str) -> None:
        """Count what stands behind a list that is all of the text: see `EventSteps.rest`."""
        self._steps.rest(tail)

    def place(self, offset: int) -> str:
        """Line and offset, for people."""
        return f"line {self._text.count(chr(10), 0, offset) + 1}, offset {offset}"
