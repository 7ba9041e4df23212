"""Busy time, gaps, blocked time and drains of a trace of runtime calls, as pages of pandas find them.

The numbers are the report's for most captures of PyTorch; calls that wait for one stream of several can be
judged otherwise here, as can graph launches and ids that are used again.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from overlap_lab.metrics.settings import (
    FLOOR_NS,
    LONGEST_FLOOR_NS,
    NEARNESS_NS,
    RECORD_FLOORS,
    SAMPLES_FOR_OWN_FLOOR,
    SLACK_NS,
)
from overlap_lab.schema import ALWAYS_WAITS, DEVICE_KINDS, ENQUEUE, MAY_WAIT, NO_CORRELATION, Api, CopyKind

__all__ = ["WANTED", "plain_measures"]

WANTED: Final = (
    *("kind", "api", "start_ns", "end_ns", "process", "thread", "device", "correlation", "name", "copy_kind"),
)
"""Columns of a trace that the frame must have."""

_ALWAYS: Final = [int(api) for api in ALWAYS_WAITS]
_MAY: Final = [int(api) for api in MAY_WAIT]
_DEVICE: Final = [int(kind) for kind in DEVICE_KINDS]
_ENQUEUE: Final = [int(api) for api in ENQUEUE]
_EVENT: Final = [int(api) for api in (Api.STREAM_WAIT_EVENT, Api.EVENT_RECORD)]
_LAUNCH: Final = [int(api) for api in (Api.LAUNCH, Api.GRAPH_LAUNCH)]
_ALL_MUST_END: Final = [
    int(api)
    for api in (Api.ALLOC, Api.FREE, Api.HOST_ALLOC, Api.HOST_FREE, Api.STREAM_DESTROY, Api.MODULE_LOAD)
]


def plain_measures(frame: Any) -> dict[str, int]:
    """Busy time and gaps of all devices, time inside waits, and drains."""
    ops = _ops(frame)
    busy, gaps = _busy_and_gaps(ops)
    by_enqueue = ops[["enqueued", "end_ns"]].sort_values("enqueued")
    by_enqueue["reach"] = by_enqueue["end_ns"].cummax()
    waits = _waits(frame, ops, by_enqueue[["enqueued", "reach"]])
    return {
        "busy_ns": busy,
        "gaps": gaps,
        "blocked_ns": _union(waits, ["process", "thread"]),
        "drains": _drains(by_enqueue[["enqueued", "reach"]], waits),
    }


def _ops(frame: Any) -> Any:
    """Device ops with the row and the start of the call that enqueued them, by device and start."""
    ops = frame[frame["kind"].isin(_DEVICE)]
    calls = frame[frame["api"].isin(_ENQUEUE) & (frame["correlation"] != NO_CORRELATION)]
    calls = calls[["process", "correlation", "start_ns"]].rename(columns={"start_ns": "enqueued"})
    calls = calls.drop_duplicates(["process", "correlation"])
    calls["call"] = calls.index
    calls = calls.astype({"enqueued": "Int64", "call": "Int64"})
    ops = ops.merge(calls, how="left", on=["process", "correlation"])
    ops["enqueued"] = ops["enqueued"].fillna(ops["start_ns"]).astype("int64")
    return ops.sort_values(["device", "start_ns"])


def _busy_and_gaps(ops: Any) -> tuple[int, int]:
    before = _reach_before(ops, ["device"])
    gap = (ops["start_ns"] - before).clip(lower=0).where(before > 0, 0)
    ends = ops.groupby("device").agg(first=("start_ns", "min"), last=("end_ns", "max"))
    window = (ends["last"] - ends["first"]).sum()
    return int(window - gap.sum()), int((gap > 0).sum())


def _union(rows: Any, lane: list[str]) -> int:
    rows = rows.sort_values([*lane, "start_ns"])
    start = np.maximum(rows["start_ns"], _reach_before(rows, lane))
    return int((rows["end_ns"] - start).clip(lower=0).sum())


def _reach_before(rows: Any, lane: list[str]) -> Any:
    """The latest end of the rows before on the lane, 0 for its first; never as floats, which lose 256 ns."""
    reach = rows.groupby(lane)["end_ns"].cummax()
    return reach.groupby([rows[name] for name in lane]).shift(fill_value=0)


def _waits(frame: Any, ops: Any, by_enqueue: Any) -> Any:
    """Calls that waited: always-waits and may-wait calls longer than their floor, by what ended inside."""
    calls = _asked(frame, by_enqueue)
    ends = ops[["end_ns", "enqueued"]].sort_values("end_ns").rename(columns={"end_ns": "op_end"})
    calls["until"] = calls["end_ns"] + calls["api"].isin(_ALWAYS) * SLACK_NS
    calls = pd.merge_asof(calls.sort_values("until"), ends, left_on="until", right_on="op_end")
    made = ops.dropna(subset="call").groupby("call")
    own = made.agg(own_start=("start_ns", "min"), own_end=("end_ns", "max"))
    calls = calls.merge(own, how="left", left_on="call", right_index=True)
    return calls[np.where(calls["api"].isin(_ALWAYS), _always_waited(calls), _may_have_waited(calls))]


def _asked(frame: Any, by_enqueue: Any) -> Any:
    """Calls that are long enough, with the latest end of what was enqueued before them, and their floor."""
    calls = frame[frame["api"].isin(_ALWAYS + _MAY)].sort_values("start_ns")
    calls = calls[["api", "name", "copy_kind", "start_ns", "end_ns", "process", "thread"]]
    calls["call"] = calls.index
    calls = pd.merge_asof(
        calls, by_enqueue, left_on="start_ns", right_on="enqueued", allow_exact_matches=False
    ).drop(columns="enqueued")
    calls["reach"] = calls["reach"].fillna(0).astype("int64")
    calls["long"] = calls["end_ns"] - calls["start_ns"]
    free = calls[calls["reach"] <= calls["start_ns"]].groupby("name")["long"]
    own = free.quantile(0.99).where(free.size() >= SAMPLES_FOR_OWN_FLOOR, FLOOR_NS)
    own = own.round().clip(FLOOR_NS, LONGEST_FLOOR_NS)
    calls["floor"] = calls["name"].map(own).fillna(FLOOR_NS)
    return calls[calls["api"].isin(_ALWAYS) | (calls["long"] > calls["floor"])].copy()


def _ended(calls: Any) -> Any:
    return (calls["op_end"] > calls["start_ns"]) & (calls["enqueued"] < calls["start_ns"])


def _always_waited(calls: Any) -> Any:
    copied = (calls["api"] == Api.MEMCPY) & ~(calls["own_end"] > calls["end_ns"] + SLACK_NS)
    return _ended(calls) | copied


def _may_have_waited(calls: Any) -> Any:
    start, end, reach = calls["start_ns"], calls["end_ns"], calls["reach"]
    near = _ended(calls) & (calls["op_end"] >= end - NEARNESS_NS)
    inside = (calls["own_start"] >= start) & (calls["own_start"] < end)
    done = (calls["own_end"] <= end) | (end - calls["own_start"] > calls["floor"])
    moved = calls["copy_kind"] != CopyKind.DEVICE_TO_DEVICE
    copied = (calls["api"] == Api.MEMCPY_ASYNC) & inside & done & moved
    all_ended = (reach > start) & (reach <= end) & (reach >= end - NEARNESS_NS)
    evidence = np.where(calls["api"].isin(_ALL_MUST_END), all_ended, near | copied)
    short_record = calls["api"].isin(_EVENT) & (calls["long"] <= RECORD_FLOORS * calls["floor"])
    return evidence & ~short_record & ~calls["api"].isin(_LAUNCH)


def _drains(by_enqueue: Any, waits: Any) -> int:
    """Latest ends, each counted once, that a wait returned after, with work enqueued later."""
    returns = waits[["end_ns"]].rename(columns={"end_ns": "returned"}).sort_values("returned")
    found = pd.merge_asof(
        returns, by_enqueue, left_on="returned", right_on="enqueued", allow_exact_matches=False
    )
    empty = found["reach"] <= found["returned"] + SLACK_NS
    later = found["returned"] <= by_enqueue["enqueued"].iloc[-1]
    return int(found[empty & later]["reach"].nunique())
