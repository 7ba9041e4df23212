from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.ahead import pieces_ahead
from overlap_lab.loaders.content import Pieces


def test_all_pieces_come_in_order() -> None:
    pieces = [bytes([number % 251]) * 1000 for number in range(9000)]
    assert b"".join(pieces_ahead(Pieces(iter(pieces)))) == b"".join(pieces)


def test_what_making_raises_is_raised_behind_the_pieces_before() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a"
        raise BrokenTrace("damaged")

    made = pieces_ahead(Pieces(pieces()))
    assert next(made) == b"a"
    with pytest.raises(BrokenTrace, match="damaged"):
        next(made)


def test_a_reader_that_has_enough_ends_the_thread() -> None:
    before = threading.active_count()
    made = pieces_ahead(Pieces(iter([b"a"] * 1000)))
    next(made)
    del made
    assert threading.active_count() == before
