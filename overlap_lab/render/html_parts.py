"""Pieces of a page. Every function takes plain text and returns markup in which that text is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from overlap_lab.render.names import printable
from overlap_lab.render.terms import SHOWN_AS, TERMS
from overlap_lab.render.values import format_value, is_number
from overlap_lab.report import Cell, Table

__all__ = [
    "bar_drawing",
    "definition",
    "definitions",
    "element",
    "legend",
    "sentence",
    "stacked_bar",
    "table",
    "term",
    "text",
]

_BEFORE_UNIT: Final = re.compile(r"(?<=\d) (?=(?:ns|us|ms|s|%|B|KiB|MiB|GiB)(?!\w))")
_LONG_WORD: Final = 16
_LONG_PIECE: Final = 30
_BREAKS: Final = re.compile(r"(?<=[#./:,)])(?=[^\s#./:,)])")
_SNAKE: Final = re.compile(r"(?<=_)(?=[^_])")


def text(value: object) -> str:
    """The value as text of a page: nothing in it is markup, nothing in it is invisible."""
    return html.escape(printable(str(value)), quote=True)


def element(name: str, *inner: str, **attributes: str) -> str:
    """An element around markup; attribute values are plain text, `class_` is class, `_` inside is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items() if value
    )
    return f"<{name}{given}>{''.join(inner)}</{name}>"


def definitions(pairs: Iterable[tuple[str, str]], *, class_: str = "") -> str:
    """A list of terms and what they are, both plain text."""
    return element("dl", *(definition(*pair) for pair in pairs), class_=class_)


def definition(term: str, meaning: str, **attributes: str) -> str:
    """One term and what it is, plain text; the attributes are those of the meaning."""
    return element("dt", text(term)) + element("dd", text(meaning), **attributes)


def table(
    shown: Table,
    *,
    most: int = 200,
    right: Iterable[str] = (),
    row_class: Callable[[tuple[Cell, ...]], str] = lambda _: "",
) -> str:
    """The first `most` rows; a line below says how many more the JSON has. Empty tables say so."""
    title = element("h3", text(shown.title)) if shown.title else ""
    if not shown.rows:
        return title + element("p", "None.", class_="soft")
    numeric = [is_number(column.unit) or column.name in set(right) for column in shown.columns]
    classes = ["number" if number else "" for number in numeric]
    head = (
        element("th", text(column.name), class_=kind)
        for column, kind in zip(shown.columns, classes, strict=True)
    )
    body = [element("tr", *_cells(row, shown, classes), class_=row_class(row)) for row in shown.rows[:most]]
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    hidden = len(shown.rows) - len(body)
    more = element("p", f"{hidden:,} more rows are in the JSON report.", class_="soft") if hidden else ""
    return title + element("div", whole, class_="scroll") + more


def _cells(row: tuple[Cell, ...], shown: Table, classes: Sequence[str]) -> Iterable[str]:
    for cell, column, kind in zip(row, shown.columns, classes, strict=True):
        exact = str(cell) if is_number(column.unit) and isinstance(cell, int | float) else ""
        yield element("td", text(format_value(cell, column.unit)), class_=kind, data_value=exact)


def stacked_bar(parts: Iterable[tuple[str, float, str]], *, total: str) -> str:
    """A bar of (tooltip, share of the full width in percent, colour), with a text below it."""
    below = element("span", text(total), class_="total")
    return element("div", bar_drawing(parts, label=total), below, class_="bar")


def bar_drawing(parts: Iterable[tuple[str, float, str]], *, label: str) -> str:
    """The bar alone; drawn without style attributes, which the page's policy forbids."""
    at, boxes = 0.0, []
    for tooltip, share, colour in parts:
        if share > 0:
            place = {"x": f"{at:.4f}%", "width": f"{share:.4f}%", "height": "100%", "fill": colour}
            boxes.append(element("rect", element("title", text(tooltip)), **place))
            at += share
    return element("svg", *boxes, role="img", aria_label=label)


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Colour keys: (word, colour)."""
    box = '<svg aria-hidden="true"><rect width="100%" height="100%" rx="3" fill="{}"></rect></svg>'
    keys = (element("span", box.format(text(colour)), text(word)) for word, colour in entries)
    return element("div", *keys, class_="legend")


def sentence(value: object) -> str:
    """Text of a page in which long names may break behind their punctuation, and numbers keep their units."""
    words = (_breakable(word) for word in _BEFORE_UNIT.sub("\u00a0", printable(str(value))).split(" "))
    return " ".join(words)


def _breakable(word: str) -> str:
    if len(word) < _LONG_WORD:
        return html.escape(word, quote=True)
    pieces = [
        part
        for piece in _BREAKS.split(word)
        for part in (_SNAKE.split(piece) if len(piece) > _LONG_PIECE else [piece])
    ]
    return "<wbr>".join(html.escape(piece, quote=True) for piece in pieces)


def term(word: str, shown: str = "") -> str:
    """A word of ours with what it means, which appears while it is pointed at or has the focus.

    `shown` is a name of it that SHOWN_AS knows, so that `overlap-lab explain` knows it, too.
    """
    if shown and SHOWN_AS[shown] != word:
        raise ValueError(f"{shown!r} is another name of {SHOWN_AS[shown]!r}, not of {word!r}")
    meaning = element("span", text(TERMS[word]), class_="meaning", role="tooltip")
    return element("span", text(shown or word), meaning, class_="term", tabindex="0")
