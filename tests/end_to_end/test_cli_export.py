"""`overlap-lab export` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_small_trace(tmp_path / "trace.json")


def numbers(path: Path) -> object:
    return json.loads(overlap_lab("analyze", path, "--json", "-").stdout)["measurements"]


def test_chrome_is_named_like_the_trace_and_analyzes_alike(trace: Path, tmp_path: Path) -> None:
    done = overlap_lab("export", trace, "--to", "chrome", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "wrote trace.chrome.json.gz\n"
    assert numbers(tmp_path / "trace.chrome.json.gz") == numbers(trace)


@pytest.mark.parametrize("target", ["perfetto", "csv", "parquet", "arrow"])
def test_every_target_is_written(target: str, trace: Path, tmp_path: Path) -> None:
    pytest.importorskip({"perfetto": "perfetto", "csv": "pandas"}.get(target, "pyarrow"))
    written = tmp_path / "out"
    done = overlap_lab("export", trace, "--to", target, "-o", written)
    assert (done.returncode, done.stdout) == (0, f"wrote {written}\n")
    assert written.stat().st_size > 100


def test_bad_input_is_one_line(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    existing = overlap_lab("export", trace, "--to", "csv", "-o", tmp_path / "mine.csv")
    assert (existing.returncode, existing.stderr.count("\n")) == (2, 1)
    assert "exists; add --force" in existing.stderr
    other = overlap_lab("export", trace, "--to", "otf2")
    assert other.returncode == 2
    assert "otf2" in other.stderr
    write_small_trace(tmp_path / "second.json")
    several = overlap_lab("export", tmp_path, "--to", "csv")
    assert (several.returncode, several.stderr.count("\n")) == (2, 1)
    assert "holds 2 traces; give one of them" in several.stderr
