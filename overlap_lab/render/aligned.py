"""A Table -> aligned lines of plain text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from overlap_lab.render.names import shorten
from overlap_lab.render.values import format_value, is_number
from overlap_lab.report import Table

__all__ = ["aligned"]

_GAP: Final = "  "
_NARROWEST: Final = 12


def aligned(table: Table, *, width: int, right: Collection[str] = ()) -> list[str]:
    """A header line and one line for each row; numbers stand right, texts are shortened to fit `width`.

    `right` names more columns to treat as numbers. Numbers are never cut: a table of many may be wider.
    """
    cells = [[column.name for column in table.columns]]
    cells += [
        [format_value(cell, column.unit) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    natural = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    numeric = [is_number(column.unit) or column.name in right for column in table.columns]
    widths = _fitted(natural, numeric, width)
    lines = []
    for row in cells:
        padded = [
            shorten(text, size).rjust(size) if number else shorten(text, size).ljust(size)
            for text, size, number in zip(row, widths, numeric, strict=True)
        ]
        lines.append(_GAP.join(padded).rstrip())
    return lines


def _fitted(natural: list[int], is_fixed: list[bool], width: int) -> list[int]:
    """Column widths whose sum fits, by narrowing the widest text again and again."""
    widths = list(natural)
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    texts = [index for index, fixed in enumerate(is_fixed) if not fixed]
    while excess > 0:
        widest = max(texts, key=lambda index: widths[index], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            break
        others = [widths[index] for index in texts if index != widest]
        floor = max([_NARROWEST, *(size for size in others if size < widths[widest])])
        cut = min(excess, max(1, widths[widest] - floor))
        widths[widest] -= cut
        excess -= cut
    return widths
