"""Which call each device row is linked to while a file is read, against a loop over the rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlap_lab.loaders.building import TraceBuilder
from overlap_lab.loaders.device_rows import call_rows, fill_copies_from_calls
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, CopyKind, Kind
from overlap_lab.trace import Column

IDS = st.sampled_from([0, 1, 2, 3, 1 << 40, (1 << 64) - 1])
ROWS = st.lists(
    st.tuples(
        st.sampled_from([Kind.API, Kind.KERNEL, Kind.RANGE]),
        IDS,
        st.integers(0, 1),
        st.sampled_from([7, 8, ABSENT_PROCESS]),
        st.integers(0, 9),
    ),
    max_size=20,
)


def columns_of(rows: list[tuple[int, ...]]) -> dict[str, Column]:
    types = [np.uint8, np.uint64, np.int32, np.int32, np.int64]
    names = ["kind", "correlation", "part", "process", "start_ns"]
    return {
        name: np.array([row[at] for row in rows], dtype)
        for at, (name, dtype) in enumerate(zip(names, types, strict=True))
    }


def by_loop(rows: list[tuple[int, ...]], wanted: list[int]) -> list[int]:
    linked = [row for row in range(len(rows)) if rows[row][1] and (rows[row][0] == Kind.API or row in wanted)]
    known = all(rows[row][3] != ABSENT_PROCESS for row in linked)
    found = []
    for op in wanted:
        _, number, part, process, start = rows[op]
        calls = [
            row
            for row in linked
            if row not in wanted
            and rows[row][1:3] == (number, part)
            and (not known or rows[row][3] == process)
        ]
        before = [row for row in calls if rows[row][4] <= start]
        latest = max(before, key=lambda row: (rows[row][4], row), default=-1)
        first = min(calls, key=lambda row: (rows[row][4], row), default=-1)
        found.append((latest if before else first) if number else -1)
    return found


@settings(max_examples=500, deadline=None)
@given(ROWS)
def test_an_op_is_linked_to_the_latest_call_before_it_or_the_first(rows: list[tuple[int, ...]]) -> None:
    wanted = [at for at, row in enumerate(rows) if row[0] == Kind.KERNEL]
    found = call_rows(columns_of(rows), np.array(wanted, np.int64))
    assert found.tolist() == by_loop(rows, wanted)


def test_of_calls_that_start_together_the_one_added_last_counts_in_any_order_of_rows() -> None:
    found = {}
    for in_order in (False, True):
        builder = TraceBuilder()
        said = {"copy_kind": [CopyKind.HOST_TO_DEVICE, CopyKind.DEVICE_TO_HOST], "bytes": [4, 8]}
        one = {name: np.array(values, np.int64) for name, values in said.items()}
        builder.add(Kind.API, ["a", "b"], start_ns=[5, 5], end_ns=[6, 9], correlation=[3, 3], **one)
        builder.add(Kind.MEMCPY, ["copy"], start_ns=[5], end_ns=[7], correlation=[3], bytes=[ABSENT])
        rows = builder.ordered() if in_order else builder.columns()
        fill_copies_from_calls(rows)
        here = rows["kind"] == Kind.MEMCPY
        found[in_order] = rows["copy_kind"][here].tolist(), rows["bytes"][here].tolist()
    assert found[True] == found[False] == ([CopyKind.DEVICE_TO_HOST], [8])
