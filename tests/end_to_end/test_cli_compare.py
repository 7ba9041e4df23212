"""`overlap-lab compare` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_small_trace(tmp_path / "trace.json")


def test_a_trace_and_its_saved_report_compare_as_the_same(trace: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    overlap_lab("analyze", trace, "--json", saved)
    whole = json.loads(overlap_lab("compare", saved, trace, "--json", "-").stdout)
    assert whole["schema"] == "overlap_lab.comparison/1"
    assert whole["sampling"] == "single run"
    assert {one["verdict"] for one in whole["differences"] if "reason" not in one} == {"same"}
    assert whole["explanations"][0]["window"] == 0


def test_the_text_explains_the_window_and_marks_single_runs(trace: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    overlap_lab("analyze", trace, "--window", "0us:150us", "--json", saved)
    done = overlap_lab("compare", saved, trace)
    assert (done.returncode, done.stderr) == (0, "")
    assert "window 150 us -> 210 us: +60.0 us (40.0 %) = busy +60.0 us" in done.stdout
    assert "note: the windows were chosen differently" in done.stdout
    assert "single run" in done.stdout
    assert "\x1b" not in done.stdout


def test_several_traces_on_one_side_are_refused(trace: Path, tmp_path: Path) -> None:
    write_small_trace(tmp_path / "other.json")
    done = overlap_lab("compare", tmp_path, trace)
    assert done.returncode == 2
    assert "2 traces" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_broken_report_is_one_line(trace: Path, tmp_path: Path) -> None:
    broken = tmp_path / "report.json"
    broken.write_text('{"schema": "overlap_lab.report/1", "measurements": 3}')
    done = overlap_lab("compare", broken, trace)
    assert done.returncode == 2
    assert done.stderr.startswith(f"overlap-lab: {broken}: a report with a missing or broken part")
    assert done.stderr.count("\n") == 1
