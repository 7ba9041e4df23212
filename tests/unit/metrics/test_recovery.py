"""Idle time while the host regains the lead that a wait took: drawn, and against a walk from op to op."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.intervals import length
from overlap_lab.loaders import load
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.idle import idle_segments
from overlap_lab.metrics.recovery import recoveries, recovery_idle
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace
from tests.reference.random_traces import random_trace, trained_trace
from tests.timeline import timeline

US = 1000
TRACES = Path(__file__).parents[3] / "traces"
LEAD_LOST = """
    host   1 |LlSSSSSSSSSSS..L....LlLl....................L..
    stream 0 |.KKKKKKkkkkkk...KK...KkkkkkKKKKKKkkkk........KK
    """
"""A lead of 6 us before the wait; after a gap of 3 us the host is late by 2 us, a launch takes 1 us, and then
an op starts with a lead of 10 us. The gap after that is none of the wait's."""


def _context(trace: Trace) -> Context:
    return report_and_context(trace)[1]


def _idle(context: Context, device: int) -> dict[Cause, int]:
    return recovery_idle(context, device, recoveries(context, device))


def _plain(context: Context, device: int) -> int:
    """The same by walking over ops, gaps and waits one by one."""
    trace, links = context.trace, context.links
    ops = []
    for number in context.devices[device].index.tolist():
        row, caller = int(links.op[number]), int(links.caller[number])
        called = int(trace.start_ns[links.host[caller]]) if caller >= 0 else None
        start = int(trace.start_ns[row])
        ops.append((start, start - called if called is not None and start >= called else None, called))
    segments, drains = context.idle[device], context.drains[device]
    late = [
        (start, end - start)
        for start, end, cause in zip(
            segments.start.tolist(), segments.end.tolist(), segments.cause.tolist(), strict=True
        )
        if tuple(Cause)[cause] in (Cause.HOST_LATE, Cause.LAUNCH)
    ]
    total = budget = 0
    open_until = -1
    edges = [*drains.start.tolist(), 1 << 62][1:]
    waits = zip(drains.start.tolist(), drains.end.tolist(), drains.wait.tolist(), edges, strict=False)
    for start, end, wait, limit in waits:
        call = int(context.waits.start[wait])
        before = [(called, begin, lead) for begin, lead, called in ops if lead is not None and called < call]
        lost = max(before)[2] if before else None
        regained = min(
            (
                begin
                for begin, lead, _ in ops
                if begin >= end and lead is not None and (lost is None or lead >= lost)
            ),
            default=1 << 62,
        )
        open_until = max(open_until, regained)
        budget += max((lost or 0) - (end - start), 0)
        stop = min(open_until, limit)
        spent = min(sum(ns for at, ns in late if end <= at < stop), budget)
        total += spent
        budget = 0 if open_until <= stop else budget - spent
    return total


def test_idle_time_before_the_lead_is_back_is_told_by_cause() -> None:
    context = _context(timeline(LEAD_LOST))
    assert _idle(context, 0) == {Cause.HOST_LATE: 2 * US, Cause.LAUNCH: 1 * US}
    start, end = recoveries(context, 0)
    first = int(context.trace.start_ns.min())
    assert [(start - first).tolist(), (end - first).tolist()] == [[16 * US], [33 * US]]


def test_a_lead_bridges_no_more_than_what_is_left_of_it() -> None:
    later = (
        LEAD_LOST.replace("L....LlLl....", "L........LlLl")
        .replace("KK...Kkk", "KK........Kkk")
        .replace("kkkk........KK", "kkkk...KK")
        .replace("..L..\n", "L..\n")
    )
    context = _context(timeline(later))
    # 6 us of lead less the 3 us of the drain itself, of 8 us that the device stands idle then.
    assert sum(_idle(context, 0).values()) == 3 * US
    assert _plain(context, 0) == 3 * US


def test_no_lead_before_the_wait_is_none_to_regain() -> None:
    context = _context(
        timeline(
            """
            host   1 |L.SSSSS..L....L....SS
            stream 0 |..KKKKK...KK...KKKKKK
            """
        )
    )
    assert sum(_idle(context, 0).values()) == 0
    assert length(recoveries(context, 0)) <= 2 * US


def test_the_window_cuts_what_lies_outside_of_it() -> None:
    trace = timeline(LEAD_LOST)
    first = int(trace.start_ns.min())
    context = report_and_context(trace, window=(first + 19 * US, first + 40 * US))[1]
    assert _idle(context, 0) == {Cause.HOST_LATE: 1 * US, Cause.LAUNCH: 1 * US}


def test_without_waits_there_is_nothing_to_regain() -> None:
    context = _context(timeline("host   1 |L...L...\nstream 0 |.KK..KK."))
    assert _idle(context, 0) == {Cause.HOST_LATE: 0, Cause.LAUNCH: 0}


def test_blocking_copies_of_the_h200_cost_as_much_again() -> None:
    context = _context(load(TRACES / "h200_fmha_bwd_sync_kineto.json.gz"))
    found = _idle(context, 0)
    # Of 306 us before late launches all but the 104 us before the first wait.
    assert found == {Cause.HOST_LATE: 141_502, Cause.LAUNCH: 60_995}
    assert sum(found.values()) == _plain(context, 0)


@pytest.mark.parametrize("made", [random_trace, trained_trace])
@pytest.mark.parametrize("seed", range(40))
def test_a_walk_from_op_to_op_finds_the_same(made, seed: int) -> None:
    context = _context(made(seed))
    for device in context.devices:
        found = _idle(context, device)
        assert sum(found.values()) == _plain(context, device)
        segments = idle_segments(context, device)
        assert all(ns <= segments.totals()[cause] for cause, ns in found.items())
