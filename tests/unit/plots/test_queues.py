"""Figures of the queue: every value can be counted in the drawing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import plots
from overlap_lab.analyze import analyze
from overlap_lab.errors import UsageError
from overlap_lab.plots import queues
from overlap_lab.plots.envelope import envelope, share_below
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline as drawn

TRACE = drawn(
    """
    host   1 |lL.SSSSSSSS.L.SSSSSS
    stream 0 |..KKKKkkk....KKKKK..
    """
)


def line(figure: object, name: str) -> list[tuple[float, float]]:
    [found] = [one for one in figure.data if one.name == name]  # type: ignore[attr-defined]
    return list(zip(found.x, found.y, strict=True))


def test_queued_work_falls_while_the_device_works() -> None:
    found = line(plots.run_ahead(TRACE), "device 0")
    assert found == [(1, 4), (2, 7), (6, 3), (9, 0), (13, 5), (18, 0)]


def test_queue_depth_counts_entries() -> None:
    found = line(plots.queue_depth(TRACE), "device 0")
    assert found == [(1, 1), (2, 2), (6, 1), (9, 0), (13, 1), (18, 0)]


def test_waits_are_at_the_foot_of_the_figure() -> None:
    [waits] = [one for one in plots.run_ahead(TRACE).data if one.name == "host blocked"]
    assert [x for x in waits.x if x is not None] == [3, 11, 14, 20]
    assert waits.hovertext[0] == "hipDeviceSynchronize (device_sync), 8.00 us"


def test_waits_that_are_not_drawn_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "_MOST_WAITS", 1)
    figure = plots.queue_depth(TRACE)
    [said] = [note.text for note in figure.layout.annotations]
    assert said == "the 1 longest of 2 waits are drawn; the others are 6.00 us together"


def test_launch_latency_is_a_distribution_with_the_floor() -> None:
    figure = plots.launch_latency(TRACE)
    found = line(figure, "device 0, 3 ops")
    assert found == [(1.0, pytest.approx(1 / 3)), (2.0, pytest.approx(2 / 3)), (5.0, 1.0)]
    assert any(one.name.startswith("launch floor, 1.") for one in figure.data)


def test_ops_without_a_call_are_told() -> None:
    lost = drawn("host   1 |L......\nstream 0 |.KK.K0.")
    notes = [note.text for note in plots.launch_latency(lost).layout.annotations]
    assert any("without a call" in text for text in notes)


@pytest.mark.parametrize("kind", ["run_ahead", "queue_depth", "launch_latency"])
def test_nothing_to_draw_says_why_and_a_report_is_refused(kind: str) -> None:
    empty = Trace.from_columns({}, names=(), source=Source())
    assert not getattr(plots, kind)(empty).data
    with pytest.raises(UsageError, match="needs a Trace, not Report"):
        getattr(plots, kind)(analyze(TRACE))


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(-50, 50)), min_size=1, max_size=300),
    st.integers(1, 20),
)
def test_an_envelope_covers_each_pixel_as_all_points_do(points: list[tuple[int, int]], pixels: int) -> None:
    points.sort(key=lambda point: point[0])
    time, value = (np.array(column, np.int64) for column in zip(*points, strict=True))
    found = envelope(time, value, pixels=pixels)
    assert found.points == time.size
    assert found.time_ns.size <= 4 * pixels + 4 or found.is_whole
    width = max((int(time[-1]) - int(time[0])) // pixels, 1)
    for pixel in range(int((time[-1] - time[0]) // width) + 1):
        mine = (time - time[0]) // width == pixel
        kept = (found.time_ns - time[0]) // width == pixel
        if mine.any():
            assert (value[mine].min(), value[mine].max()) == (
                found.value[kept].min(),
                found.value[kept].max(),
            )
            assert (value[mine][0], value[mine][-1]) == (found.value[kept][0], found.value[kept][-1])


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.integers(2, 30))
def test_a_distribution_ends_at_all_and_is_true_at_each_point(values: list[int], points: int) -> None:
    found, share = share_below(np.array(values, np.int64), points=points)
    assert share[-1] == 1.0
    for value, part in zip(found.tolist(), share.tolist(), strict=True):
        assert part == sum(one <= value for one in values) / len(values)
