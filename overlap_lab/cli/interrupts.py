"""Ctrl-C ends the command at once, also while numpy sorts a column or json parses a text."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Final, NoReturn

from overlap_lab.errors import OverlapLabError
from overlap_lab.native import claim_message, end_after_interrupt

__all__ = [
    "INTERRUPTED",
    "end_soon_after_interrupt",
    "ended_at_once",
    "interrupts_left_to_program",
    "interrupts_recognized",
    "tell_interrupted",
]

INTERRUPTED: Final = 130
"""What a shell reports for Ctrl-C."""
_MESSAGE: Final = "overlap-lab: interrupted\n"
_interrupted: Final = Event()


def end_soon_after_interrupt() -> None:
    """From now on SIGINT ends this process within a fifth of a second; files half written are taken away.

    Python raises KeyboardInterrupt between two of its steps, and one can take seconds. A thread that needs no
    Python waits a moment for that, then ends the process. For a command alone: it ends whatever else runs.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    clear_line = "\r\x1b[K" if sys.stderr is not None and sys.stderr.isatty() else ""
    end_after_interrupt(reading, clear_line + _MESSAGE)


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Meanwhile Ctrl-C ends this process on the spot, afterwards it raises KeyboardInterrupt.

    For the time of imports, when nothing is written yet: a module that is being imported may take an
    exception for a failure of its own.
    """
    ignored = (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    )  # as a shell does for what is in the background
    if not ignored:
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        if not ignored:
            signal.signal(signal.SIGINT, _interrupt)


def _interrupt(*_: object) -> NoReturn:
    _interrupted.set()
    raise KeyboardInterrupt


@contextmanager
def interrupts_recognized() -> Iterator[None]:
    """What an interrupt turned into on its way out of here is KeyboardInterrupt again.

    Python makes a RuntimeError of it while it creates a class, a package that is being imported an
    ImportError of its own; both happen where a verb imports what it needs.
    """
    try:
        yield
    except Exception as error:
        expected = isinstance(error, OverlapLabError | OSError)
        if _follows_interrupt(error) or (_interrupted.is_set() and not expected):
            raise KeyboardInterrupt from error
        raise


def _follows_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _end(*_: object) -> None:
    tell_interrupted()
    os._exit(INTERRUPTED)


@contextmanager
def interrupts_left_to_program() -> Iterator[None]:
    """Meanwhile Ctrl-C is for the program that this command runs, which may have files to finish."""
    before = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def tell_interrupted() -> None:
    """Say so on stderr, once."""
    if claim_message():
        with suppress(OSError):
            print(_MESSAGE, end="", file=sys.stderr, flush=True)
