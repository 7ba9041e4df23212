"""Pieces of a stream, made by a thread of their own while earlier ones are used."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

__all__ = ["pieces_ahead"]

_PIECE: Final = 1 << 18
_AHEAD: Final = 8
"""Pieces that wait to be used, at most."""


def pieces_ahead(stream: io.RawIOBase) -> Iterator[bytes]:
    """What is in the stream, which must not be touched meanwhile. Raises what reading it raises."""
    with ThreadPoolExecutor(1) as maker:
        made = deque(maker.submit(stream.read, _PIECE) for _ in range(_AHEAD))
        try:
            while piece := made.popleft().result():
                made.append(maker.submit(stream.read, _PIECE))
                yield piece
        finally:
            for waiting in made:
                waiting.cancel()
