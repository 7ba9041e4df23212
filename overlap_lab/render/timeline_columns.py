"""Spans as columns in few bytes: gaps and durations, one plane of bytes after the other, deflated."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlap_lab.columns import Ints

__all__ = ["Packed", "packed", "packed_spans", "signed"]

_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Packed:
    """Columns of equal length, deflated together."""

    count: int
    widths: tuple[int, ...]
    """Bytes of each column's values; its lowest bytes come first, then the next ones."""
    data: bytes

    def head(self, at: int) -> dict[str, Any]:
        """What the page needs to read it, where `at` is its place among all data."""
        return {"n": self.count, "w": list(self.widths), "at": at, "size": len(self.data)}


def packed(*columns: Ints) -> Packed:
    """Columns of numbers that are not negative.

    The high bytes of small numbers are zeros and deflate to nothing, which is why planes beat whole numbers.
    """
    planes, widths = [], []
    for column in columns:
        width = _width(column)
        whole = np.ascontiguousarray(column, np.dtype("<u8")).view(np.uint8).reshape(-1, 8)
        planes += [whole[:, byte].tobytes() for byte in range(width)]
        widths.append(width)
    return Packed(int(columns[0].size), tuple(widths), zlib.compress(b"".join(planes), _LEVEL))


def packed_spans(start: Ints, end: Ints, *others: Ints) -> Packed:
    """Spans that follow each other without overlap: the first column is the gap before each, the second its
    duration. Starts count from the first moment shown, so that none is negative."""
    before = np.zeros_like(start)
    before[1:] = end[:-1]
    return packed(start - before, end - start, *others)


def signed(values: Ints) -> Ints:
    """Small numbers of either sign as small ones that are not negative: 0, -1, 1, -2, ... as 0, 1, 2, 3."""
    return np.asarray((values << 1) ^ (values >> 63), np.int64)


def _width(column: Ints) -> int:
    largest = int(column.max(initial=0))
    return (largest.bit_length() + 7) // 8
