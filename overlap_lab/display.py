"""How values of this package look in a notebook: every text of a trace is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["bar", "card", "grid"]

_LONGEST: Final = 160
_TEXT_BAR: Final = 20
_CELL: Final = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


def bar(words: str, share: float | None, *, is_over: bool) -> dict[str, str]:
    """How far some work is, as a notebook's page and as plain text; when it is over, one line of words."""
    said = _shown(words, _LONGEST)
    if is_over:
        return {"text/html": f'<span style="opacity:.7">{html.escape(said)}</span>', "text/plain": said}
    value = "" if share is None else f' value="{min(share, 1.0):.3f}"'
    told = html.escape(said)
    filled = "" if share is None else "#" * round(_TEXT_BAR * min(share, 1.0))
    drawn = "" if share is None else f"[{filled.ljust(_TEXT_BAR, '.')}] "
    return {
        "text/html": f'<label><progress max="1"{value}></progress> <span>{told}</span></label>',
        "text/plain": f"{drawn}{said}",
    }


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
    return html.escape(_shown(given, longest), quote=True)


def _shown(given: str, longest: int) -> str:
    shown = "".join(one if one.isprintable() else "\ufffd" for one in given[: longest + 1])
    return f"{shown[: longest - 3]}..." if len(shown) > longest else shown
