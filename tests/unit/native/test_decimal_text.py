"""Numbers from decimal text: the value of exact arithmetic, or none."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import _native
from overlap_lab.loaders.numbers import decimal_column
from overlap_lab.schema import ABSENT

numerals = st.from_regex(r"-?[0-9]{1,19}(\.[0-9]{0,8})?([eE][-+]?[0-9]{1,2})?", fullmatch=True)


@given(numerals)
def test_nanoseconds_are_those_of_exact_arithmetic(text: str) -> None:
    found = _native.nanoseconds(text)
    assert found is None or [found] == decimal_column([text]).tolist()


@given(st.decimals(min_value=0, max_value=9 * 10**14, places=5))
def test_plain_decimals_are_never_left_to_others(value: Decimal) -> None:
    exact = (value * 1000 + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
    assert _native.nanoseconds(format(value, "f")) == int(exact)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1712867402348670.127", 1_712_867_402_348_670_127),
        ("1661203462608694", 1_661_203_462_608_694_000),
        ("1.0005", 1001),
        ("1.0004999", 1000),
        ("-2.5", -2500),
        ("1.5e3", 1_500_000),
        ("1.71286740234867e+15", 1_712_867_402_348_670_000),
        ("5e-4", 1),
        ("4e-4", 0),
        ("-0", 0),
    ],
)
def test_times_in_every_plain_spelling(text: str, ns: int) -> None:
    assert _native.nanoseconds(text) == ns


@pytest.mark.parametrize(
    "text", ["", "-", ".", "x", "1x", "1..2", "9999999999999999", "1e40", "-1.0005", "1e", "+1"]
)
def test_the_rest_is_for_arbitrary_precision(text: str) -> None:
    assert _native.nanoseconds(text) is None


@given(st.integers(-(2**70), 2**70).map(str) | st.from_regex(r"[-+0]?[0-9]{0,22}", fullmatch=True))
def test_integers_fit_or_are_none(text: str) -> None:
    plain = text.lstrip("-").isdigit() and str(int(text)) == text
    value = int(text) if plain else None
    fits = value is not None and -(2**63) < value < 2**63
    assert _native.integer(text) == (value if fits else None)
    unsigned = value is not None and 0 <= value < 2**64
    assert _native.unsigned_integer(text) == (value if unsigned else None)


def test_the_sentinel_is_not_a_number() -> None:
    assert _native.integer(str(ABSENT)) is None
