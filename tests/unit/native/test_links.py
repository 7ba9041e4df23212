"""Calls and ops as the core pairs and judges them are those of plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import native
from overlap_lab.link import _RULES, OWNERS, link
from overlap_lab.pairing import linked_plainly
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, Api, Kind
from overlap_lab.trace import Source, Trace
from tests.unit.native import plain_links as plain

APIS = (Api.LAUNCH, Api.MEMCPY, Api.MEMCPY_ASYNC, Api.GRAPH_LAUNCH, Api.HOST_FUNC, Api.DEVICE_SYNC)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    events: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 12))):
        start = draw(st.integers(0, 12))
        event = {
            "start_ns": start,
            "end_ns": start + draw(st.integers(0, 6)),
            "part": draw(st.integers(0, 1)),
            "correlation": draw(st.sampled_from([0, 1, 2, 2**40, 2**64 - 1])),
        }
        if draw(st.booleans()):
            event |= {
                "kind": Kind.API,
                "api": draw(st.sampled_from(APIS)),
                "process": draw(st.integers(1, 2)),
            }
            event |= {"thread": draw(st.integers(0, 1)), "device": ABSENT_DEVICE, "stream": 9}
        else:
            event |= {"kind": Kind.KERNEL, "api": 0, "thread": ABSENT}
            event |= {"process": draw(st.sampled_from([ABSENT_PROCESS, 1, 2]))}
            event |= {"device": draw(st.sampled_from([ABSENT_DEVICE, 0, 1]))}
            event |= {"stream": draw(st.sampled_from([ABSENT, 7]))}
        events.append(event)
    columns = {
        name: np.array([event[name] for event in events], COLUMNS[name])
        for name in ("kind", "api", "start_ns", "end_ns", "part", "process", "thread", "device", "stream")
    }
    columns["correlation"] = np.array([event["correlation"] for event in events], np.uint64)
    return Trace.from_columns(columns, names=(), source=Source())


@given(traces())
def test_every_op_has_the_call_of_a_plain_search(trace: Trace) -> None:
    links = link(trace)
    assert links.host.tolist() == plain.host_rows(trace)
    assert links.op.tolist() == plain.op_rows(trace)
    assert links.caller.tolist() == plain.callers(trace)
    assert links.outer.tolist() == plain.outer_calls(trace)


@given(traces())
def test_callers_are_found_alike_with_and_without_a_sort(trace: Trace) -> None:
    links = link(trace)
    arguments = links.host, links.host_thread, None, links.op
    found = native.linked_ops(trace, _RULES, *arguments)
    assert found is not None
    other = linked_plainly(trace, links.host, links.host_thread, None, links.op)
    for one, two in zip(_flat(found[:-1]), _flat(other[:-1]), strict=True):
        assert one.tolist() == two.tolist()


@given(traces())
def test_every_op_is_in_the_place_of_its_call_where_it_names_none(trace: Trace) -> None:
    links = link(trace)
    caller, _, _, _, place, columns, feeds, _ = native.linked_ops(
        trace, _RULES, links.host, links.host_thread, None, links.op
    )  # type: ignore[misc]
    rows = [tuple(int(column[each]) for column in columns) for each in place.tolist()]
    calls = [int(links.host[call]) if call >= 0 else row for call, row in zip(caller, links.op, strict=True)]
    assert rows == [plain.place_of(trace, op, call) for op, call in zip(links.op, calls, strict=True)]
    fed = {(int(links.host_thread[c]), int(p)) for c, p in zip(caller, place, strict=True) if c >= 0}
    assert set(zip(feeds[0].tolist(), feeds[1].tolist(), strict=True)) == fed


@given(traces())
def test_the_last_op_of_each_outermost_call(trace: Trace) -> None:
    links = link(trace)
    last, count = [-1] * links.host.size, [0] * links.host.size
    for op, caller in enumerate(links.caller.tolist()):
        if caller >= 0:
            last[links.outer[caller]] = op
            count[links.outer[caller]] += 1
    assert links.last_op.tolist() == last
    assert links.several == (max(count, default=0) > 1)


@given(traces(), st.lists(st.booleans(), min_size=12, max_size=12))
def test_what_flagged_calls_made(trace: Trace, flags: list[bool]) -> None:
    links = link(trace)
    flagged = [bool(flags[call]) and one == call for call, one in enumerate(links.outer.tolist())]
    lent = links.op, links.caller, links.place, links.outer
    begun, ended, among = native.own_ops(
        trace, lent, np.array(flagged, np.uint8), links.start, links.end, (trace.memory, trace.memory)
    )
    owner = [int(links.outer[call]) if call >= 0 else -1 for call in links.caller.tolist()]
    made = {call: [op for op, one in enumerate(owner) if one == call] for call in np.flatnonzero(flagged)}
    limits = np.iinfo(np.int64)
    assert begun.tolist() == [
        min([int(links.start[op]) for op in ops], default=limits.max) for ops in made.values()
    ]
    assert ended.tolist() == [
        max([int(links.end[op]) for op in ops], default=limits.min) for ops in made.values()
    ]
    kinds: dict[tuple[int, int], list[int]] = {}
    for call, ops in made.items():
        for op in ops:
            kinds.setdefault((int(call), int(links.place[op])), []).append(op)
    latest = [max(ops, key=lambda op: (links.end[op], op)) for ops in sorted(kinds.values(), key=max)]
    assert among.tolist() == latest


OPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 2)), max_size=20)


@given(OPS, st.lists(st.integers(0, 1), min_size=3, max_size=3), st.booleans())
def test_ops_that_run_over_the_next_one_of_their_place(
    ops: list[tuple[int, int, int]], in_turn: list[int], ordered: bool
) -> None:
    ops = sorted(ops, key=lambda op: (op[0], -op[1])) if ordered else ops
    start, end = [op[0] for op in ops], [op[0] + op[1] for op in ops]
    place = [op[2] for op in ops]
    columns = np.array(start, np.int64), np.array(end, np.int64), np.array(place, np.int32)
    overlaps, *asked = native.overruns(*columns, in_turn, 2, 5)
    found = set(zip(*(column.tolist() for column in asked), strict=True))
    assert (overlaps, found) == plain.overruns(start, end, place, in_turn, (2, 5))


def test_ids_that_very_many_calls_share_are_paired_as_well() -> None:
    calls = 300
    kind = np.array([Kind.API, Kind.KERNEL] * calls, np.uint8)
    api = np.array([Api.LAUNCH, Api.NONE] * calls, np.uint8)
    start = np.arange(2 * calls) * 10
    columns = {
        "kind": kind,
        "api": api,
        "start_ns": start,
        "end_ns": start + 5,
        "process": np.ones(2 * calls),
    }
    trace = Trace.from_columns(columns | {"correlation": np.full(2 * calls, 7)}, names=(), source=Source())
    assert link(trace).caller.tolist() == list(range(calls))


def _flat(values: Any) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,))]


def test_owners_of_ops_are_known_to_the_core() -> None:
    assert _RULES["owners"] == sum(1 << api for api in OWNERS)
