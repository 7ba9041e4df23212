"""What is shown of a trace with many devices: a part that a person can read, and how much more there is."""

from __future__ import annotations

import re

import pytest

from overlap_lab import analyze
from overlap_lab.analyze import report_and_context
from overlap_lab.plots import idle_by_cause, timeline
from overlap_lab.plots.timeline_figure import Limits
from overlap_lab.render.html import PageSection, report_page
from overlap_lab.render.text import report_text
from overlap_lab.render.timeline_data import TimelinePanel, drawn_panel
from overlap_lab.report import Finding, Report, Severity
from overlap_lab.schema import Api
from overlap_lab.trace import Trace
from scripts.many_ranks import ranks


def without_waits(trace: Trace) -> Trace:
    """Nothing of it waits, so that the host is late with every launch."""
    return trace.where(trace.api != Api.STREAM_SYNC)


@pytest.fixture(scope="module")
def page() -> str:
    trace = ranks(150)
    report, context = report_and_context(trace)
    return report_page([PageSection("many", trace, report, context)], title="many")


def test_the_page_draws_some_bars_and_says_of_how_many(page: str) -> None:
    [bars] = re.findall(r'<div class="bars">(.*?)</div><div class="legend">', page, re.DOTALL)
    assert bars.count('class="name"') == 32
    assert "the 32 of 150 devices that idle most are drawn" in page


def test_the_page_tells_what_each_device_has_on_average(page: str) -> None:
    [card] = re.findall(r"<section(.*?)</section>", page, re.DOTALL)
    assert "150 devices stood idle for" in card
    assert "of each device&#x27;s " in card


def test_idle_time_of_one_kind_is_one_entry_for_all_devices() -> None:
    trace = without_waits(ranks(150))
    report, context = report_and_context(trace)
    page = report_page([PageSection("late", trace, report, context)], title="late")
    assert page.count('<tr data-cause="host_late">') == 1
    assert "on 150 devices" in page


def test_the_timeline_page_has_a_row_for_every_stream_of_every_device() -> None:
    rows = drawn_panel(TimelinePanel("many", ranks(150))).rows
    assert {f"device {device} stream 7" for device in range(150)} <= {row.label for row in rows}


def test_a_figure_draws_the_busiest_devices_and_counts_the_ops_of_the_others() -> None:
    figure = timeline(ranks(5), limits=Limits(devices=2))
    notes = " ".join(note.text for note in figure.layout.annotations)
    assert "the 2 busiest of 5 devices are drawn, 9 ops on the others" in " ".join(notes.split())


def test_bars_of_idle_time_are_of_the_most_idle_devices() -> None:
    figure = idle_by_cause(ranks(50))
    assert {len(bars.y) for bars in figure.data} == {40}
    notes = " ".join(note.text for note in figure.layout.annotations)
    assert "the 40 of 50 devices that idle most are drawn" in notes


def test_findings_are_counted_where_there_are_many() -> None:
    report = analyze(ranks(2))
    more = tuple(Finding("host_late", Severity.WARNING, f"finding {number}") for number in range(30))
    found = Report(report.source, report.measurements, report.tables, (report.findings[0], *more))
    text = report_text(found)
    assert text.count("warning: finding") == 20
    assert "... and 10 more findings (all of them with --json)" in text
