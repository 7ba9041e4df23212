"""The index of CSV text: every instruction set finds what the scalar one does, and `csv` agrees."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlap_lab._native import Path, csv_index, path_supported

PATHS = [path for path in Path if path_supported(path)]
TEXTS = st.lists(
    st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b"\xc3\xa9", b"\xff", b"a", b"a" * 61]), max_size=90
).map(b"".join)


def found(text: bytes, path: Path) -> tuple[object, ...]:
    separators, lines, *rest = csv_index(text, path)
    return separators, lines.tolist(), *rest


@settings(max_examples=500, deadline=None)
@given(TEXTS)
@example(b'"' + b"a" * 62 + b'"' + b",b")
@example(b"a" * 63 + b'"b"')
@example(b"\xc3" * 64)
def test_every_instruction_set_finds_the_same(text: bytes) -> None:
    expected = found(text, Path.SCALAR)
    for path in PATHS:
        assert found(text, path) == expected


@settings(max_examples=500, deadline=None)
@given(TEXTS)
@example(b'"a""b",c\r\n')
def test_fields_of_text_that_is_not_odd_are_those_of_csv(text: bytes) -> None:
    separators, lines, odd, doubled, clean = found(text, PATHS[-1])
    assert clean == (b"\0" not in text and text.decode(errors="replace").encode() == text)
    if odd or not clean:
        return
    rows, begin, row = [], 0, []
    for count, end in enumerate(separators, 1):
        field = text[begin:end].decode()
        quoted = field.startswith('"')
        assert doubled or field.count('"') == 2 * quoted
        row.append(field[1:-1].replace('""', '"') if quoted else field)
        begin = end + 1
        if count in lines:
            rows += [row] if row != [""] or quoted else []
            row = []
    expected = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows == [row for row in expected if row]


@pytest.mark.parametrize("text", [b'a"b', b'"a"b', b'"a', b'"a" ,b', b'a,b"\n'])
def test_quotes_in_odd_places_are_told(text: bytes) -> None:
    assert found(text, PATHS[-1])[2]


@pytest.mark.parametrize("text", [b'"a"', b'""', b'"a""b"\n', b'a,"b,c"\r\n"d\ne",f', b'""""'])
def test_quotes_around_fields_are_not_odd(text: bytes) -> None:
    assert not found(text, PATHS[-1])[2]
