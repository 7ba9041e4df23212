"""UTF-8 and JSON escapes as Python's own decoders take them."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from overlap_lab import _native
from overlap_lab._native import Path


@given(st.binary(max_size=80))
@example(b"\xed\xa0\x80")
@example(b"\xc0\xaf")
@example(b"\xf4\x90\x80\x80")
@example(b"\xe2\x82")
def test_what_is_utf_8_is_what_python_decodes(text: bytes) -> None:
    try:
        text.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert _native.scan(text, Path.SCALAR)[3] == valid


@given(st.text(st.characters(), max_size=40))
def test_escapes_of_any_text_are_undone(text: str) -> None:
    written = json.dumps(text)[1:-1]
    assert _native.unescaped(written) == json.loads(f'"{written}"')


@given(st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\u0041", "\\n", "x", "\\/"]), max_size=8))
def test_halves_of_a_pair_join_or_stay_alone(parts: list[str]) -> None:
    written = "".join(parts)
    assert _native.unescaped(written) == json.loads(f'"{written}"')
