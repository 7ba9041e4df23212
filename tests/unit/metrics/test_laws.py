"""What holds for every trace, sensible or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlap_lab.analyze import analyze
from overlap_lab.report import Report
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, COLUMNS, Api, Cause, Kind, Reason
from overlap_lab.trace import Source, Trace, columns_of

US = 1_000
APIS = [api for api in Api if api is not Api.NONE]
CALLS = st.tuples(
    st.sampled_from(APIS),
    st.integers(0, 200),
    st.integers(0, 60),
    st.integers(1, 2),
    st.integers(0, 12),
    st.sampled_from([ABSENT, 0, 1]),
)
OPS = st.tuples(
    st.sampled_from([Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET]),
    st.integers(0, 250),
    st.integers(0, 60),
    st.integers(0, 1),
    st.integers(0, 12),
    st.sampled_from([0, 1, 2]),
)


def build(calls: list[tuple[Any, ...]], ops: list[tuple[Any, ...]]) -> Trace:
    rows = [
        (Kind.API, api, start, start + length, thread, ABSENT_DEVICE, stream, correlation)
        for api, start, length, thread, correlation, stream in calls
    ] + [
        (kind, Api.NONE, start, start + length, ABSENT, device, stream, correlation)
        for kind, start, length, device, correlation, stream in ops
    ]
    names = ("kind", "api", "start_ns", "end_ns", "thread", "device", "stream", "correlation")
    columns = {name: np.array([row[at] for row in rows], COLUMNS[name]) for at, name in enumerate(names)}
    for name in ("start_ns", "end_ns"):
        columns[name] = columns[name] * US
    columns["process"] = np.full(len(rows), 1, np.int32)
    return Trace.from_columns(columns, names=(), source=Source(null_streams=frozenset({0})))


TRACES = st.builds(build, st.lists(CALLS, max_size=12), st.lists(OPS, max_size=12))


def numbers(report: Report) -> dict[tuple[str, tuple[tuple[str, int], ...]], Any]:
    return {(m.tag, tuple(sorted(m.scope.items()))): (m.value, m.low, m.high) for m in report.measurements}


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_idle_is_the_window_without_busy_and_the_sum_of_its_causes(trace: Trace) -> None:
    report = analyze(trace)
    for busy in report.by_tag("device/busy"):
        if busy.value is None:
            continue
        window, idle = (report.value(f"device/{tag}", **busy.scope) for tag in ("window", "idle"))
        assert idle is not None
        assert busy.value + idle == window
        causes = [report.value(f"device/idle/{cause}", **busy.scope) for cause in Cause]
        if None not in causes:
            assert sum(cause or 0 for cause in causes) == idle


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_blocked_time_splits_three_ways_without_rest(trace: Trace) -> None:
    report = analyze(trace)
    for blocked in report.by_tag("host/blocked"):
        if blocked.value is None:
            continue
        parts = {
            tag: report.value(f"host/blocked/{tag}", **blocked.scope) or 0
            for tag in ("explicit", "implicit", "device_bound", "return_latency", *Reason)
        }
        assert parts["explicit"] + parts["implicit"] == blocked.value
        assert parts["device_bound"] + parts["return_latency"] == blocked.value
        assert sum(parts[reason] for reason in Reason) == blocked.value
        assert min(parts.values()) >= 0


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_the_parts_of_drains_sum_to_their_idle_time(trace: Trace) -> None:
    report = analyze(trace)
    for idle in report.by_tag("drain/idle"):
        if idle.value is None:
            continue
        parts = [
            report.value(f"drain/idle/{part}", **idle.scope) or 0 for part in ("return", "refill", "launch")
        ]
        assert sum(parts) == idle.value
        assert min(parts) >= 0


@settings(deadline=None, max_examples=40)
@given(TRACES, st.integers(0, 200), st.integers(1, 200))
def test_the_laws_hold_in_every_window(trace: Trace, first: int, length: int) -> None:
    report = analyze(trace, window=(first * US, (first + length) * US))
    for window in report.by_tag("device/window"):
        if window.value is None:
            continue
        assert window.value == length * US
        parts = [report.value(f"device/{tag}", **window.scope) or 0 for tag in ("busy", "idle")]
        assert sum(parts) == window.value
        causes = [report.value(f"device/idle/{cause}", **window.scope) for cause in Cause]
        if None not in causes:
            assert sum(cause or 0 for cause in causes) == parts[1]


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_another_zero_of_the_clock_changes_nothing(trace: Trace) -> None:
    moved = trace.replace(start_ns=trace.start_ns + 10**18, end_ns=trace.end_ns + 10**18)
    assert numbers(analyze(moved)) == numbers(analyze(trace))


@settings(deadline=None, max_examples=40)
@given(TRACES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(trace: Trace, chance: Any) -> None:
    # Rows that start and end together have no order of their own, so they keep theirs.
    order = list(range(len(trace)))
    chance.shuffle(order)
    ties: dict[tuple[int, int], list[int]] = {}
    for row in range(len(trace)):
        ties.setdefault((int(trace.start_ns[row]), int(trace.end_ns[row])), []).append(row)
    turn = {key: iter(rows) for key, rows in ties.items()}
    order = [next(turn[(int(trace.start_ns[row]), int(trace.end_ns[row]))]) for row in order]
    columns = {name: column[order] for name, column in columns_of(trace).items()}
    again = Trace.from_columns(columns, names=trace.names, source=trace.source)
    assert numbers(analyze(again)) == numbers(analyze(trace))


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_other_numbers_of_streams_change_nothing(trace: Trace) -> None:
    stream = np.where(trace.stream == ABSENT, ABSENT, 90 - trace.stream)
    source = Source(null_streams=frozenset({90}))
    renamed = analyze(trace.replace(stream=stream, source=source))
    back = {
        (
            tag,
            tuple(sorted((name, 90 - number if name == "stream" else number) for name, number in scope)),
        ): value
        for (tag, scope), value in numbers(renamed).items()
    }
    assert back == numbers(analyze(trace))
