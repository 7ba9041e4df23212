"""How far long work is: what was read of files, and a bar in a notebook while a person waits for it.

The bar comes after two seconds and is one line when the work is over. Where nobody watches there is none: in
scripts, under nbconvert, and while a program is captured, which the bar's own work would slow down.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from overlap_lab.display import bar
from overlap_lab.native import read_so_far

__all__ = ["Reading", "each", "waiting_for"]

_AFTER_S: Final = 2.0
"""Shorter waits need no bar."""
_EVERY_S: Final = 0.25
_MB: Final = 1_000_000

_T_co = TypeVar("_T_co", covariant=True)


class _Counted(Protocol[_T_co]):
    """A sequence, or the rows of an array."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[_T_co]: ...


class Reading:
    """What was read since now of the bytes of some files."""

    def __init__(self, files: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._total = sum(map(_size, files))
        self._begun = clock()
        self._before = read_so_far()

    def words(self) -> str:
        """Bytes, or rows where the reader counts no bytes, with total, share and rate where known."""
        bytes_read, rows = self._read()
        if rows and not bytes_read:
            return f"{rows:,} rows"
        rate = bytes_read / max(self._clock() - self._begun, 1e-3) / _MB
        share = self.share()
        if share is None:
            return f"{bytes_read / _MB:,.0f} MB, {rate:,.0f} MB/s"
        return f"{bytes_read / _MB:,.0f} of {self._total / _MB:,.0f} MB, {share:.0%}, {rate:,.0f} MB/s"

    def share(self) -> float | None:
        """None where nothing was counted yet, or more than there is: files are read a second time, too."""
        bytes_read = self._read()[0]
        return bytes_read / self._total if 0 < bytes_read <= self._total else None

    def _read(self) -> tuple[int, int]:
        now = read_so_far()
        return now[0] - self._before[0], now[1] - self._before[1]


class _Bar:
    """Draws itself again and again until it is told that the work is over."""

    def __init__(self, shell: Any, words: str, reading: Reading | None) -> None:
        self._publish = shell.display_pub.publish
        self._words = words
        self._reading = reading
        self._counted: tuple[int, int] | None = None
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._id = f"overlap_lab-{id(self)}-{time.time_ns()}"
        self._is_drawn = False

    def run(self) -> None:
        wait = _AFTER_S
        while not self._over.wait(wait):
            self._draw(*self._now())
            wait = _EVERY_S

    def count(self, done: int, total: int) -> None:
        self._counted = done, total

    def stop(self) -> None:
        """Let `run` come back; what it draws just now it still draws."""
        self._over.set()

    def end(self, *, well: bool) -> None:
        """Draw the line that stays, once `run` is back: no bar may come after it."""
        if self._is_drawn:
            took = f"{time.monotonic() - self._begun:.1f} s"
            self._draw(f"{self._words}: {took}" if well else f"{self._words}: stopped after {took}", 1.0)

    def _now(self) -> tuple[str, float | None]:
        if self._counted is not None:
            done, total = self._counted
            return f"{self._words}: {done:,} of {total:,}", done / total
        if self._reading is not None:
            return f"{self._words}: {self._reading.words()}", self._reading.share()
        return f"{self._words}: {time.monotonic() - self._begun:.0f} s", None

    def _draw(self, words: str, share: float | None) -> None:
        with suppress(Exception):  # a notebook that went away, however it says so, is no failure of the work
            self._publish(
                bar(words, share, is_over=self._over.is_set()),
                transient={"display_id": self._id},
                update=self._is_drawn,
            )
            self._is_drawn = True


_shown: contextvars.ContextVar[_Bar | None] = contextvars.ContextVar("overlap_lab bar", default=None)


@contextmanager
def waiting_for(words: str, files: Sequence[Path] = ()) -> Iterator[None]:
    """Show how far the work of the block is, in a notebook that somebody watches.

    With `files` it is how much of them was read. Work inside of work that has a bar gets none of its own.
    """
    shell = None if _shown.get() else _watched_notebook()
    if shell is None:
        yield
        return
    drawn = _Bar(shell, words, Reading(files) if files else None)
    token = _shown.set(drawn)
    # The thread's drawings belong to this cell's output, which the notebook knows by the context.
    draw = contextvars.copy_context().run
    thread = threading.Thread(target=draw, args=(drawn.run,), name="overlap_lab bar", daemon=True)
    with suppress(RuntimeError):  # no thread to be had: then there is no bar
        thread.start()
    well = False
    try:
        yield
        well = True
    finally:
        _shown.reset(token)
        drawn.stop()
        if thread.ident is not None:
            thread.join()
        drawn.end(well=well)


def each(items: _Counted[_T_co]) -> Iterator[_T_co]:
    """The items, counted on the bar of the work that this is a part of."""
    drawn = _shown.get()
    for done, item in enumerate(items):
        if drawn is not None:
            drawn.count(done, len(items))
        yield item


def _watched_notebook() -> Any:
    """The shell of the notebook that this runs in, if a person can answer there: nbconvert asks nobody."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    kernel = getattr(shell, "kernel", None)
    return shell if kernel is not None and getattr(kernel, "_allow_stdin", True) else None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
