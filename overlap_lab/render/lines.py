"""Lines with a meaning, printed plainly or in the terminal's own colours."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["Line", "Style", "printed", "wrapped"]


_BEFORE_UNIT: Final = re.compile(r"(?<=\d) (?=(?:ns|us|ms|s|%)(?!\w))")
_GLUE: Final = "\0"
"""Stands for a space that must not become a line break; printable text has none."""


class Style(StrEnum):
    """What a line is, as a rich style; names of the terminal's palette, so that its theme decides."""

    PLAIN = ""
    HEADING = "bold"
    DIM = "dim"
    GOOD = "green"
    BAD = "red"
    WARNING = "yellow"


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    style: Style = Style.PLAIN


def printed(lines: Iterable[Line], *, colour: bool) -> str:
    """The lines joined, with terminal styles only where `colour` says so; no final line break."""
    if not colour:
        return "\n".join(line.text for line in lines)
    from rich.console import Console
    from rich.text import Text

    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system="standard", width=10_000)
    for line in lines:
        console.print(Text(line.text, style=line.style.value), soft_wrap=True)
    return screen.getvalue().rstrip("\n")


def wrapped(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """The lines broken between words where they are wider than the screen.

    Names are never broken, and a number stays with its unit.
    """
    for line in lines:
        pieces = textwrap.wrap(
            _BEFORE_UNIT.sub(_GLUE, line.text),
            width,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (Line(piece.replace(_GLUE, " "), line.style) for piece in pieces or [""])
