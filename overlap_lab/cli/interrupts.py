"""Ctrl-C ends the command at once, also while numpy sorts a column or json parses a text."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from overlap_lab.native import claim_message, end_after_interrupt

__all__ = ["end_soon_after_interrupt", "interrupts_left_to_program", "tell_interrupted"]

_MESSAGE = "overlap-lab: interrupted\n"


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
