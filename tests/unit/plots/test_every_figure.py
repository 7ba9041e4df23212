"""What every figure has: a title, axes with their unit, a legend, words on hover; if empty, the reason."""

from __future__ import annotations

import sys
from pathlib import Path

import plotly.graph_objects as go
import pytest

from overlap_lab import compare, load, plots
from overlap_lab.cli import main
from overlap_lab.errors import MissingDependency
from overlap_lab.plots.picture import write_figure
from overlap_lab.trace import Source, Trace
from tests.end_to_end.small_trace import write_small_trace
from tests.figures import OF_ONE_TRACE
from tests.timeline import timeline as drawn

ROOT = Path(__file__).parents[3]
TRACE = drawn(
    """
    host   1 |OOOOOOOOOOOOOoooooooooooo
    host   1 |L.SSSSSSS..L.SSSSS..L.SSS
    stream 0 |..KKKKK.......KK......KK.
    """
)
STEPPED = TRACE.replace(names=tuple("ProfilerStep#1" if one == "range" else one for one in TRACE.names))
EMPTY = Trace.from_columns({}, names=(), source=Source())
BY_NAME = {"blocked", "idle_by_cause", "timeline", "comparison"}
"""Their upright axis holds names."""


def figure_of(kind: str) -> go.Figure:
    if kind == "comparison":
        return plots.comparison(compare(TRACE, STEPPED.replace(end_ns=TRACE.end_ns + TRACE.is_device * 500)))
    if kind == "overhead":
        return plots.overhead(ROOT / "docs/benchmarks/h200.json")
    figure: go.Figure = getattr(plots, kind)(STEPPED)
    return figure


def said(figure: go.Figure) -> str:
    return " ".join(str(note.text) for note in figure.layout.annotations)


@pytest.mark.parametrize("kind", plots.__all__)
def test_a_figure_has_title_axes_legend_and_words_on_hover(kind: str) -> None:
    figure = figure_of(kind)
    assert figure.data
    assert figure.layout.title.text or "<b>" in said(figure)
    assert all(axis.title.text for axis in figure.select_xaxes())
    upright = list(figure.select_yaxes())
    assert all(axis.ticktext or axis.type == "category" for axis in upright) is (kind in BY_NAME)
    assert kind in BY_NAME or all(axis.title.text for axis in upright)
    assert all(one.name for one in figure.data if one.showlegend is not False)
    telling = [one for one in figure.data if one.hoverinfo != "skip"]
    assert telling
    assert all(one.hovertemplate or one.hoverinfo == "name" for one in telling)


@pytest.mark.parametrize("kind", OF_ONE_TRACE)
def test_of_an_empty_trace_a_figure_says_that_it_is_empty(kind: str) -> None:
    figure = getattr(plots, kind)(EMPTY)
    assert not figure.data
    assert "neither host nor device records" in said(figure) or "no device records" in said(figure)


def test_overhead_without_samples_says_so() -> None:
    figure = plots.overhead({"format": "hip_ext/measurement 1", "runs": {}})
    assert not figure.data
    assert "no samples of the preparation" in said(figure)


def test_a_page_is_called_as_its_figure_and_a_timeline_as_its_traces(tmp_path: Path) -> None:
    trace = load(write_small_trace(tmp_path / "a&b.json"))
    for kind, expected in (("timeline", "a&amp;b.json"), ("blocked", "a&amp;b.json: host blocked, by call")):
        write_figure(getattr(plots, kind)(trace), tmp_path / "x.html")
        assert f"<title>{expected}</title>" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_without_kaleido_one_line_says_what_to_install(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "kaleido", None)
    picture = tmp_path / f"x.{suffix}"
    with pytest.raises(MissingDependency, match=r"overlap_lab\[pictures\]"):
        write_figure(plots.drains(TRACE), picture)
    trace = write_small_trace(tmp_path / "trace.json")
    assert main(["plot", "drains", str(trace), "-o", str(picture)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f".{suffix}" in told
    assert "overlap_lab[pictures]" in told
    assert not picture.exists()
