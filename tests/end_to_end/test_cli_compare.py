"""`overlap-lab compare` as people run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace
from tests.end_to_end.step_traces import write_steps


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
    assert "window 150 us -> 210 us: +60.0 us (+40.0 % of the baseline) = busy +60.0 us" in done.stdout
    assert "note: the windows were chosen differently" in done.stdout
    assert "single run" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_broken_report_is_one_line(trace: Path, tmp_path: Path) -> None:
    broken = tmp_path / "report.json"
    broken.write_text('{"schema": "overlap_lab.report/1", "measurements": 3}')
    done = overlap_lab("compare", broken, trace)
    assert done.returncode == 2
    assert done.stderr.startswith(f"overlap-lab: {broken}: a report with a missing or broken part")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def turns(tmp_path: Path) -> tuple[Path, Path]:
    """Folders of eight repeats a side that took turns; the candidate thinks 60 us longer in each step."""
    sides = tmp_path / "before", tmp_path / "after"
    for side, folder in enumerate(sides):
        folder.mkdir()
        for number in range(8):
            start = 1_000_000 * (2 * number + side)
            late = 30 + 60 * side
            write_steps(folder / f"{number}.json", kernel_us=900 + number, late_us=late, start_us=start)
    return sides


def test_folders_of_repeats_that_took_turns_are_compared_in_pairs(turns: tuple[Path, Path]) -> None:
    done = overlap_lab("compare", *turns)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "WORSE: 6.2 % slower per repeat than the baseline, in the median of 8 pairs; medians of the sides: "
        "974 us -> 1.03 ms"
    ) in " ".join(done.stdout.split())
    assert (
        "  +5.6 % drain after aten::item at train.py:88, +0.5 % host late (of the baseline's window)\n"
        in done.stdout
    )
    assert "took turns by their start times (A B A B" in done.stdout


def test_lists_of_repeats_are_the_same_as_folders(turns: tuple[Path, Path]) -> None:
    before, after = (sorted(folder.iterdir()) for folder in turns)
    listed = overlap_lab("compare", "--baseline", *before, "--candidate", *after, "--json", "-")
    assert listed.stdout == overlap_lab("compare", *turns, "--json", "-").stdout


def test_two_traces_with_steps_are_compared_step_by_step(turns: tuple[Path, Path]) -> None:
    done = overlap_lab("compare", turns[0] / "0.json", turns[1] / "0.json", "--json", "-")
    whole = json.loads(done.stdout)
    assert whole["sampling"] == "steps"
    assert whole["verdict"] == "worse"
    assert whole["headline"]["difference"] == 60_000
    assert whole["headline"]["statistics"]["observations"] == [12, 12]
    assert whole["explanations"][0]["drained"] == {"aten::item at train.py:88": 60_000 - late_part(whole)}


def late_part(whole: dict[str, Any]) -> int:
    """What of the step's extra time is not behind a drain: the last step of a trace drains nothing."""
    idle = whole["explanations"][0]["idle"]
    return int(sum(idle.values()) - idle["drain"])


def test_a_folder_of_saved_reports_holds_repeats_too(turns: tuple[Path, Path], tmp_path: Path) -> None:
    folders = tmp_path / "saved_before", tmp_path / "saved_after"
    for folder, saved in zip(turns, folders, strict=True):
        saved.mkdir()
        overlap_lab("analyze", folder, "--json", saved / "all.json")
    whole = json.loads(overlap_lab("compare", *folders, "--json", "-").stdout)
    assert whole["sampling"] == "paired repeats"
    assert whole["headline"]["statistics"]["observations"] == [8, 8]
    assert whole["verdict"] == "worse"


def test_a_folder_without_runs_is_one_line(trace: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = overlap_lab("compare", empty, trace)
    assert done.returncode == 2
    assert "no trace in this folder" in done.stderr
    assert done.stderr.count("\n") == 1


def test_markdown_alone_goes_to_standard_output(turns: tuple[Path, Path]) -> None:
    done = overlap_lab("compare", *turns, "--markdown", "-")
    assert done.stdout.startswith("**WORSE: 6.2 % slower per repeat")
    assert "| device/window |" in done.stdout


def test_markdown_and_json_are_written_to_files_that_are_not_overwritten(
    turns: tuple[Path, Path], tmp_path: Path
) -> None:
    names = tmp_path / "c.md", tmp_path / "c.json"
    done = overlap_lab("compare", *turns, "--markdown", names[0], "--json", names[1])
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == [f"wrote {names[1]}", f"wrote {names[0]}"]
    again = overlap_lab("compare", *turns, "--markdown", names[0])
    assert again.returncode == 2
    assert "add --force" in again.stderr


def test_a_range_by_name_is_the_unit(turns: tuple[Path, Path]) -> None:
    first, second = (folder / "0.json" for folder in turns)
    done = overlap_lab("compare", first, second, "--per", "range=ProfilerStep#3", "--json", "-")
    whole = json.loads(done.stdout)
    assert whole["sampling"] == "range instances"
    assert whole["verdict"] == "undecided"
    assert whole["headline"]["reason"].startswith("too few observations")


@pytest.mark.parametrize(
    "arguments",
    [("one.json",), ("a", "b", "c"), ("a", "--candidate", "b"), ("--baseline", "a"), ()],
)
def test_which_path_is_which_side_must_be_clear(arguments: tuple[str, ...]) -> None:
    done = overlap_lab("compare", *arguments)
    assert done.returncode == 2
    assert "compare takes two paths" in done.stderr


def test_json_and_markdown_cannot_both_have_standard_output(trace: Path) -> None:
    done = overlap_lab("compare", trace, trace, "--json", "-", "--markdown", "-")
    assert done.returncode == 2
    assert "only one of them" in done.stderr
