"""Figures of costs: what is drawn is what a person counts in the drawing."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab import plots
from overlap_lab.analyze import analyze
from overlap_lab.errors import UsageError
from overlap_lab.plots import costs
from overlap_lab.schema import Api
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline as drawn

SYNC = drawn(
    """
    host   1 |LL.SSSSSSSS.L.SSSSSS
    stream 0 |..KKKKKKK....KKKKK..
    """
)
"""The first synchronize returns at 11, two after the kernel's end at 9; the next kernel starts at 13."""
EMPTY = Trace.from_columns({}, names=(), source=Source())
STEPPED = drawn(
    """
    host   1 |OOOOOOOOOOOoooooooooo
    host   1 |L.SSSSS....L.SSSSS...
    stream 0 |.KKKK.......KKKK.....
    """
)


def bars(figure: object) -> dict[str, list[float]]:
    return {bar.name: list(bar.y if bar.orientation is None else bar.x) for bar in figure.data}  # type: ignore[attr-defined]


def test_blocked_time_is_split_where_the_device_was_done() -> None:
    figure = plots.blocked(SYNC)
    assert bars(figure) == {"until the device was done": [10.0], "after that, until the return": [4.0]}
    assert list(figure.layout.yaxis.ticktext) == ["hipDeviceSynchronize (device_sync)"]
    assert figure.data[0].hovertext == ("10.0 us in 2 waits",)


def test_the_twenty_costliest_places_are_drawn_and_the_others_told() -> None:
    lengths = range(1, 24)  # 23 calls, each blocks 1 us longer than the one before
    host = "".join(f"L{'S' * (length + 1)}." for length in lengths)
    stream = "".join(f".{'K' * (length + 1)}." for length in lengths)
    trace = drawn(f"host   1 |{host}\nstream 0 |{stream}")
    calls = np.flatnonzero(trace.api == Api.DEVICE_SYNC)
    name = trace.name.copy()
    name[calls] = len(trace.names) + np.arange(calls.size)
    trace = trace.replace(name=name, names=(*trace.names, *(f"sync{at}" for at in lengths)))
    figure = plots.blocked(trace)
    assert list(figure.layout.yaxis.ticktext) == [f"sync{at} (device_sync)" for at in range(23, 3, -1)]
    blocked = bars(figure)
    assert sum(blocked["until the device was done"]) == sum(length + 1 for length in range(4, 24))
    assert said(figure) == "3 more places, 9.00 us together, are not drawn"


def test_each_drain_is_a_bar_of_its_parts() -> None:
    figure = plots.drains(SYNC)
    assert bars(figure) == {"return": [2.0], "refill": [1.0], "launch": [1.0]}
    assert "after hipDeviceSynchronize" in figure.data[0].hovertext[0]


def test_the_costliest_drains_are_drawn_and_the_others_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_MOST_DRAINS", 1)
    several = drawn(
        """
        host   1 |L.SSS..L.SSS.....L
        stream 0 |.KKK....KKK.......K
        """
    )
    figure = plots.drains(several)
    assert bars(figure) == {"return": [1.0], "refill": [5.0], "launch": [1.0]}
    [said] = [note.text for note in figure.layout.annotations]
    assert said == "the 1 costliest of 2 drains are drawn; the others are 4.00 us together"


def test_busy_and_causes_fill_the_window() -> None:
    figure = plots.idle_by_cause(SYNC)
    assert bars(figure) == {"busy": [12.0], "idle: drain": [4.0]}
    assert figure.data[1].hovertext == ("4.00 us, 25.0% of the window",)


def test_steps_need_no_trace_where_the_report_has_them() -> None:
    names = tuple("ProfilerStep#1" if name == "range" else name for name in STEPPED.names)
    report = analyze(STEPPED.replace(names=names), steps=True)
    figure = plots.steps(report)
    found = bars(figure)
    assert found["busy"] == [4.0, 4.0]
    assert list(figure.layout.xaxis.ticktext) == ["ProfilerStep#1"] * 2
    assert len(figure.data[2].x) == 2


@pytest.mark.parametrize("kind", ["blocked", "drains", "idle_by_cause", "steps"])
def test_nothing_to_draw_says_why(kind: str) -> None:
    figure = getattr(plots, kind)(EMPTY)
    assert not figure.data
    assert len(figure.layout.annotations[0].text) > 10


def test_names_of_a_trace_are_text() -> None:
    evil = SYNC.replace(names=tuple(f"<img src=x onerror=alert(1)>{name}" for name in SYNC.names))
    for kind in ("blocked", "drains"):
        assert "<img" not in getattr(plots, kind)(evil).to_json()


def test_other_themes_and_other_inputs_are_refused() -> None:
    with pytest.raises(UsageError, match="choose light or dark"):
        plots.blocked(SYNC, theme="sepia")
    with pytest.raises(UsageError, match="a Trace or a Report is needed, not str"):
        plots.drains("trace.json")  # type: ignore[arg-type]
    assert plots.blocked(SYNC, theme="dark").layout.paper_bgcolor != plots.blocked(SYNC).layout.paper_bgcolor
    with pytest.raises(AttributeError):
        plots.pie  # noqa: B018


HOST_ONLY = drawn(
    """
    host   1 |OOOOOOOOOOOoooooooooo
    host   1 |L0SSSSS....L0SSSSS...
    """
)
DEVICE_ONLY = drawn("stream 0 |.K0KK.......K0KK.....")


def stepped(trace: Trace) -> Trace:
    return trace.replace(names=tuple("ProfilerStep#1" if name == "range" else name for name in trace.names))


def said(figure: object) -> str:
    return " ".join(note.text for note in figure.layout.annotations)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["blocked", "drains", "idle_by_cause", "steps", "run_ahead", "queue_depth"])
def test_without_device_records_nothing_is_claimed_of_waits(kind: str) -> None:
    figure = getattr(plots, kind)(stepped(HOST_ONLY))
    assert "has no device records" in said(figure)
    assert not any(word in said(figure) for word in ("no wait", "no call", "no steps"))


@pytest.mark.parametrize("kind", ["blocked", "drains", "steps", "run_ahead", "queue_depth", "launch_latency"])
def test_without_host_records_nothing_is_claimed_of_the_host(kind: str) -> None:
    figure = getattr(plots, kind)(DEVICE_ONLY)
    assert "has no host records" in said(figure)
    assert not figure.data


def test_idle_time_without_host_records_is_one_part() -> None:
    figure = plots.idle_by_cause(DEVICE_ONLY)
    assert bars(figure) == {"busy": [8.0], "idle": [7.0]}
    assert "why the device was idle cannot be told" in said(figure)


def test_steps_without_host_calls_have_no_blocked_time() -> None:
    ranges = drawn(
        """
        host   1 |OOOOOOOOOOOoooooooooo
        stream 0 |.K0KK.......K0KK.....
        """
    )
    figure = plots.steps(stepped(ranges))
    assert [one.name for one in figure.data] == ["busy", "idle"]
    assert "what blocks the host cannot be told" in said(figure)


def test_a_timeline_says_which_side_is_missing() -> None:
    assert "has no device records: what the host waited for cannot be told" in said(plots.timeline(HOST_ONLY))
    assert "has no host records" in said(plots.timeline(DEVICE_ONLY))
    assert "records" not in said(plots.timeline(SYNC))
