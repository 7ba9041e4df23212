"""The measurement of what a Python call costs beside the work: that it measures, not how much."""

from __future__ import annotations

import sys

import pytest

import hip_ext

if hip_ext.ON_GPU:
    pytest.skip("the host target's streams are held by its own runtime", allow_module_level=True)

from hip_ext.bench import python_share

CALLS = ["mha_varlen_bwd async", "mha_varlen_bwd device", "mha_bwd async", "mha_bwd device"]


def test_every_call_is_timed_as_often() -> None:
    taken = python_share.sample(rounds=3)
    assert list(taken) == CALLS
    assert {len(samples) for samples in taken.values()} == {3 * python_share.IN_ROW}
    assert all(ns > 0 for samples in taken.values() for ns in samples)


def test_builds_share_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    itself = str(python_share.Path(python_share.__file__).parents[2])
    monkeypatch.setattr(sys, "argv", ["python_share", "--against", itself, "--pairs", "1", "--rounds", "2"])
    assert python_share.main() == 0
    header, _, *rows = capsys.readouterr().out.splitlines()
    assert header == "| call | the other | this build | ratio |"
    assert [row.split("|")[1].strip(" `") for row in rows] == [*CALLS, "C++ async", "C++ device"]
    assert {len(row.split("|")) for row in rows} == {6}
