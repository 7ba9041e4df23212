"""`scripts/repeat_under_load.py` on test files of a line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "repeat_under_load.py"
GREEN = "def test_good():\n    pass\n"
RED = "def test_bad():\n    assert 1 == 2\n"
UNDECIDED = "def test_open(record_property):\n    record_property('overlap_undecided', 'why')\n"
COLUMNS = ["passed", "undecided", "failed", "error", "skipped"]


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), "test_it.py", "--busy", "1", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    out, _ = process.communicate(timeout=120)
    return process.returncode, out.splitlines()


def row(lines: list[str], name: str) -> list[int]:
    [found] = [line for line in lines if line.startswith(f"| {name} |")]
    return [int(cell) for cell in found.split("|")[2:-1]]


def test_outcomes_are_counted_by_test_and_a_failure_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(GREEN + RED + UNDECIDED)
    code, lines = ended(start(tmp_path, "--runs", "2", "--at-once", "2", "--json", "out.json"))
    assert code == 1
    assert [word.strip() for word in lines[lines.index("") + 1].split("|")[2:-1]] == COLUMNS
    assert row(lines, "test_it::test_good") == [2, 0, 0, 0, 0]
    assert row(lines, "test_it::test_bad") == [0, 0, 2, 0, 0]
    assert row(lines, "test_it::test_open") == [0, 2, 0, 0, 0]
    assert row(lines, "all") == [2, 2, 2, 0, 0]
    assert any(line.strip() == "test_it::test_bad: assert 1 == 2" for line in lines)
    assert [one["code"] for one in json.loads((tmp_path / "out.json").read_text())] == [1, 1]


def test_all_green_is_exit_code_0_and_options_reach_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(GREEN + RED)
    code, lines = ended(start(tmp_path, "--runs", "1", "--", "-k", "good"))
    assert (code, row(lines, "all")) == (0, [1, 0, 0, 0, 0])


def test_what_must_fail_is_expected_to(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(RED)
    assert ended(start(tmp_path, "--runs", "1", "--expect", "1"))[0] == 0


def test_a_run_that_reports_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import os\nos._exit(9)\n")
    code, lines = ended(start(tmp_path, "--runs", "1"))
    assert (code, row(lines, "pytest itself")) == (1, [0, 0, 0, 1, 0])


def test_an_early_end_gives_the_table_of_what_is_done(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(GREEN)
    process = start(tmp_path, "--runs", "1000", "--json", "out.json")
    while not (tmp_path / "out.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, lines = ended(process)
    assert code == 130
    assert row(lines, "test_it::test_good")[0] >= 1
    assert "stopped early: the table is of the runs that are done" in lines
