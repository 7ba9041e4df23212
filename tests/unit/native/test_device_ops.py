"""Run-ahead, queues and idle pieces as the core finds them are those of plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab import native
from overlap_lab.schema import Api, Kind
from overlap_lab.trace import Source, Trace

TENTHS = [0, 1, 5, 9, 10]


@dataclass(frozen=True)
class Device:
    """Ops of a device with a call each, or none; entry i of every list is op i."""

    start: list[int]
    end: list[int]
    enqueue: list[int]
    returned: list[int]
    linked: list[bool]
    place: list[int]
    graph: bool
    """Whether neighbours that are linked are of one graph launch."""

    @property
    def makers(self) -> list[int]:
        """Per op the op whose call made it."""
        found: list[int] = []
        for op, linked in enumerate(self.linked):
            joins = self.graph and op > 0 and linked and self.linked[op - 1]
            found.append(found[-1] if joins else op)
        return found

    @property
    def trace(self) -> Trace:
        calls = sorted({self.makers[at] for at, linked in enumerate(self.linked) if linked})
        columns = {
            "kind": np.full(len(calls), Kind.API),
            "api": np.full(len(calls), Api.GRAPH_LAUNCH if self.graph else Api.LAUNCH),
            "start_ns": np.array([self.enqueue[at] for at in calls], np.int64),
            "end_ns": np.array([self.returned[at] for at in calls], np.int64),
        }
        order = np.lexsort((-columns["end_ns"], columns["start_ns"]))
        self.__dict__["row"] = {calls[call]: row for row, call in enumerate(order.tolist())}
        return Trace.from_columns(columns, names=(), source=Source())

    def lent(self) -> Any:
        row = self.__dict__["row"]
        caller = [row.get(maker, -1) for maker in self.makers]
        times = (np.array(each, np.int64) for each in (self.start, self.end, self.enqueue, self.start))
        host = np.arange(len(row), dtype=np.int32)
        return (
            *times,
            np.array(caller, np.int32),
            np.array(self.place, np.int32),
            host,
            None,
            Api.GRAPH_LAUNCH,
        )


@st.composite
def devices(draw: st.DrawFn) -> Device:
    size = draw(st.integers(1, 14))
    start = [draw(st.integers(0, 40)) for _ in range(size)]
    start = sorted(start) if draw(st.booleans()) else start
    linked = [draw(st.booleans()) for _ in range(size)]
    graph = draw(st.booleans())
    enqueue, returned = list(start), list(start)
    for op, at in enumerate(start):
        if linked[op] and graph and op > 0 and linked[op - 1]:
            enqueue[op], returned[op] = enqueue[op - 1], returned[op - 1]
        elif linked[op]:
            enqueue[op] = at - draw(st.integers(-3, 90))
            returned[op] = enqueue[op] + draw(st.integers(0, 60))
    end = [at + draw(st.integers(0, 9)) for at in start]
    return Device(start, end, enqueue, returned, linked, [draw(st.integers(0, 1)) for _ in start], graph)


WINDOWS = st.none() | st.tuples(st.integers(0, 20), st.integers(20, 50))


@given(devices(), WINDOWS, st.booleans())
def test_tenths_of_run_ahead(device: Device, window: tuple[int, int] | None, from_return: bool) -> None:
    since = device.returned if from_return else device.enqueue
    leads = [device.start[op] - since[op] for op in _counted(device, window)]
    found = native.run_ahead(device.trace, device.lent(), window, from_return, TENTHS)
    assert found == _tenths(leads, TENTHS)


@given(devices(), WINDOWS)
def test_tenths_of_run_ahead_onto_an_empty_stream(device: Device, window: tuple[int, int] | None) -> None:
    counted = _counted(device, window)
    if device.graph:
        by_start = sorted(counted, key=lambda op: (device.start[op], op))
        firsts = {device.makers[op]: op for op in reversed(by_start)}
        counted = [op for op in counted if firsts[device.makers[op]] == op]
    leads = [
        device.start[op] - device.enqueue[op]
        for op in counted
        if not any(
            device.place[other] == device.place[op]
            and device.enqueue[other] < device.enqueue[op] < device.end[other]
            for other in range(len(device.start))
        )
    ]
    assert native.empty_run_ahead(device.trace, device.lent(), window, 2, [1]) == _tenths(leads, [1])


def _counted(device: Device, window: tuple[int, int] | None) -> list[int]:
    first, last = window or (-(10**9), 10**9)
    return [
        op
        for op, start in enumerate(device.start)
        if device.linked[op] and start >= device.enqueue[op] and first <= start < last
    ]


def _tenths(values: list[int], tenths: list[int]) -> tuple[int, list[int], list[int]]:
    ordered, size = sorted(values), len(values)
    if not values:
        return 0, [], []
    places = [(size - 1) * each // 10 for each in tenths]
    return size, [ordered[at] for at in places], [ordered[min(at + 1, size - 1)] for at in places]


def test_tenths_of_very_different_numbers() -> None:
    random = np.random.default_rng(4)
    lead = (2.0 ** random.uniform(0, 40, 300_000)).astype(np.int64)
    start = np.arange(lead.size) + (1 << 41)
    columns = {"kind": np.full(1, Kind.API), "start_ns": np.zeros(1), "end_ns": np.ones(1)}
    trace = Trace.from_columns(columns, names=(), source=Source())
    caller = np.zeros(lead.size, np.int32)
    lent = start, start, start - lead, start, caller, caller, np.zeros(1, np.int32), None, 0
    assert native.run_ahead(trace, lent, None, False, TENTHS) == _tenths(lead.tolist(), TENTHS)


@given(devices())
def test_peaks_of_the_queue(device: Device) -> None:
    came = [min(one, other) for one, other in zip(device.returned, device.start, strict=True)]
    ops = list(zip(came, device.start, device.end, strict=True))
    entries: dict[int, tuple[int, int]] = {}
    for op, maker in enumerate(device.makers):
        first, last = entries.get(maker, (came[op], device.end[op]))
        entries[maker] = min(first, came[op]), max(last, device.end[op])
    depth = max(
        sum(first <= time for first, _ in entries.values())
        - sum(last <= time for _, last in entries.values())
        for time in came
    )
    work = max(
        sum(end - start for since, start, end in ops if since <= time)
        - sum(time - start for _, start, _ in ops if start <= time)
        + sum(time - end for _, _, end in ops if end <= time)
        for time in came
    )
    ends = np.array(sorted(device.end), np.int64)
    assert native.queue_peaks(device.trace, device.lent(), ends) == (depth, work)
    entered, left = native.queue_entries(device.trace, device.lent())
    assert entered.tolist() == sorted(first for first, _ in entries.values())
    assert (ends if left is None else left).tolist() == sorted(last for _, last in entries.values())


WAITS = st.lists(st.tuples(st.integers(-90, 50), st.integers(0, 50), st.integers(0, 20)), max_size=6)


@given(devices(), WAITS, st.integers(0, 120))
def test_the_lead_before_waits_and_the_time_until_it_is_back(
    device: Device, waits: list[tuple[int, int, int]], twice: int
) -> None:
    called, gap_end, returned = np.array(waits, np.int64).reshape(-1, 3).T.copy()
    counted = _counted(device, None)
    _ = device.trace
    found = native.recoveries(device.lent(), (called, gap_end, returned), twice, -7777)
    before, after = [], []
    for at, end, back in waits:
        known = [op for op in counted if device.enqueue[op] < at]
        last = max(known, key=lambda op: (device.enqueue[op], device.start[op], op), default=None)
        before.append(-7777 if last is None else device.start[last] - device.enqueue[last])
        well = [
            device.start[op]
            for op in counted
            if 2 * (device.start[op] - device.enqueue[op]) >= twice and device.start[op] >= end
        ]
        after.append(min(well) - back if well else -7777)
    assert [column.tolist() for column in found] == [before, after]


@pytest.mark.parametrize("waits", [1, 1_000, 300_000])
def test_leads_around_waits_of_so_many_ops_that_all_cores_look_at_them(waits: int) -> None:
    random, size = np.random.default_rng(waits), 600_000
    start = np.sort(random.integers(0, 10_000_000, size))
    enqueue = start - random.integers(-3, 2_000, size)
    caller = random.integers(-1, 1, size).astype(np.int32)
    called = random.integers(-10, 10_000_100, waits)
    gap_end = called + random.integers(0, 3_000, waits)
    ones = np.zeros(size, np.int32), np.zeros(1, np.int32)
    lent = (start, start + 5, enqueue, enqueue, caller, *ones, None, 255)
    before, after = native.recoveries(lent, (called, gap_end, called + 7), 1_500, -7777)
    counted = (caller >= 0) & (start >= enqueue)
    start, lead = start[counted], (start - enqueue)[counted]
    by_enqueue = np.lexsort((start, start - lead))
    last = np.searchsorted((start - lead)[by_enqueue], called) - 1
    assert np.array_equal(before, np.where(last >= 0, lead[by_enqueue][last], -7777))
    well = np.append(start[2 * lead >= 1_500], -1)
    first = np.searchsorted(well[:-1], gap_end)
    assert np.array_equal(after, np.where(first < well.size - 1, well[first] - called - 7, -7777))


LATE, LAUNCH, IN_CALL, DEPENDENCY = 11, 12, 13, 14


@given(
    devices(), st.lists(st.tuples(st.integers(1, 9), st.sampled_from([0, 0, 3])), min_size=14, max_size=14)
)
def test_pieces_of_gaps(device: Device, gaps: list[tuple[int, int]]) -> None:
    trace, cap = device.trace, 7
    gaps = gaps[: len(device.start)]
    start = [at - before for at, (before, _) in zip(device.start, gaps, strict=True)]
    known = [cause for _, cause in gaps]
    columns: Any = (
        *(np.array(each, np.int64) for each in (start, device.start)),
        np.arange(len(start), dtype=np.int32),
        np.array(known, np.uint8),
    )
    causes = LATE, LAUNCH, IN_CALL, DEPENDENCY
    found = native.idle_pieces(trace, device.lent(), columns, causes, cap)
    expected = []
    for gap in range(len(start)):
        for begin, end, cause in _pieces(device, gap, start[gap], known[gap], cap):
            if end > begin:
                expected.append((begin, end, cause, gap))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


def _pieces(device: Device, op: int, start: int, known: int, cap: int) -> list[tuple[int, int, int]]:
    enqueue, end = device.enqueue[op], device.start[op]
    if known or enqueue < start:
        return [(start, end, known - 1 if known else DEPENDENCY)]
    launched = min(enqueue, end)
    arrived = min(end, enqueue + cap) if enqueue <= end else max(end, start)
    returned = min(max(device.returned[op], arrived), end)
    return [
        (start, launched, LATE),
        (launched, arrived, LAUNCH),
        (arrived, returned, IN_CALL),
        (returned, end, DEPENDENCY),
    ]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_lengths_by_code(pieces: list[tuple[int, int, int]]) -> None:
    code, start, length = (np.array([piece[at] for piece in pieces], np.int64) for at in range(3))
    found = native.lengths_by_code(code.astype(np.uint8), start, start + length, 5)
    assert found == [int(length[code == each].sum()) for each in range(5)]
