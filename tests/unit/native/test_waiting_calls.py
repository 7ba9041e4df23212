"""Short calls by what was outstanding, and rows around moments, as plain loops find them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import native
from overlap_lab.metrics.evidence import _own_floor
from overlap_lab.metrics.settings import FLOOR_NS, LONGEST_FLOOR_NS
from overlap_lab.schema import Kind
from overlap_lab.trace import Source, Trace

LONG_AGO = np.iinfo(np.int64).min
SCOPES = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 50)), max_size=9), st.booleans()),
    max_size=3,
)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 40), st.integers(0, 5), st.integers(-1, 1), st.integers(-1, 1), st.integers(0, 60)
        ),
        max_size=12,
    ),
    SCOPES,
)
def test_short_calls_that_found_nothing_outstanding(
    calls: list[tuple[int, int, int, int, int]], scopes: list[tuple[list[tuple[int, int]], bool]]
) -> None:
    calls.sort(key=lambda call: (call[0], -call[1]))
    start, length, name, kind, own = np.array(calls, np.int64).reshape(-1, 5).T.copy()
    own[own > 50] = LONG_AGO
    columns = {
        "kind": np.full(start.size, Kind.API),
        "start_ns": start,
        "end_ns": start + length,
        "name": name,
    }
    trace = Trace.from_columns(columns, names=("one", "two"), source=Source())
    lent = [_lent(ops, null) for ops, null in scopes]
    host = np.arange(start.size, dtype=np.int32)
    found = native.free_calls(trace, host, kind.astype(np.int32), [lent, lent[:1]], own, 2)
    count, longest = [0] * 3, [LONG_AGO] * 3
    for call in range(start.size):
        mine = [] if kind[call] < 0 else scopes[: 1 if kind[call] else None]
        if kind[call] < 0 or any(_outstanding(scope, int(start[call]), int(own[call])) for scope in mine):
            continue
        count[name[call] + 1] += 1
        longest[name[call] + 1] = max(longest[name[call] + 1], int(length[call]))
    assert found == (count, longest)


def _lent(ops: list[tuple[int, int]], null: bool) -> tuple[np.ndarray, np.ndarray, bool]:
    ordered = sorted(ops)
    reach = np.maximum.accumulate(np.array([LONG_AGO, *(end for _, end in ordered)], np.int64))
    return np.array([enqueue for enqueue, _ in ordered], np.int64), reach, null


def _outstanding(scope: tuple[list[tuple[int, int]], bool], start: int, own_end: int) -> bool:
    ops, null = scope
    reach = max((end for enqueue, end in ops if enqueue < start), default=LONG_AGO)
    return reach > start and not (null and own_end != LONG_AGO and reach > own_end)


@given(
    st.lists(st.integers(FLOOR_NS // 2, LONGEST_FLOOR_NS * 2), max_size=40),
    st.lists(st.integers(0, FLOOR_NS), max_size=300),
)
def test_the_floor_is_the_99th_percentile_within_limits(asked: list[int], short: list[int]) -> None:
    if not asked and not short:
        return
    tail = float(np.percentile(np.array(asked + short), 99))
    found = _own_floor(np.array(asked, np.int64), len(short), max(short, default=LONG_AGO))
    assert found == int(np.clip(round(tail), FLOOR_NS, LONGEST_FLOOR_NS))


ROWS = st.lists(
    st.tuples(
        st.sampled_from([Kind.RANGE, Kind.PYTHON, Kind.API]),
        st.integers(0, 2),
        st.integers(0, 20),
        st.integers(0, 9),
    ),
    max_size=16,
)


@given(ROWS, st.lists(st.tuples(st.integers(0, 1), st.integers(0, 25)), max_size=6))
def test_rows_in_which_a_moment_begins(
    rows: list[tuple[Kind, int, int, int]], moments: list[tuple[int, int]]
) -> None:
    rows = [(Kind.API, 0, 0, 0), (Kind.API, 1, 0, 0), *rows]
    kind, thread, start, length = np.array(rows, np.int64).T.copy()
    columns = {"kind": kind, "thread": thread, "start_ns": start, "end_ns": start + length}
    trace = Trace.from_columns(columns, names=(), source=Source())
    of_each = [int(np.flatnonzero(trace.thread == one)[0]) for one in (0, 1)]
    who, when = np.array(moments, np.int64).reshape(-1, 2).T.copy()
    kinds = 1 << Kind.RANGE | 1 << Kind.PYTHON
    row, its_thread = native.rows_near(trace, kinds, np.array(of_each), (who, when, when))
    expected = [
        (at, int(trace.thread[at]))
        for at in range(len(trace))
        if trace.kind[at] != Kind.API
        and any(one == trace.thread[at] and trace.start_ns[at] <= t <= trace.end_ns[at] for one, t in moments)
    ]
    assert list(zip(row.tolist(), its_thread.tolist(), strict=True)) == expected


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.booleans()), max_size=40),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=40),
)
def test_slow_launches_of_a_full_queue(
    calls: list[tuple[int, bool, bool]], entries: list[tuple[int, int]]
) -> None:
    start = [at for at, _, _ in calls]
    columns = {"kind": np.full(len(calls), Kind.API), "start_ns": start, "end_ns": start}
    trace = Trace.from_columns(columns, names=(), source=Source()) if calls else None
    if trace is None:
        return
    slow = [is_slow for _, is_slow, _ in calls]
    launches = [call for call, (_, _, is_launch) in enumerate(calls) if is_launch]
    entered, left = sorted(at for at, _ in entries), sorted(at + stay for at, stay in entries)

    def depth(call: int) -> int:
        time = trace.start_ns[call]
        return sum(at <= time for at in entered) - sum(at <= time for at in left)

    expected = []
    for call in launches:
        deeper = [slow[other] for other in launches if depth(other) >= depth(call)]
        if slow[call] and sum(deeper) >= 2 and 4 * sum(deeper) >= 3 * len(deeper):
            expected.append(call)
    host = np.arange(len(calls), dtype=np.int32)
    flags, times = np.array(slow, np.uint8), [np.array(each, np.int64) for each in (entered, left)]
    assert native.full_queue(trace, host, np.array(launches, np.int32), flags, *times).tolist() == expected
