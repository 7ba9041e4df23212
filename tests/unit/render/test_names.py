from __future__ import annotations

import doctest

import pytest

from overlap_lab.render import names, values
from overlap_lab.render.names import printable, shorten


@pytest.mark.parametrize("module", [names, values], ids=["names", "values"])
def test_the_docstring_examples_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.failed == 0
    assert result.attempted > 0


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("csi\x9b31m", "csi\\x9b31m"),
        ("\udcff", "\\udcff"),
        ("void gemm<float, 4>(float*)", "void gemm<float, 4>(float*)"),
        ("größe 核", "größe 核"),
    ],
)
def test_only_what_could_move_the_cursor_is_spelled_out(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_a_cut_is_visible_and_a_fit_is_untouched() -> None:
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"
    assert shorten("abcd", 0) == "…"
