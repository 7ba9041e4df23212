"""Captures are there without any samples beside the project: it repeats its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab import load
from scripts.bench import captures


def test_without_samples_every_format_has_a_capture_of_the_projects_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "SAMPLES", tmp_path / "absent")
    found = captures.find_captures([], tmp_path)
    formats = [load(path).source.format for path in (*found.kineto, found.rocprof, found.rocpd, found.nsys)]
    assert formats == ["kineto"] * 4 + ["rocprofv3-json", "rocpd", "nsys"]
    assert all(path.exists() for path in found.csv)
    assert found.small.stat().st_size == pytest.approx(1e6, rel=0.3)


def test_given_captures_are_taken_instead(tmp_path: Path) -> None:
    given = tmp_path / "mine.json"
    assert captures.find_captures([given], tmp_path).kineto == (given,)
