"""The scan for quotes: every set of instructions finds what a loop over the bytes finds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import _native
from overlap_lab._native import Path

PATHS = [path for path in Path if _native.path_supported(path)]
ESCAPES = b'"\\/bfnrt'
bits = st.sampled_from(
    [b'"', b"\\", b"\\u00e9", b"\\ud8", b"a", b" ", b"\n", b"\x00", "é€😀".encode(), b"\xff"]
)
texts = st.lists(bits, max_size=200).map(b"".join)


def by_bytes(text: bytes) -> tuple[list[int], list[int]]:
    """Quotes, and faults inside strings, by the book."""
    quotes, faults = [], []
    inside = escaped = False
    for at, byte in enumerate(text):
        if escaped:
            digits = text[at + 1 : at + 5]
            known = byte in ESCAPES or (
                byte == ord("u") and all(c in b"0123456789abcdefABCDEF" for c in digits)
            )
            if inside and not known:
                faults.append(at)
            escaped = False
        elif byte == ord("\\"):
            escaped = True
        elif byte == ord('"'):
            quotes.append(at)
            inside = not inside
            continue
        if inside and byte < 0x20 and at not in faults:
            faults.append(at)
    return quotes, faults


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@given(texts)
def test_every_path_finds_what_a_loop_finds(path: Path, text: bytes) -> None:
    quotes, faults, escapes, utf8 = _native.scan(text, path)
    assert (quotes.tolist(), faults.tolist()) == by_bytes(text)
    assert (escapes, utf8) == (b"\\" in text, is_utf8(text))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 128, 4096, 4097, 5000])
def test_blocks_join_without_a_seam(path: Path, size: int) -> None:
    text = json.dumps({'quote " and \\': "\u20ac" * 30, "x": list(range(2000))}).encode()[:size]
    found, *_ = _native.scan(text, path)
    assert found.tolist() == by_bytes(text)[0]


def test_the_fastest_path_runs_here() -> None:
    assert _native.fastest_path() in PATHS
    assert Path.SCALAR in PATHS
