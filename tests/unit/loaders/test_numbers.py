from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.loaders.numbers import decimal_column, integer, integer_column, unsigned_column
from overlap_lab.schema import ABSENT


def test_epoch_microseconds_are_exact_to_the_nanosecond() -> None:
    assert decimal_column(["1712867402348670.127"]).tolist() == [1_712_867_402_348_670_127]


def test_a_missing_fraction_digit_counts_as_zero() -> None:
    assert decimal_column(["5", "5.", "5.1", "5.12", 5]).tolist() == [5000, 5000, 5100, 5120, 5000]


def test_the_fourth_decimal_rounds_half_up() -> None:
    assert decimal_column(["1.0004", "1.0005", "1.9999"]).tolist() == [1000, 1001, 2000]


def test_signs_exponents_blanks_and_decimal_commas_are_read() -> None:
    found = decimal_column(["-0.5", "1e3", " 7 ", "2,5", "+1"])
    assert found.tolist() == [-500, 1_000_000, 7000, 2500, 1000]


@pytest.mark.parametrize("text", ["0E20", "-0e99", "0.0e+30", "0e999999999"])
def test_zero_is_zero_at_any_exponent(text: str) -> None:
    assert decimal_column([text]).tolist() == [0]
    assert integer(text) == 0


def test_what_is_no_number_or_does_not_fit_is_absent() -> None:
    odd = [None, "", ".", "abc", True, [1], "9" * 40, "1e400", 10**30, "1.2.3", "nan"]
    assert decimal_column(odd).tolist() == [ABSENT] * len(odd)


def test_no_values_give_an_empty_column() -> None:
    assert decimal_column([]).size == 0


@given(st.decimals(min_value=-(10**14), max_value=10**15, places=5, allow_nan=False))
def test_text_and_decimal_arithmetic_agree(value: Decimal) -> None:
    exact = (value * 1000 + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
    assert decimal_column([format(value, "f")]).tolist() == [int(exact)]


def test_integers_may_be_quoted_or_hexadecimal() -> None:
    found = integer_column([1, "2", "0x10", None, "x", 2**70])
    assert found.tolist() == [1, 2, 16, ABSENT, ABSENT, ABSENT]


def test_ids_use_all_64_bits_and_negative_ones_link_nothing() -> None:
    ids = [2**64 - 1, "4294967301", -1, None, 2**64]
    assert unsigned_column(ids).tolist() == [2**64 - 1, 4_294_967_301, 0, 0, 0]


def test_an_exponent_is_never_written_out() -> None:
    assert integer_column(["1e999999999", "-1e999999999", "2e3"]).tolist() == [ABSENT, ABSENT, 2000]
