"""Telling traces that `Trace.save` wrote, which `arrow_file` reads, from other Arrow files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from overlap_lab.arrow_file import ARROW, TRACE_KEY

__all__ = ["sniff_arrow"]

_LONGEST_SCHEMA: Final = 256 << 20


def sniff_arrow(path: Path, start: bytes) -> bool:
    """True for an Arrow file whose schema says that it holds a trace."""
    if not start.startswith(ARROW):
        return False
    if TRACE_KEY in start:
        return True
    size = int.from_bytes(start[12:16], "little")  # of the first message, the schema
    if size <= len(start):
        return False
    try:
        with path.open("rb") as file:
            return TRACE_KEY in file.read(min(size, _LONGEST_SCHEMA))
    except OSError:
        return False
