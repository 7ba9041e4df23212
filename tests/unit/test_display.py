"""Values in a notebook: what one looks at first, and no markup from a trace."""

from __future__ import annotations

import overlap_lab
from overlap_lab.display import card, grid
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

SYNC = timeline(
    """
    host   1 |LL.SSSSSSSS.L.SSSSSS
    stream 0 |..KKKKKKK....KKKKK..
    """
)


def test_a_trace_shows_its_rows_and_where_it_came_from() -> None:
    shown = SYNC._repr_html_()
    assert "6 rows over 20.0 us" in shown
    assert ">kernel</td><td" in shown
    assert "no file" in Trace.from_columns({}, names=(), source=Source())._repr_html_()


def test_a_report_shows_its_verdict_and_what_blocks() -> None:
    report = overlap_lab.analyze(SYNC)
    shown = report._repr_html_()
    assert report.verdict in shown
    assert "hipDeviceSynchronize" in shown
    assert "4.00 us" in report.tables["drains"]._repr_html_()


def test_a_comparison_shows_verdicts_by_measure() -> None:
    faster = timeline("host   1 |LL.L....SSSSSSSS....\nstream 0 |..KKKKKKKkkkkk......")
    shown = overlap_lab.compare(SYNC, faster)._repr_html_()
    assert "BETTER" in shown
    assert "Device drains" in shown


def test_names_of_a_trace_are_text_everywhere() -> None:
    evil = SYNC.replace(
        names=tuple(f"<script>{name}\x1b" for name in SYNC.names),
        source=Source(files=("<b>.json",), notes=("<i>",), devices={0: "<u>"}),
    )
    report = overlap_lab.analyze(evil)
    every = [evil, report, overlap_lab.compare(evil, SYNC), *report.tables.values()]
    for shown in (one._repr_html_() for one in every):
        assert not {"<script", "<b>.json", "<i>", "<u>", "\x1b"} & {part for part in MARKS if part in shown}


MARKS = ("<script", "<b>.json", "<i>", "<u>", "\x1b")


def test_long_tables_say_how_much_more_there_is() -> None:
    assert "and 3 more" in grid(["a"], [["1"]], more=3)
    assert "more" not in grid(["a"], [["1"]])
    assert len(card("t", "x" * 10_000)) < 1_200
