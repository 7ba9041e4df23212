"""Reads the text of a timeline as the page's script does, for tests."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from overlap_lab.render.timeline_blob import TimelineText

Span = tuple[str, int, int]


def head_of(text: TimelineText) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text.text)[: text.head_bytes]))
    return head


def columns_of(text: TimelineText, piece: dict[str, Any]) -> list[list[int]]:
    body = base64.b64decode(text.text)[text.head_bytes :]
    planes = zlib.decompress(body[piece["at"] : piece["at"] + piece["size"]])
    columns, at = [], 0
    for width in piece["w"]:
        values = np.zeros(piece["n"], np.int64)
        for byte in range(width):
            plane = np.frombuffer(planes, np.uint8, piece["n"], at)
            values += plane.astype(np.int64) << (8 * byte)
            at += piece["n"]
        columns.append(values.tolist())
    return columns


def summed(values: list[int]) -> list[int]:
    return np.cumsum([-(v + 1) // 2 if v % 2 else v // 2 for v in values]).tolist()


def spans_of(text: TimelineText, panel: int = 0) -> dict[tuple[str, str], list[Span]]:
    """By label of the row and colour: (name, start, end) of each span, as ns after the first record."""
    head = head_of(text)
    found: dict[tuple[str, str], list[Span]] = {}
    label = ""
    for row in head["panels"][panel]["rows"]:
        label = row["label"] or label
        for series in row["series"]:
            gap, duration, name = columns_of(text, series)[:3]
            end = np.cumsum([a + b for a, b in zip(gap, duration, strict=True)]).tolist()
            spans = [(head["names"][n], e - d, e) for n, d, e in zip(name, duration, end, strict=True)]
            found.setdefault((label, series["entry"]), []).extend(spans)
    return found
