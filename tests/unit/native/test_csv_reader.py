"""CSV text read in pieces, beside what `tests/unit/loaders/test_csv_columns.py` says of whole files."""

from __future__ import annotations

from overlap_lab._native import CsvReader, Field


def test_an_empty_last_field_is_no_quote_that_stood_there_before() -> None:
    reader = CsvReader([Field.TEXT, Field.TEXT])
    assert reader.read(b'aa,"b"\n', last=False)
    assert reader.read(b"cc,", last=True)
    (first, second), seen, kept, last_kept = reader.part()
    assert (first[1], second[1], seen, kept, last_kept) == (["aa", "cc"], ["b", ""], 2, 2, True)
