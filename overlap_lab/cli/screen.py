"""How wide and how colourful standard output is."""

from __future__ import annotations

import os
import shutil
from typing import Final, TextIO

__all__ = ["colour_of", "width_of"]

_WIDEST: Final = 160
"""Past this, the eye loses the line."""


def width_of(stream: TextIO) -> int:
    """Columns to fill: the terminal's, and the most where the text goes into a file or pipe."""
    return min(shutil.get_terminal_size().columns, _WIDEST) if stream.isatty() else _WIDEST


def colour_of(stream: TextIO) -> bool:
    """Whether the stream is a terminal that wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
