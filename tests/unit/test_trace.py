from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import Source, Trace
from overlap_lab.errors import UsageError
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, Api, Kind
from overlap_lab.trace import columns_of
from tests.timeline import timeline

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(list(Kind)),
        st.integers(min_value=-100, max_value=100),
        st.integers(min_value=0, max_value=50),
        st.integers(min_value=0, max_value=2),
    ),
    max_size=15,
)


def trace_of(events: list[tuple[Kind, int, int, int]]) -> Trace:
    columns = {
        "kind": [kind for kind, *_ in events],
        "start_ns": [start for _, start, _, _ in events],
        "end_ns": [start + duration for _, start, duration, _ in events],
        "thread": [thread for *_, thread in events],
    }
    return Trace.from_columns(columns, names=(), source=Source())


def same(a: Trace, b: Trace) -> bool:
    mine, theirs = columns_of(a), columns_of(b)
    return all((mine[name] == theirs[name]).all() for name in COLUMNS)


def test_a_trace_may_be_empty() -> None:
    trace = Trace.from_columns({}, names=(), source=Source())
    assert len(trace) == 0
    assert trace.to_pandas().empty
    assert not trace.is_device.any()


def test_columns_have_their_dtypes() -> None:
    trace = timeline(
        """
        host   1 |LL...
        stream 0 |..KKK
        """
    )
    assert {name: column.dtype for name, column in columns_of(trace).items()} == COLUMNS


def test_what_is_not_given_is_absent() -> None:
    trace = trace_of([(Kind.KERNEL, 0, 5, 0)])
    absent = {
        "name": -1,
        "process": ABSENT_PROCESS,
        "device": ABSENT_DEVICE,
        "stream": ABSENT,
        "queue": ABSENT,
        "bytes": ABSENT,
        "graph": ABSENT,
        "correlation": 0,
    }
    assert {name: int(columns_of(trace)[name][0]) for name in absent} == absent


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(UsageError, match="durations"):
        Trace.from_columns({"durations": [1]}, names=(), source=Source())


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="differ in length"):
        Trace.from_columns({"kind": [1], "api": [1, 2]}, names=(), source=Source())


def test_of_two_that_start_together_the_longer_comes_first() -> None:
    trace = trace_of([(Kind.API, 5, 1, 0), (Kind.API, 5, 3, 0), (Kind.API, 0, 1, 0)])
    assert trace.end_ns.tolist() == [1, 8, 6]


def test_ids_beyond_signed_64_bits_survive() -> None:
    columns = {"kind": [Kind.API], "correlation": np.array([2**64 - 1], np.uint64)}
    trace = Trace.from_columns(columns, names=(), source=Source())
    assert int(trace.correlation[0]) == 2**64 - 1


def test_a_sync_row_is_not_device_work() -> None:
    trace = timeline(
        """
        host   1 |L1T2TTT
        stream 0 |..K1KK.
        stream 0 |..S2SS.
        """
    )
    assert int(trace.is_device.sum()) == 1
    assert int(trace.is_host_call.sum()) == 2


def test_a_row_without_a_name_has_an_empty_one() -> None:
    assert trace_of([(Kind.API, 0, 1, 0)]).name_of(0) == ""


def test_nesting_is_counted_for_each_thread_and_kind() -> None:
    trace = timeline(
        """
        host 1 |OOOOOOOO
        host 1 |.AAAAAA.
        host 1 |..AA....
        host 1 |....A...
        host 2 |.AA.....
        """
    )
    depths = sorted(zip(trace.start_ns.tolist(), trace.thread.tolist(), trace.depth.tolist(), strict=True))
    assert depths == [(0, 1, 0), (1_000, 1, 0), (1_000, 2, 0), (2_000, 1, 1), (4_000, 1, 1)]


@given(EVENTS)
def test_rows_come_sorted_by_start(events: list[tuple[Kind, int, int, int]]) -> None:
    trace = trace_of(events)
    assert len(trace) == len(events)
    assert (np.diff(trace.start_ns) >= 0).all()
    assert sorted(trace.end_ns.tolist()) == sorted(start + duration for _, start, duration, _ in events)


@given(EVENTS)
def test_a_trace_of_its_own_columns_is_the_same(events: list[tuple[Kind, int, int, int]]) -> None:
    trace = trace_of(events)
    again = Trace.from_columns(columns_of(trace), names=trace.names, source=trace.source)
    assert same(trace, again)


@given(EVENTS)
def test_where_splits_a_trace_without_loss(events: list[tuple[Kind, int, int, int]]) -> None:
    trace = trace_of(events)
    device, rest = trace.where(trace.is_device), trace.where(~trace.is_device)
    assert len(device) + len(rest) == len(trace)
    assert device.is_device.all()
    assert not rest.is_device.any()
    assert same(trace, trace.where(np.ones(len(trace), bool)))


@given(EVENTS)
def test_replace_gives_a_copy(events: list[tuple[Kind, int, int, int]]) -> None:
    trace = trace_of(events)
    moved = trace.replace(start_ns=trace.start_ns + 7)
    assert (moved.start_ns - trace.start_ns == 7).all()
    assert same(trace, moved.replace(start_ns=trace.start_ns))


@given(EVENTS)
def test_a_frame_has_a_row_for_each_event(events: list[tuple[Kind, int, int, int]]) -> None:
    trace = trace_of(events)
    frame = trace.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["start_ns"].tolist() == trace.start_ns.tolist()
    assert frame["kind"].tolist() == [Kind(kind).name.lower() for kind in trace.kind]


def test_a_frame_shows_words_and_leaves_absent_values_out() -> None:
    frame = timeline(
        """
        host   1 |LL...
        stream 0 |..KKK
        """
    ).to_pandas()
    assert frame["name"].tolist() == ["hipLaunchKernel", "kernel"]
    assert frame["api"].tolist() == [Api.LAUNCH.name.lower(), Api.NONE.name.lower()]
    assert frame["stream"].isna().tolist() == [True, False]
    assert frame["thread"].isna().tolist() == [False, True]
    assert frame["stream"].tolist()[1] == 0


@pytest.mark.parametrize("end", [2**62 + 1, 2**53 + 1])
def test_times_whose_sums_would_not_be_exact_are_refused(end: int) -> None:
    with pytest.raises(UsageError, match="times"):
        Trace.from_columns({"start_ns": [0], "end_ns": [end]}, names=(), source=Source())


def test_ranges_nest_deeper_than_16_bits_count() -> None:
    size = 40_000
    columns = {"kind": [Kind.RANGE] * size, "start_ns": range(size), "end_ns": range(2 * size, size, -1)}
    trace = Trace.from_columns(columns, names=(), source=Source())
    assert trace.depth.tolist() == list(range(size))


def test_a_trace_is_one_short_line_in_a_shell() -> None:
    source = Source(files=("run.db",), format="rocpd", devices={0: "MI300X"})
    trace = Trace.from_columns({"kind": [Kind.API] * 1000}, names=(), source=source)
    assert repr(trace) == "Trace(1,000 rows, rocpd, MI300X, run.db)"
    assert repr(Trace.from_columns({}, names=(), source=Source())) == (
        "Trace(0 rows, memory, no device named, no file)"
    )
