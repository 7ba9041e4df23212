"""Pairs, medians, memory, verdicts, and the page that they are written into."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts.bench import document
from scripts.bench.comparison import ratio_row
from scripts.bench.pairs import Failed, Rounds, timed_rounds
from scripts.bench.processes import Process
from scripts.bench.rows import Row, at_least, at_most, not_run, printed, row_of, saved
from scripts.bench.setting import Level, Setting
from tests.unit.scripts.bench_works import MEBIBYTES

WORKS = "tests.unit.scripts.bench_works"


def clock(seconds: Iterator[float], name: str, order: list[str]) -> Callable[[], float]:
    def run() -> float:
        order.append(name)
        return next(seconds)

    return run


def test_works_run_in_turn_and_every_second_round_backwards() -> None:
    order: list[str] = []
    works = {name: clock(iter((1.0, 2.0, 9.0)), name, order) for name in "abc"}
    rounds = timed_rounds(works, 3)
    assert "".join(order) == "abccbaabc"
    assert rounds.median("b") == 2.0


def test_no_round_begins_after_the_limit_but_the_first() -> None:
    order: list[str] = []
    works = {name: clock(iter((1.0, 2.0)), name, order) for name in "ab"}
    rounds = timed_rounds(works, 2, limit_s=-1.0)
    assert "".join(order) == "ab"
    assert rounds.median("a") == 1.0


def test_the_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    rounds = Rounds({"own": (1.0, 10.0, 2.0), "other": (3.0, 20.0, 10.0)}, {})
    assert rounds.ratio("own", "other") == 3.0
    assert rounds.median("other") / rounds.median("own") == 5.0


def test_a_work_that_fails_costs_only_its_own_row() -> None:
    def fail() -> float:
        raise Failed("out of memory")

    rounds = timed_rounds({"own": lambda: 2.0, "bad": fail, "other": lambda: 8.0}, 2)
    assert rounds.failures == {"bad": "out of memory"}
    good = ratio_row("load", "f", at_least(3, 5), rounds, work="own", other="other")
    assert (good.measured, good.verdict) == ("4x", "met; aim: 80 % of it")
    bad = ratio_row("load", "f", at_least(3, 5), rounds, work="own", other="bad")
    assert (bad.must, bad.measured, bad.verdict) == ("3x", "-", "not run: bad: out of memory")
    missing = ratio_row("load", "f", at_least(3, 5), rounds, work="own", other="absent")
    assert missing.verdict == "not run: absent: is missing"


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(25.0, "met, the aim too"), (20.0, "met, the aim too"), (15.0, "met; aim: 75 % of it"),
     (10.0, "met; aim: 50 % of it"), (8.0, "**missed**: 80 % of it")],
)  # fmt: skip
def test_large_numbers_meet_their_limits(measured: float, verdict: str) -> None:
    assert at_least(10, 20).verdict(measured) == verdict


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(0.4, "met, the aim too"), (0.5, "met; aim: 1.25 times the limit"),
     (0.6, "met; aim: 1.50 times the limit"), (0.9, "**missed**: 1.50 times the limit")],
)  # fmt: skip
def test_small_numbers_meet_their_limits(measured: float, verdict: str) -> None:
    assert at_most(0.6, 0.4).verdict(measured) == verdict


def test_rows_are_printed_and_survive_being_saved() -> None:
    rows = [
        row_of("load", "a, 5 MB", at_most(0.6, None), 0.5, "1.2"),
        not_run("x", "b", at_least(2, 4), "a|b"),
    ]
    assert [Row(**saved(row)) for row in rows] == rows
    assert printed(rows).splitlines()[2:] == [
        "| load | a, 5 MB | <= 0.60 of the file | - | 0.50 of the file | met | 1.2 |",
        "| x | b | 2x | 4x | - | not run: a/b |  |",
    ]


@pytest.fixture
def process() -> Iterator[Process]:
    with Process(sys.executable, WORKS) as running:
        yield running


def test_the_peak_of_memory_is_seen_from_outside(process: Process, tmp_path: Path) -> None:
    assert 0.9 * MEBIBYTES < process.peak_growth("grow", tmp_path) / 2**20 < 1.5 * MEBIBYTES


def test_what_a_work_prints_is_no_answer(process: Process, tmp_path: Path) -> None:
    assert process.seconds("speak", tmp_path) >= 0


def test_a_failing_work_says_why_and_the_process_goes_on(process: Process, tmp_path: Path) -> None:
    with pytest.raises(Failed, match="no such work"):
        process.seconds("fail", tmp_path)
    assert process.seconds("speak", tmp_path) >= 0


def test_a_dead_process_is_reported_every_time(process: Process, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(Failed, match="exit status 7"):
            process.seconds("die", tmp_path)


def test_files_are_made_once_and_removed(tmp_path: Path) -> None:
    setting = Setting(Level.QUICK, captures=None, folder=tmp_path)  # type: ignore[arg-type]
    with setting.made("a.json", lambda path: path.write_text("1")) as path:
        assert path.read_text() == "1"
    assert not path.exists()
    keeping = Setting(Level.QUICK, captures=None, folder=tmp_path, keep=True)  # type: ignore[arg-type]
    for text in ("2", "3"):
        with keeping.made("a.json", lambda path, text=text: path.write_text(text)) as path:
            assert path.read_text() == "2"


def test_a_file_that_was_not_finished_is_not_taken(tmp_path: Path) -> None:
    setting = Setting(Level.QUICK, captures=None, folder=tmp_path, keep=True)  # type: ignore[arg-type]

    def interrupted(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), setting.made("a.json", interrupted):
        pass
    with setting.made("a.json", lambda path: path.write_text("all")) as path:
        assert path.read_text() == "all"


def test_the_table_replaces_what_was_measured_before() -> None:
    page = document.PAGE.read_text()
    once = document.replaced(page, "| new |")
    assert "| new |" in once
    assert document.replaced(once, "| new |") == once
    assert once.splitlines()[0] == page.splitlines()[0]
    assert once.splitlines()[-1] == page.splitlines()[-1]


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no <!--"):
        document.replaced("# Benchmarks\n", "| new |")
