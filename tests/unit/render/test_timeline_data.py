from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from overlap_lab.errors import UsageError
from overlap_lab.render import timeline_blob
from overlap_lab.render.timeline_blob import timeline_text
from overlap_lab.render.timeline_columns import signed
from overlap_lab.render.timeline_data import TimelinePanel, aligned_zero_ns, drawn_panel
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.render.timeline_read import columns_of, head_of, spans_of, summed

WAITING = timeline(
    """
    host   1 |LL.SSSSSSS..L.SSSSS.
    stream 0 |..KKKKKKK....KKKKK..
    """
)


def _text(*traces: Trace) -> timeline_blob.TimelineText:
    return timeline_text([drawn_panel(TimelinePanel(f"run {at}", one)) for at, one in enumerate(traces)])


def test_every_op_call_wait_and_idle_span_is_there_with_exact_times() -> None:
    spans = spans_of(_text(WAITING))
    assert [span[1:] for span in spans["device 0 stream 0", "kernel"]] == [(2_000, 9_000), (13_000, 18_000)]
    assert [span[1:] for span in spans["thread 1: blocked", "blocked"]] == [(3_000, 10_000)]
    assert [span[1:] for span in spans["thread 1: blocked", "blocked, final wait"]] == [(14_000, 19_000)]
    assert len(spans["thread 1: host calls", "host call"]) == 4
    assert spans["device 0 idle by cause", "idle: drain"] == [("idle: drain", 9_000, 13_000)]


def test_a_wait_says_why() -> None:
    [[name, _, _]] = spans_of(_text(WAITING))["thread 1: blocked", "blocked"]
    assert name == "hipDeviceSynchronize (device sync)"


def test_ops_name_their_call_and_waits_their_last_op() -> None:
    text = _text(WAITING)
    panel = head_of(text)["panels"][0]
    series = [one for row in panel["rows"] for one in row["series"]]
    [ops] = [one for one in series if one["entry"] == "kernel"]
    calls = summed(columns_of(text, ops)[3])
    starts = spans_of(text)["thread 1: host calls", "host call"]
    at = [one["entry"] for one in series].index("host call")
    assert [starts[call - (at << 32)][1] for call in calls if call >= 0][-1] == 12_000
    op, wait = (summed(column) for column in columns_of(text, panel["arrows"]))
    assert op == [ops["base"], ops["base"] + 1]
    assert len(set(wait)) == 2


def test_overlapping_ops_of_a_stream_lie_below_each_other() -> None:
    trace = timeline(
        """
        host   1 |L.L.........
        stream 3 |..KKKKKK....
        stream 3 |....KKKKKK..
        """
    )
    text = _text(trace)
    rows = [row for row in head_of(text)["panels"][0]["rows"] if row["series"][0]["entry"] == "kernel"]
    assert [row["label"] for row in rows] == ["device 0 stream 3", ""]


def test_a_name_cannot_hide_itself() -> None:
    trace = WAITING.replace(names=tuple(f"{name}\u202e\x1b" for name in WAITING.names))
    names = head_of(_text(trace))["names"]
    assert not [name for name in names if "\u202e" in name or "\x1b" in name]


def test_an_empty_trace_makes_an_empty_panel() -> None:
    empty = Trace.from_columns({}, names=(), source=WAITING.source)
    assert head_of(_text(empty))["panels"][0]["rows"] == []


def test_traces_are_aligned_on_an_event_by_name() -> None:
    zero = aligned_zero_ns(WAITING, "hipDeviceSynchronize")
    panel = drawn_panel(TimelinePanel("late", WAITING, zero_ns=zero))
    assert zero - panel.first_ns == panel.zero_ns == 3_000


def test_aligning_on_what_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no event of the trace"):
        aligned_zero_ns(WAITING, "step 7")


def test_host_rows_are_joined_before_the_page_grows_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_blob, "_ROOM_SMALL", 0)
    monkeypatch.setattr(timeline_blob, "_GRAINS", (2,))
    text = _text(WAITING)
    spans = spans_of(text)
    assert spans["thread 1: host calls", "host call"][0] == ("several host calls", 0, 10_000)
    assert len(spans["device 0 stream 0", "kernel"]) == 2
    assert "2 host calls shorter than a pixel" in text.notes[-1]


@given(st.lists(st.integers(-(1 << 52), 1 << 52), min_size=1))
def test_signed_numbers_survive(values: list[int]) -> None:
    coded = signed(np.array(values, np.int64)).tolist()
    assert min(coded) >= 0
    assert [-(v + 1) // 2 if v % 2 else v // 2 for v in coded] == values
