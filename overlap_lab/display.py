"""How values of this package look in a notebook: small tables in which every text of a trace is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["card", "grid"]

_LONGEST: Final = 160
_CELL: Final = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


def card(title: str, sentence: str, *parts: str) -> str:
    """A title, a sentence, and markup below them."""
    head = f'<div style="opacity:.7">{_text(title)}</div>'
    said = (
        f'<p style="margin:.3em 0 .6em;font-size:1.1em"><b>{_text(sentence, 600)}</b></p>' if sentence else ""
    )
    return f'<div class="overlap-lab">{head}{said}{"".join(parts)}</div>'


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", more: int = 0) -> str:
    """A table of texts; a line below says how many more rows there are."""
    head = "".join(
        f'<th style="{_CELL};opacity:.7;font-weight:normal">{_text(name)}</th>' for name in columns
    )
    body = "".join(
        f"<tr>{''.join(f'<td style={chr(34)}{_CELL}{chr(34)}>{_text(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    above = f'<div style="margin-top:.6em"><b>{_text(title)}</b></div>' if title else ""
    below = f'<div style="opacity:.7">and {more:,} more</div>' if more > 0 else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _text(given: str, longest: int = _LONGEST) -> str:
    """Text of a page: no markup, no control characters, not too long."""
    shown = "".join(one if one.isprintable() else "\ufffd" for one in given[: longest + 1])
    if len(shown) > longest:
        shown = f"{shown[: longest - 3]}..."
    return html.escape(shown, quote=True)
