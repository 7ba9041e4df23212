"""Seeded random traces: what a small host and device machine would record, and ones that no machine made."""

from __future__ import annotations

import random

import numpy as np

from overlap_lab.schema import ABSENT, Api, CopyKind, Kind, Memory
from overlap_lab.trace import Source, Trace, columns_of
from tests.reference.rows import Row, trace_of
from tests.reference.simulation import Simulation

__all__ = ["random_trace", "rough_trace", "trained_trace"]


def random_trace(seed: int) -> Trace:
    """The same trace for the same seed; every fifth one is random intervals, not a simulation."""
    chance = random.Random(seed)
    if seed % 5 == 4:
        return _scatter(chance)
    return Simulation(chance).run()


def trained_trace(seed: int) -> Trace:
    """A simulation after so many frees on an idle device that the floor of frees is learned from them."""
    chance = random.Random(seed)
    simulation = Simulation(chance)
    simulation.warm_up(chance.choice([600, 999, 1_000, 1_050]))
    return simulation.run()


def rough_trace(seed: int) -> Trace:
    """Random intervals with what no clock and no profiler should give: inverted, empty and negative ones.

    Only what is counted or united is well defined on them.
    """
    trace = random_trace(seed * 5 + 4)
    chance = np.random.default_rng(seed)
    luck = chance.random(len(trace))
    start, end = trace.start_ns.copy(), trace.end_ns.copy()
    end[luck < 0.2] = start[luck < 0.2]
    end[luck < 0.05] -= 3_000
    early = trace.is_device & (luck > 0.7)
    start[early] -= 40_000
    end[early] -= 40_000
    stream = np.where(trace.is_device & (luck > 0.9), ABSENT, trace.stream)
    columns = columns_of(trace) | {"start_ns": start, "end_ns": end, "stream": stream}
    return Trace.from_columns(columns, names=trace.names, source=trace.source)


def _scatter(chance: random.Random) -> Trace:
    """Random ops and calls: causal, without two calls of one thread crossing, and otherwise without sense."""
    rows: list[Row] = []
    span = chance.choice([60, 300, 1_500])
    apis = [api for api in Api if api not in (Api.NONE, Api.CAPTURE_BEGIN, Api.CAPTURE_END)]
    makers: list[Row] = []
    for thread in range(chance.randint(1, 3)):
        at = chance.randint(0, 20)
        for _ in range(chance.randint(1, 14)):
            api = chance.choice(apis)
            end = at + chance.choice([1, 5, 19, 20, 21, 30, 41, 101, 200])
            row = {"kind": Kind.API, "api": api, "start": at, "end": end, "process": 1, "thread": thread}
            row["correlation"] = len(rows) + 1
            rows.append(row)
            at = end + chance.choice([0, 1, 10, 50])
            if api in (Api.LAUNCH, Api.GRAPH_LAUNCH, Api.MEMCPY, Api.MEMCPY_ASYNC, Api.MEMSET_ASYNC):
                makers.append(row)
    kinds = {Api.MEMCPY: Kind.MEMCPY, Api.MEMCPY_ASYNC: Kind.MEMCPY, Api.MEMSET_ASYNC: Kind.MEMSET}
    for maker in makers:
        for _ in range(chance.choice([0, 1, 1, 1, 1, 2 if maker["api"] == Api.GRAPH_LAUNCH else 1])):
            start = maker["start"] + chance.choice([0, 1, 5, 10, 60, 300])
            rows.append(
                _scattered_op(chance, kinds.get(maker["api"], Kind.KERNEL), start, maker["correlation"])
            )
    for _ in range(chance.randint(1, 4)):
        rows.append(_scattered_op(chance, Kind.KERNEL, chance.randint(0, span), 0))
    nulls = frozenset({0}) if chance.random() < 0.5 else frozenset()
    return trace_of(rows, Source(vendor=chance.choice(["amd", "nvidia"]), null_streams=nulls))


def _scattered_op(chance: random.Random, kind: Kind, start: int, correlation: int) -> Row:
    end = start + chance.choice([1, 2, 10, 40, 51, 100])
    row = {"kind": kind, "start": start, "end": end, "process": 1, "device": 0, "correlation": correlation}
    row |= {"stream": chance.randint(0, 2)}
    if kind == Kind.MEMCPY:
        row |= {"copy_kind": chance.choice(list(CopyKind)), "memory": chance.choice(list(Memory))}
    return row
