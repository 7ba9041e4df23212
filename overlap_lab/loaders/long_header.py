"""What stands around the events of a file, where that is long: cut down to what a header can mean.

Python's parser takes a minute for half a gigabyte of objects. So the long values of a long header are
checked by the native parser and left out, but for the first items of lists.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from overlap_lab.native import long_members

__all__ = ["LONGEST_HEADER", "Shortened", "shortened"]

LONGEST_HEADER: Final = 1 << 22
"""Bytes on either side of the events that are read as they are."""
_LONG_VALUE: Final = 1 << 12
_ITEMS: Final = 1 << 16
"""Bytes at the start of a long list that are read."""
_GAP: Final = re.compile(r"[ \t\n\r,]*")
_MARGIN: Final = b" " * 64

Shortened = tuple[str, int]
"""The text, and how many objects that needed a repair are no longer in it."""


def shortened(text: bytearray) -> Shortened | None:
    """An object's JSON without its longest values: null or the first items stand there instead.

    None where the text is no well-formed object, or is long without any long value.
    """
    text += _MARGIN
    found = long_members(text, least=_LONG_VALUE)
    del text[-len(_MARGIN) :]
    if found is None:
        return None
    size, repaired = len(text), 0
    dropped: list[tuple[int, int]] = []
    for begin, end, mended in sorted(found, key=lambda span: span[0] - span[1]):
        if size <= LONGEST_HEADER:
            break
        size -= end - begin
        repaired += mended
        dropped.append((begin, end))
    if size > LONGEST_HEADER:
        return None
    return _without(text, sorted(dropped)), repaired


def _without(text: bytearray, spans: list[tuple[int, int]]) -> str:
    parts: list[bytes] = []
    at = 0
    for begin, end in spans:
        parts += (bytes(text[at:begin]), _stand_in(bytes(text[begin : min(end, begin + _ITEMS)])))
        at = end
    parts.append(bytes(text[at:]))
    return b"".join(parts).decode()


def _stand_in(start: bytes) -> bytes:
    """JSON for a value that starts so."""
    if not start.startswith(b"["):
        return b"null"
    text = start.decode(errors="ignore")
    decoder = json.JSONDecoder(parse_constant=lambda _name: None)
    items: list[Any] = []
    gap = _GAP.match(text, 1)
    while gap:
        try:
            item, at = decoder.raw_decode(text, gap.end())
        except (ValueError, RecursionError):
            break
        items.append(item)
        gap = _GAP.match(text, at)
    return json.dumps(items).encode()
