from __future__ import annotations

import doctest

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.cli import window as module
from overlap_lab.cli.window import parse_window, window_in
from overlap_lab.errors import UsageError
from overlap_lab.schema import LATEST_NS
from tests.timeline import timeline

TRACE = timeline(
    """
    host   1 |..LL....
    stream 0 |....KKKK
    """
)


def test_the_docstring_examples_run() -> None:
    assert doctest.testmod(module).attempted > 0
    assert doctest.testmod(module).failed == 0


def test_time_zero_is_the_first_call_and_not_the_clocks_zero() -> None:
    assert window_in(TRACE, parse_window("1us:4us")) == (3_000, 6_000)


def test_an_open_side_reaches_to_the_end_of_the_trace() -> None:
    assert window_in(TRACE, parse_window(":4us")) == (2_000, 6_000)
    assert window_in(TRACE, parse_window("4us:")) == (6_000, 8_000)


@pytest.mark.parametrize(
    "text", ["", ":", "1ms", "1:2:3", "2ms:1ms", "1ms:1ms", "a:b", "1 ly:", "-1ms:2ms", ":-1us"]
)
def test_a_window_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_window(text)


def test_a_window_outside_of_the_trace_says_how_long_the_trace_is() -> None:
    with pytest.raises(UsageError, match=r"6\.00 us long"):
        window_in(TRACE, parse_window("1s:2s"))


def test_an_end_beyond_every_clock_is_the_end_of_the_trace() -> None:
    start, end = window_in(TRACE, parse_window(":99999999999999999999s"))
    assert (start, end) == (2_000, LATEST_NS)
    assert analyze(TRACE, window=(start, end)).value("device/busy") == 4_000


def test_a_window_that_64_bits_do_not_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="no time of any trace"):
        analyze(TRACE, window=(0, 2**63))
