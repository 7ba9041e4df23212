from __future__ import annotations

import re
from dataclasses import replace

from overlap_lab.render.text import report_text
from overlap_lab.report import Finding, Severity
from overlap_lab.schema import Cause
from tests.unit.render.made_report import made_report

REPORT = made_report()


def test_the_verdict_stands_right_behind_the_name_of_the_file() -> None:
    first, second, third, *_ = report_text(REPORT).splitlines()
    assert first == "run.csv | rocprof_csv"
    assert second == "hipMemcpy drains device 0"
    assert third == (
        "device 0 MI300X idle 100 us, 20.0 % of its 500 us window: "
        "drain 80.0 us, host late 20.0 us; overlap 0.750"
    )


def test_the_device_table_names_its_window_and_only_causes_that_occur() -> None:
    text = report_text(REPORT)
    assert "Devices, window from each device's first op to its last" in text
    [head] = [line for line in text.splitlines() if line.startswith("device  ")][:1]
    columns = "device|window|busy|idle|= drain|+ host late|drains|overlap|with final wait"
    assert re.split(r"\s{2,}", head) == columns.split("|")
    assert "dependency" not in text


def test_plain_text_has_no_escape_codes_even_from_hostile_names() -> None:
    assert "\x1b" not in report_text(made_report(name="hip\x1b[31mMemcpy"))


def test_colours_are_only_for_those_who_ask() -> None:
    coloured = report_text(REPORT, colour=True)
    assert "\x1b[" in coloured
    assert "hipMemcpy drains device 0" in coloured


def test_where_a_wait_was_made_is_told_with_it() -> None:
    assert "backward > aten::item" in report_text(REPORT)


def test_a_reason_is_printed_in_words_and_never_as_a_name_of_the_code() -> None:
    text = report_text(REPORT)
    assert "sync copy" in text
    assert "sync_copy" not in text


def test_only_faults_that_occurred_are_listed() -> None:
    text = report_text(REPORT)
    assert "quality/unlinked_ops" in text
    assert "quality/truncated" not in text


def test_a_device_that_never_idles_has_no_list_of_causes() -> None:
    line = report_text(made_report(idle_us=dict.fromkeys(Cause, 0))).splitlines()[2]
    assert line == "device 0 MI300X idle 0 ns, 0.0 % of its 400 us window; overlap 0.750"


def test_what_costs_most_and_what_to_try_stand_before_the_tables() -> None:
    lines = report_text(REPORT).splitlines()
    tables = next(at for at, line in enumerate(lines) if line.startswith("Devices"))
    head = " ".join(line.strip() for line in lines[:tables])
    assert "after which the device ran empty: 80.0 us, 16.0 % of the window" in head
    assert "try first: This copy waits by its name" in head


def test_warnings_stand_before_the_tables_and_remarks_behind_them() -> None:
    found = (
        Finding("truncated", Severity.WARNING, "the trace is cut off"),
        Finding("redundant_waits", Severity.INFO, "3 synchronize calls waited for nothing"),
    )
    text = report_text(replace(REPORT, findings=(*REPORT.findings, *found)))
    assert text.index("warning: the trace is cut off") < text.index("Devices, window")
    assert text.index("info: 3 synchronize calls") > text.index("Devices, window")
