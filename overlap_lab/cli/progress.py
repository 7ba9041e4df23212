"""One line on a terminal while a person waits: what is read, how much of it, how fast."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from overlap_lab.progress import Reading
from overlap_lab.render.names import printable, shorten

__all__ = ["Meter", "waiting_for"]

_AFTER_S: Final = 2.0
"""Shorter waits need no words."""
_EVERY_S: Final = 0.2


@contextmanager
def waiting_for(files: Sequence[Path], stream: TextIO | None = None) -> Iterator[Meter]:
    """Show how far the files were read, on stderr and if it is a terminal, from two seconds on.

    The line is gone when the block ends.
    """
    screen = sys.stderr if stream is None else stream
    meter = Meter(files, screen)
    if screen is None or not screen.isatty():
        yield meter
        return
    thread = threading.Thread(target=meter.run, name="overlap_lab progress", daemon=True)
    with suppress(RuntimeError):  # no thread to be had: then there is no line
        thread.start()
    try:
        yield meter
    finally:
        meter.ended.set()
        if thread.ident is not None:
            thread.join()


class Meter:
    """Draws the line again and again, until `ended` is set."""

    def __init__(
        self, files: Sequence[Path], stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.ended = threading.Event()
        self._stream = stream
        self._name = printable(files[0].name) if files else ""
        self._reading = Reading(files, clock)
        self._stage = ""
        self._drawn = 0

    def now(self, stage: str) -> None:
        """From now on the line says this instead of what is read."""
        self._stage = stage

    def run(self) -> None:
        """Draw until `ended` is set, then take the line away."""
        wait = _AFTER_S
        with suppress(OSError, ValueError):  # a terminal that went away is no failure of the work
            while not self.ended.wait(wait):
                self._draw(self.line())
                wait = _EVERY_S
            if self._drawn:
                self._draw("")
                self._stream.write("\r")
                self._stream.flush()

    def line(self) -> str:
        """What there is to say."""
        if self._stage:
            return f"{self._stage} {self._name}"
        return f"reading {self._name}: {self._reading.words()}"

    def _draw(self, text: str) -> None:
        shown = shorten(text, _width(self._stream) - 1)
        self._stream.write(f"\r{shown.ljust(self._drawn)}")  # no escape code: any terminal knows spaces
        self._stream.flush()
        self._drawn = len(shown)


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
