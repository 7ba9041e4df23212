from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import units
from overlap_lab.errors import UsageError
from overlap_lab.units import format_ns, parse_ns


def test_the_docstring_examples_run() -> None:
    result = doctest.testmod(units)
    assert (result.failed, result.attempted > 0) == (0, True)


@pytest.mark.parametrize(
    ("text", "value_ns"),
    [
        ("250us", 250_000),
        ("250µs", 250_000),
        ("1.5ms", 1_500_000),
        ("3 s", 3_000_000_000),
        ("7", 7),
        ("7ns", 7),
        (" 7 ns ", 7),
        ("-2us", -2_000),
        ("0.001us", 1),
        ("0", 0),
        ("1234567.891us", 1_234_567_891),
        ("9007199254740993", 9_007_199_254_740_993),
    ],
)
def test_a_time_with_a_unit_is_read_exactly(text: str, value_ns: int) -> None:
    assert parse_ns(text) == value_ns


@pytest.mark.parametrize("text", ["", "us", "1e3us", "1,5ms", "1.5 m", "--1", "1.", ".5us", "nan", "1us2"])
def test_a_text_that_is_no_time_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time") as caught:
        parse_ns(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["0.5", "1.5ns", "0.0001us"])
def test_less_than_a_nanosecond_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="finer than a nanosecond"):
        parse_ns(text)


@given(st.integers(min_value=-(2**62), max_value=2**62))
def test_whole_nanoseconds_survive(value_ns: int) -> None:
    assert parse_ns(str(value_ns)) == parse_ns(f"{value_ns}ns") == value_ns


@given(st.integers(min_value=0, max_value=10**15), st.sampled_from(["us", "ms", "s"]))
def test_a_unit_is_a_factor(amount: int, unit: str) -> None:
    factor = {"us": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert parse_ns(f"{amount}{unit}") == amount * factor


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_a_printed_time_reads_back_within_its_three_digits(value_ns: int) -> None:
    printed = parse_ns(format_ns(value_ns))
    assert abs(printed - value_ns) <= abs(value_ns) * 0.005


@given(st.integers(min_value=1, max_value=10**15))
def test_a_negative_time_prints_as_its_opposite_with_a_sign(value_ns: int) -> None:
    assert format_ns(-value_ns) == "-" + format_ns(value_ns)


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 us"),
        (27_000, "27.0 us"),
        (999_400, "999 us"),
        (999_999, "1.00 ms"),
        (1_738_000, "1.74 ms"),
        (9_999_999, "10.0 ms"),
        (12_000_000_000, "12.0 s"),
        (123_456_000_000_000, "123456 s"),
    ],
)
def test_three_digits_are_enough_for_a_person(value_ns: int, text: str) -> None:
    assert format_ns(value_ns) == text


@pytest.mark.parametrize("text", ["9" * 5000, "1" + "0" * 400 + "s", "-" + "9" * 5000])
def test_a_time_longer_than_any_trace_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="longer than any trace"):
        parse_ns(text)
