"""Synchronizes that came late are those of a look at each of them, and are found once, all together."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.compare.budget import parse_allowance
from overlap_lab.compare.late import late_allowed, late_synchronizes
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.opset import OpSet
from overlap_lab.schema import ABSENT, Api
from overlap_lab.trace import Trace
from tests.reference.random_traces import random_trace, trained_trace
from tests.timeline import timeline

SYNCHRONIZES = (Api.STREAM_SYNC, Api.DEVICE_SYNC, Api.CONTEXT_SYNC)


def context_of(trace: Trace) -> Context:
    return report_and_context(trace)[1]


def is_late(context: Context, call: int) -> bool:
    """By looking at every op that the call's thread could have waited for."""
    trace, links, ops = context.trace, context.links, context.ops
    row, thread = int(links.host[call]), int(links.host_thread[call])
    start, end, stream = int(trace.start_ns[row]), int(trace.end_ns[row]), int(trace.stream[row])
    empty = [int(one) for one in context.waits.redundant if links.host_thread[one] == thread]
    ends = [int(each) for each in context.waits.end[context.waits.thread == thread]]
    ends += [int(trace.end_ns[links.host[one]]) for one in empty]
    since = max((each for each in ends if each <= start), default=ABSENT)
    for device in context.feeds.by_thread.get(thread, ()):
        if device not in context.devices:
            continue
        on_it = context.devices[device].index.tolist()
        drained = all(ops.end[op] <= end for op in on_it if ops.enqueue[op] < end)
        drained &= any(ops.enqueue[op] >= end for op in on_it)
        for op in on_it if drained else ():
            one = trace.api[row] == Api.STREAM_SYNC and stream != ABSENT
            if since <= ops.enqueue[op] < start and (not one or context.links.stream[op] == stream):
                return True
    return False


def test_late_ones_are_those_of_a_look_at_each() -> None:
    counts = [0, 0]
    for seed in range(400):
        context = context_of((random_trace if seed % 4 else trained_trace)(seed))
        trace, host = context.trace, context.links.host
        asked = [int(one) for one in context.waits.redundant if trace.api[host[one]] in SYNCHRONIZES]
        wanted = [int(host[one]) for one in asked if is_late(context, one)]
        assert late_synchronizes(context, ()).tolist() == wanted, seed
        counts[0] += len(wanted)
        counts[1] += len(asked)
    assert counts[1] > counts[0] > 100


def test_an_allowance_takes_those_that_no_earlier_one_took() -> None:
    names = ("hipFree", "api_device_*", "*_sync", "*")
    allowed = tuple(parse_allowance(name, "once") for name in names)
    sums = np.zeros(4, np.int64)
    for seed in range(100):
        context = context_of(random_trace(seed))
        late = [context.trace.name_of(row) for row in late_synchronizes(context, ()).tolist()]
        devices = sum(name.startswith("api_device_") for name in late)
        others = sum(name.endswith("_sync") for name in late) - devices
        wanted = (0, devices, others, len(late) - devices - others)
        assert late_allowed(context, allowed) == wanted
        assert late_synchronizes(context, allowed[1:2]).size == len(late) - devices
        sums += wanted
    assert sums[1] > 0


def test_many_cost_as_many_questions_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    reach = OpSet.reach_before
    monkeypatch.setattr(OpSet, "reach_before", lambda ops, time: asked.append(time.size) or reach(ops, time))
    for synchronizes in (3, 300):
        host, stream = "L......S.." * synchronizes, ".KKKK....." * synchronizes
        context = context_of(timeline(f"host   1 |{host}L..\nstream 0 |{stream}.KK"))
        asked.clear()
        assert late_synchronizes(context, ()).size == synchronizes
        assert asked == [synchronizes], "once for each device of a thread"
        allowed = [parse_allowance("hipFree", "once"), parse_allowance("hip*", "once")]
        assert late_allowed(context, allowed) == (0, synchronizes)
        assert late_synchronizes(context, allowed).size == 0
        assert len(asked) == 1, "and once for a trace"
