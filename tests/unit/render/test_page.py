from __future__ import annotations

import re
from dataclasses import replace

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.compare import compare
from overlap_lab.render.html import PageSection, report_page
from overlap_lab.render.side_by_side import side_by_side
from overlap_lab.report import Report
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.render.made_report import made_report

SYNC = made_report()
ASYNC = made_report(busy_us=410, idle_us={Cause.HOST_FUNCTION: 30}, drains=0)
TRACE = timeline(
    """
    host   1 |LL.SSSSSSS..L.SSSSS.
    stream 0 |..KKKKKKK....KKKKK..
    """
)


@pytest.fixture(scope="module")
def page() -> str:
    sections = [PageSection("sync", TRACE, SYNC), PageSection("async", TRACE, ASYNC)]
    return report_page(sections, title="Sync & async", comparisons=[("sync -> async", compare(SYNC, ASYNC))])


def _body(page: str) -> str:
    return page.partition("<body>")[2].partition("<script>")[0]


def test_each_section_has_its_verdict_and_its_tables(page: str) -> None:
    body = _body(page)
    assert body.count('<section class="card" aria-label=') == 2  # which is better, their comparison says
    assert body.count('<section class="card good">') == 1
    assert body.count("hipMemcpy drains device 0") >= 2
    assert "sync: all numbers" in body
    assert "Drains, the costliest first" in body


def test_the_difference_is_explained_above_its_measures(page: str) -> None:
    body = _body(page)
    assert body.index("-60.0 us (-12.0 % of the baseline) = busy +10.0 us") < body.index(
        '<tr class="better">'
    )


def test_one_script_and_one_style_with_hashes_are_all_that_may_run(page: str) -> None:
    head, _, body = page.partition("</head>")
    assert body.count("<script>") == 1
    assert head.count("'sha256-") == 2
    assert "style=" not in body.partition("<script>")[0]


def test_every_number_of_a_card_carries_its_exact_value(page: str) -> None:
    assert '<dd data-tag="device/idle" data-value="100000">100 us</dd>' in page


def test_each_costly_wait_has_advice_and_a_link_to_the_timeline(page: str) -> None:
    body = _body(page)
    assert body.count('class="spot"') == body.count('href="#t=') == 5  # two waits each, and what to try next
    assert body.count('data-rule="copy_by_name"') == 2


def test_two_traces_begin_with_which_is_faster_and_what_was_gained_and_lost(page: str) -> None:
    card = re.sub("<wbr>", "", _body(page).partition("</section>")[0]).replace("\u00a0", " ")
    assert '<p class="said">12.0 % faster: window 500 us → 440 us.</p>' in card
    assert "Gained: ran empty after a wait -80.0 us, host late -20.0 us." in card
    assert "Lost: behind a host function +30.0 us, busy +10.0 us." in card
    assert '<tr class="gain">' in card
    assert '<tr class="loss">' in card


def test_a_slower_candidate_is_never_green() -> None:
    sections = [PageSection("async", TRACE, ASYNC), PageSection("sync", TRACE, SYNC)]
    body = _body(report_page(sections, title="a", comparisons=[("async -> sync", compare(ASYNC, SYNC))]))
    assert '<section class="card bad">' in body
    assert "card good" not in body


def test_runs_that_overlap_leave_their_comparison_without_a_colour() -> None:
    doubt = "UNDECIDED which is faster: all runs took 1 ms to 3 ms against 2 ms to 4 ms"
    comparison = replace(compare(SYNC, ASYNC), notes=(doubt,))
    sections = [PageSection("sync", TRACE, SYNC), PageSection("async", TRACE, ASYNC)]
    body = _body(report_page(sections, title="a", comparisons=[("sync -> async", comparison)]))
    assert f'<p class="said">{doubt}.</p>' in body.replace("\u00a0", " ")
    assert "card good" not in body


def test_the_title_is_escaped(page: str) -> None:
    assert "<title>Sync &amp; async</title>" in page


def test_one_section_is_open_and_compared_with_nothing() -> None:
    body = _body(report_page([PageSection("run", TRACE, SYNC)], title="One"))
    assert '<details open="open">' in body
    assert "Side by side" not in body
    assert "What changed" not in body


def test_a_trace_without_any_record_makes_a_page() -> None:
    empty = Trace.from_columns({}, names=(), source=TRACE.source)
    body = _body(report_page([PageSection("empty", empty, analyze(empty))], title="Empty"))
    assert 'class="card warn"' in body
    assert "Where the window goes" not in body


def test_reports_stand_side_by_side_without_rows_that_are_zero_everywhere() -> None:
    table = side_by_side([("sync", SYNC), ("async", ASYNC)])
    rows = {str(row[0]).strip(): row[1:] for row in table.rows}
    assert rows["window"] == ("500 us", "440 us")
    assert rows["idle: drain"] == ("80.0 us", "0 ns")
    assert rows["before the final wait"] == ("200 us", "200 us")
    assert "idle: dependency" not in rows


def test_a_report_without_waits_says_so_side_by_side() -> None:
    bare = replace(SYNC, tables={})
    rows = {str(row[0]).strip(): row[1:] for row in side_by_side([("a", SYNC), ("b", bare)]).rows}
    assert rows["in the final wait"] == ("100 us", "n/a")


def _pair_card(a: Report, b: Report) -> str:
    sections = [PageSection("a", TRACE, a), PageSection("b", TRACE, b)]
    body = _body(report_page(sections, title="a", comparisons=[("a -> b", compare(a, b))]))
    return re.sub("<wbr>", "", body.partition("</section>")[0]).replace("\u00a0", " ")


def _with_final_waits_only(report: Report) -> Report:
    waits = report.tables["waits"]
    terminal = [column.name for column in waits.columns].index("terminal")
    final = replace(waits, rows=tuple(row for row in waits.rows if row[terminal]))
    return replace(report, tables={**report.tables, "waits": final})


def test_two_traces_say_what_the_host_gained_or_lost_beside_the_device() -> None:
    free = _with_final_waits_only(ASYNC)
    gained, lost, same = (_pair_card(*pair) for pair in ((SYNC, free), (free, SYNC), (SYNC, ASYNC)))
    assert (
        "B leaves the host free for longer: blocked with work still to launch 200 us → 0 ns (-200 us)."
        in gained
    )
    assert "B blocks the host for longer: blocked with work still to launch 0 ns → 200 us (+200 us)." in lost
    assert "the host for longer" not in same
    assert "the host free" not in same


def test_a_difference_of_less_than_a_thousandth_of_the_window_stays_light() -> None:
    later = made_report(busy_us=3_400, idle_us={Cause.DRAIN: 83, Cause.HOST_LATE: 20})
    card = _pair_card(made_report(busy_us=3_400), later)
    assert '+3.00 us <span class="soft">+0.1 %</span></td>' in card
    assert '<tr class="' not in card
    assert '<tr class="loss">' in _pair_card(
        made_report(busy_us=400), made_report(busy_us=400, idle_us={Cause.DRAIN: 90})
    )
