"""Figures of comparisons and of the preparation's overhead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overlap_lab import compare, plots
from overlap_lab.errors import InputError
from tests.timeline import timeline as drawn

SLOW = drawn(
    """
    host   1 |LL.SSSSSSSS.L.SSSSSS
    stream 0 |..KKKKKKK....KKKKK..
    """
)
FAST = drawn(
    """
    host   1 |LL.L....SSSSSSSS....
    stream 0 |..KKKKKKKkkkkk......
    """
)


def test_one_run_a_side_has_hollow_points_and_says_so() -> None:
    figure = plots.comparison(compare(SLOW, FAST))
    points = [one for one in figure.data if one.mode == "markers"]
    assert {symbol for one in points for symbol in one.marker.symbol} <= {
        "circle-open",
        "triangle-right-open",
    }
    assert not [one for one in figure.data if one.mode == "lines"]
    assert any(
        "say nothing about the next two" in note.text for note in figure.layout.annotations if note.text
    )
    better = next(one for one in points if one.name == "BETTER")
    assert -100.0 in list(better.x)  # all drains are gone


def test_several_runs_a_side_have_intervals() -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    slow, fast = ([drawn(text, 1_000 + at) for at in range(6)] for text in (_TEXT["slow"], _TEXT["fast"]))
    compared = compare(slow, fast)
    figure = plots.comparison(compared)
    intervals = [one for one in figure.data if one.mode == "lines" and one.legendgroup]
    assert intervals
    for one in intervals:
        assert one.x[0] <= one.x[1] <= one.x[2]
    labels = list(figure.layout.yaxis.ticktext)
    assert compared.headline is not None
    assert labels[0].startswith(compared.headline.title)


_TEXT = {
    "slow": "host   1 |LL.SSSSSSSS.L.SSSSSS\nstream 0 |..KKKKKKK....KKKKK..",
    "fast": "host   1 |LL.L....SSSSSSSS....\nstream 0 |..KKKKKKKkkkkk......",
}


def test_two_equal_runs_show_that_nothing_differs() -> None:
    figure = plots.comparison(compare(SLOW, SLOW))
    assert {one.name for one in figure.data if one.mode == "markers"} == {"SAME"}
    assert all(x == 0 for one in figure.data if one.mode == "markers" for x in one.x)


def measurement(samples: dict[str, list[int]]) -> dict[str, object]:
    modes = {mode: {"samples": {"host_call_ns": taken}} for mode, taken in samples.items()}
    return {
        "format": "hip_ext/measurement 1",
        "facts": {"card": "a card"},
        "runs": {"preparation/queue0": {"modes": modes}, "preparation/queue10": {"modes": modes}},
    }


def test_overhead_shows_medians_and_percentiles_by_mode(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(json.dumps(measurement({"sync": list(range(0, 101_000, 1_000)), "device": [7_000]})))
    figure = plots.overhead(path)
    by_name = {one.name: one for one in figure.data}
    assert list(by_name["sync"].x) == ["0", "10"]
    assert list(by_name["sync"].y) == [50.0, 50.0]
    assert list(by_name["sync"].error_y.array) == [40.0, 40.0]
    assert list(by_name["device"].y) == [7.0, 7.0]
    assert "a card" in figure.layout.title.text


@pytest.mark.parametrize("text", ["", "[1]", '{"format": "other"}', "[" * 100_000])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"raw file of python -m hip_ext.bench.measure"):
        plots.overhead(path)
    with pytest.raises(InputError, match="cannot be read"):
        plots.overhead(tmp_path / "missing.json")
