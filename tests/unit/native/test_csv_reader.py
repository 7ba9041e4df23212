"""CSV text read in pieces, beside what `tests/unit/loaders/test_csv_columns.py` says of whole files."""

from __future__ import annotations

from overlap_lab._native import CsvReader, Field


def test_an_empty_last_field_is_no_quote_that_stood_there_before() -> None:
    reader = CsvReader([Field.TEXT, Field.TEXT])
    assert reader.read(b'aa,"b"\n', last=False)
    assert reader.read(b"cc,", last=True)
    (first, second), seen, kept, last_kept = reader.part()
    assert (first[1], second[1], seen, kept, last_kept) == (["aa", "cc"], ["b", ""], 2, 2, True)


def test_columns_keep_what_they_hold_while_they_grow_past_every_size() -> None:
    reader, rows = CsvReader([Field.TIME, Field.INTEGER, Field.TEXT]), range(700_000)
    text = "".join(f"{row},{row * 3},{row % 300}\n" for row in rows).encode()
    for begin in range(0, len(text), 1 << 18):
        assert reader.read(text[begin : begin + (1 << 18)], last=begin + (1 << 18) >= len(text))
    (times, numbers, texts), *_ = reader.part()
    assert times[0].tolist() == list(rows)
    assert numbers[0].tolist() == [row * 3 for row in rows]
    assert texts[0].tolist() == [row % 300 for row in rows]
