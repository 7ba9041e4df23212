from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest

from overlap_lab.analyze import analyze
from overlap_lab.errors import UsageError
from overlap_lab.plots.palette import CAUSE_COLOURS, COLOURS
from overlap_lab.plots.timeline_figure import Limits, Panel, timeline
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace
from tests.timeline import timeline as drawn

SYNC = drawn(
    """
    host   1 |LL.SSSSSSS..L.SSSSS.
    stream 0 |..KKKKKKK....KKKKK..
    """
)
ASYNC = drawn(
    """
    host   1 |LL.L.....SSSSSS.....
    stream 0 |..KKKKKKKKKKKK......
    """.replace("KKKKKKKKKKKK", "KKKKKKKkkkkk")
)


def _panel(title: str, trace: Trace) -> Panel:
    return Panel(title, trace, analyze(trace))


def _bars(figure: go.Figure, entry: str) -> list[go.Bar]:
    return [bar for bar in figure.data if bar.name == entry]


def test_each_panel_has_its_lanes_and_the_legend_names_each_colour_once() -> None:
    figure = timeline(_panel("sync", SYNC), _panel("async", ASYNC))
    assert list(figure.layout.yaxis.ticktext) == ["thread 1", "blocked", "device 0 stream 0", "device 0 idle"]
    shown = [bar.name for bar in figure.data if bar.showlegend]
    assert len(shown) == len(set(shown))
    assert {"host call", "blocked", "kernel", "idle: drain"} <= set(shown)


def test_bars_start_and_last_as_the_trace_says() -> None:
    [kernels] = _bars(timeline(_panel("sync", SYNC)), "kernel")
    assert (list(kernels.base), list(kernels.x)) == ([2.0, 13.0], [7.0, 5.0])
    [idle] = _bars(timeline(_panel("sync", SYNC)), "idle: drain")
    assert (list(idle.base), list(idle.x)) == ([9.0], [4.0])


def test_a_thousand_events_of_a_lane_are_one_plotly_trace() -> None:
    many = drawn("host   1 |" + "lL" * 500 + "\nstream 0 |" + "kK" * 500)
    assert len(timeline(_panel("many", many)).data) <= 4


def test_what_is_joined_is_said_below_the_figure() -> None:
    many = drawn("host   1 |" + "lL" * 100 + "\nstream 0 |" + "kK" * 100, letter_ns=1)
    long = drawn("host   1 |L........L\nstream 0 |K........K", letter_ns=1_000)
    figure = timeline(_panel("many", many), _panel("long", long), limits=Limits(bars_per_lane=10))
    [said] = [note.text for note in figure.layout.annotations if "are one" in (note.text or "")]
    assert said.startswith("many: on 2 lanes 400 events are drawn as ")
    assert "long" not in said


def test_threads_that_are_left_out_are_counted() -> None:
    several = drawn(
        """
        host   1 |LLLL...
        host   2 |.L.....
        host   3 |..LL...
        stream 0 |.K.K.K.
        """
    )
    figure = timeline(_panel("several", several), limits=Limits(threads=2))
    [said] = [note.text for note in figure.layout.annotations if "busiest" in (note.text or "")]
    assert "the 2 busiest of 3" in said
    assert "1 event on the others" in said


def test_a_hostile_name_is_no_markup_in_hover_title_or_axis() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    trace = SYNC.replace(names=tuple(hostile for _ in SYNC.names))
    plain = timeline(_panel(hostile, trace)).to_json()
    assert "<img" not in plain
    assert "&lt;img" in plain


def test_an_empty_trace_is_an_empty_figure() -> None:
    empty = Trace.from_columns({}, names=(), source=SYNC.source)
    assert len(timeline(_panel("empty", empty)).data) == 0
    assert len(timeline().data) == 0


def test_every_cause_has_a_colour_of_its_own() -> None:
    assert set(CAUSE_COLOURS) == set(Cause)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_a_trace_is_measured_and_named_by_its_file() -> None:
    figure = timeline(SYNC.replace(source=replace(SYNC.source, files=("runs/sync.db",))))
    assert figure.layout.annotations[0].text == "<b>sync.db</b>"


def test_a_window_draws_what_lies_in_it() -> None:
    figure = timeline(SYNC, window=(0, 9_000))
    [kernels] = _bars(figure, "kernel")
    assert list(kernels.base) == [2.0]
    low, high = figure.layout.xaxis.range
    assert low == pytest.approx(-0.09)
    assert high == pytest.approx(9.09)
    with pytest.raises(UsageError, match="is empty"):
        timeline(SYNC, window=(5, 5))


def test_traces_are_aligned_on_a_common_event() -> None:
    figure = timeline(SYNC, ASYNC, align="hipDeviceSynchronize")
    kernels = _bars(figure, "kernel")
    assert [bar.base[0] for bar in kernels] == [2.0 - 3.0, 2.0 - 9.0]
    assert "the first hipDeviceSynchronize" in figure.layout.xaxis2.title.text
    with pytest.raises(UsageError, match="align on 'step': no event of the trace has this name"):
        timeline(SYNC, align="step")


def test_arrows_lead_from_calls_to_ops_and_from_ops_to_waits() -> None:
    [arrows] = [one for one in timeline(SYNC).data if one.name == "arrows"]
    assert arrows.visible == "legendonly"
    points = list(zip(arrows.x, arrows.y, strict=True))
    ends = list(zip(points[::3], points[1::3], strict=True))
    # lanes: 0 the thread, 1 blocked, 2 the stream, 3 idle
    assert ((9.0, 2), (10.0, 0)) in ends
    assert ((0.0, 0), (2.0, 2)) in ends


def test_ranges_and_framework_ops_have_lanes() -> None:
    trace = drawn(
        """
        host   1 |OOOOO.....
        host   1 |IIII......
        host   1 |L.........
        stream 0 |.KKK......
        """
    )
    labels = list(timeline(trace).layout.yaxis.ticktext)
    assert labels[:2] == ["thread 1 ranges", "thread 1 framework ops"]
