from __future__ import annotations

from overlap_lab.render.html_parts import element, sentence, stacked_bar, table, term, text
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


def test_a_long_name_may_break_behind_its_punctuation_and_is_escaped() -> None:
    said = sentence("in autograd::engine::evaluate_function: <b> took 1.50 ms")
    assert "autograd::<wbr>engine::<wbr>evaluate_function:" in said
    assert "&lt;b&gt;" in said
    assert "1.50\u00a0ms" in said


def test_a_short_name_and_an_opening_bracket_never_break() -> None:
    assert sentence("aten::copy_ (a.b)") == "aten::copy_ (a.b)"
    assert "(<wbr>" not in sentence("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")


def test_a_term_carries_its_meaning() -> None:
    assert '<span class="meaning" role="tooltip">' in term("window")
    assert term("window", "window of each device").startswith(
        '<span class="term" tabindex="0">window of each device<'
    )
