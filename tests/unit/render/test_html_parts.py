from __future__ import annotations

from overlap_lab.render.html_parts import element, stacked_bar, table, text
from overlap_lab.report import Column, Table

HOSTILE = "</script><img src=x onerror=alert(1)>"


def test_text_from_a_trace_is_never_markup() -> None:
    assert "<" not in text(HOSTILE)
    assert text('"quoted"') == "&quot;quoted&quot;"
    assert text("\x1b[2J") == "\\x1b[2J"


def test_attributes_are_escaped_too() -> None:
    assert element("p", title='" onclick="x') == '<p title="&quot; onclick=&quot;x"></p>'


def test_a_table_escapes_heads_cells_and_title() -> None:
    page = table(Table((Column(HOSTILE, "text"),), ((HOSTILE,),), HOSTILE))
    assert "<img" not in page
    assert page.count("&lt;img") == 3


def test_rows_beyond_the_limit_are_counted() -> None:
    page = table(Table((Column("n", "count"),), tuple((n,) for n in range(12))), most=10)
    assert page.count("<tr>") == 11
    assert "2 more rows" in page


def test_an_empty_table_says_none() -> None:
    assert "None." in table(Table((Column("n", "count"),), (), "Drains"))


def test_a_bar_leaves_out_parts_of_zero_length() -> None:
    page = stacked_bar([("busy", 80.0, "blue"), ("idle", 0.0, "red")], total="1 ms")
    assert 'width="80.0000%"' in page
    assert "style=" not in page
    assert "red" not in page
