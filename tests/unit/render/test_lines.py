from __future__ import annotations

from overlap_lab.render.lines import Line, Style, printed, wrapped


def _texts(text: str, width: int) -> list[str]:
    return [line.text for line in wrapped([Line(text, Style.BAD)], width)]


def test_a_number_stays_with_its_unit() -> None:
    assert _texts("idle 480 us in all", 9) == ["idle", "  480 us", "  in all"]
    assert _texts("idle 13.6 % of it", 10) == ["idle", "  13.6 %", "  of it"]


def test_a_long_name_is_not_broken() -> None:
    assert _texts("in aten::_local_scalar_dense", 10) == ["in", "  aten::_local_scalar_dense"]


def test_an_empty_line_stays_one_and_styles_are_kept() -> None:
    assert list(wrapped([Line("", Style.DIM)], 10)) == [Line("", Style.DIM)]


def test_colours_leave_the_text_as_it_is() -> None:
    assert printed([Line("a [red]name[/red]", Style.GOOD)], colour=True) == "\x1b[32ma [red]name[/red]\x1b[0m"
    assert printed([Line("a"), Line("b")], colour=False) == "a\nb"
