from __future__ import annotations

from dataclasses import replace

from overlap_lab.compare import compare
from overlap_lab.render.compare_markdown import comparison_to_markdown, escaped
from tests.timeline import timeline
from tests.unit.render.made_report import made_report

SYNC, ASYNC = made_report(), made_report(drains=0, idle_us={})


def test_one_run_a_side_says_so_first() -> None:
    first = comparison_to_markdown(compare(SYNC, ASYNC)).splitlines()[0]
    assert first == (
        "**One run a side, exact differences: window 500 us -\\> 400 us: -100 us (-20.0 % of the baseline) = "
        "idle drain -80.0 us, idle host late -20.0 us**"
    )


def test_a_name_out_of_a_trace_cannot_leave_its_cell_or_call_anyone() -> None:
    hostile = replace(SYNC, source={**SYNC.source, "files": ["a|b\n# x <img src=x> [l](u) @all `rm`"]})
    text = comparison_to_markdown(compare(hostile, ASYNC))
    [last] = [line for line in text.splitlines() if line.startswith("> baseline")]
    assert "a\\|b\\\\n# x \\<img src=x\\> \\[l\\](u) @\N{ZERO WIDTH SPACE}all \\`rm\\`" in last
    assert "@all" not in text


def test_issue_numbers_and_links_are_only_text() -> None:
    assert escaped("see #12 at https://x.org") == (
        "see #\N{ZERO WIDTH SPACE}12 at https:\N{ZERO WIDTH SPACE}//x.org"
    )


def test_what_a_table_leaves_out_is_counted() -> None:
    text = comparison_to_markdown(compare(SYNC, ASYNC))
    rows = [line for line in text.splitlines() if line.startswith(("| device/", "| drain/"))]
    assert len(rows) == 6
    assert "47 measures are the same, undecided or without a value." in text.splitlines()


def test_a_long_table_is_cut_and_says_of_how_many() -> None:
    waiting = timeline("host   1 |L.SSSSSS.L.SSSSS\nstream 0 |..KKKKK....KKK..")
    flowing = timeline("host   1 |LlL....SSS\nstream 0 |..KKkkKKK.")
    lines = comparison_to_markdown(compare(waiting, flowing)).splitlines()
    rows = [line for line in lines if line.startswith("| ")][2:]
    assert len(rows) == 12
    assert (
        "The first 12 of 28 measures that differ. 53 measures are the same, undecided or without a value."
    ) in lines
