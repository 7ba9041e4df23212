"""All measures of a loaded trace of many events, and a plain pandas version of four of them.

A path names a file of JSON: {"capture": a trace file, "rows": how many events}. The capture's rows are
repeated in memory, once for each path, with later times and ids of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab import Trace, analyze, load
from overlap_lab.schema import ALWAYS_WAITS, COLUMNS, DEVICE_KINDS, NO_CORRELATION

__all__ = ["WORKS", "plain_measures", "tiled"]

_GAP_NS: Final = 1_000_000
_ALWAYS: Final = [int(api) for api in ALWAYS_WAITS]
_DEVICE: Final = [int(kind) for kind in DEVICE_KINDS]


def tiled(trace: Trace, rows: int) -> Trace:
    """The rows of a trace again and again, until there are about this many; ids of none stay none."""
    copies = max(1, round(rows / len(trace)))
    number = np.repeat(np.arange(copies, dtype=np.int64), len(trace))
    span = int(trace.end_ns.max() - trace.start_ns.min()) + _GAP_NS
    ids = int(trace.correlation.max()) + 1
    columns = {name: np.tile(getattr(trace, name), copies) for name in COLUMNS}
    for name in ("start_ns", "end_ns"):
        columns[name] += number * span
    for name in ("correlation", "wait_correlation"):
        step = np.where(columns[name] == NO_CORRELATION, 0, number * ids)
        columns[name] += step.astype(columns[name].dtype)
    return Trace.from_columns(columns, names=trace.names, source=trace.source)


@lru_cache(maxsize=2)
def _trace(path: Path) -> Trace:
    wanted = json.loads(path.read_text())
    return tiled(load(wanted["capture"]), wanted["rows"])


@lru_cache(maxsize=2)
def _frame(path: Path) -> Any:
    import pandas as pd

    trace = _trace(path)
    names = ("kind", "api", "start_ns", "end_ns", "process", "thread", "device", "correlation")
    return pd.DataFrame({name: getattr(trace, name) for name in names})


def plain_measures(frame: Any) -> dict[str, int]:
    """Busy time and gaps of all devices, time inside waits, and drains, as a page of pandas finds them."""
    ops = frame[frame["kind"].isin(_DEVICE)].sort_values(["device", "start_ns"])
    busy, gaps = _busy_and_gaps(ops)
    waits = _waits(frame, ops)
    return {
        "busy_ns": busy,
        "gaps": gaps,
        "blocked_ns": _union(waits, ["process", "thread"]),
        "drains": _drains(frame, ops, waits),
    }


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


def _waits(frame: Any, ops: Any) -> Any:
    """Calls that wait by name, and inside which an operation ended."""
    import pandas as pd

    calls = frame[frame["api"].isin(_ALWAYS)].sort_values("end_ns")
    ends = ops[["end_ns"]].sort_values("end_ns").rename(columns={"end_ns": "op_end"})
    found = pd.merge_asof(calls, ends, left_on="end_ns", right_on="op_end")
    return found[found["op_end"] > found["start_ns"]]


def _drains(frame: Any, ops: Any, waits: Any) -> int:
    """Gaps of devices that begin with a wait's return, with nothing enqueued before and not ended."""
    import pandas as pd

    calls = frame[(frame["api"] > 1) & (frame["correlation"] != NO_CORRELATION)]
    calls = calls[["process", "correlation", "start_ns"]].rename(columns={"start_ns": "enqueued"})
    calls = calls.drop_duplicates(["process", "correlation"]).astype({"enqueued": "Int64"})
    linked = ops.merge(calls, how="left")
    enqueued = linked["enqueued"].fillna(linked["start_ns"]).astype("int64").sort_values()
    ended = ops["end_ns"].sort_values()
    begun = pd.DataFrame({"at": enqueued.to_numpy(), "begun": np.arange(1, len(enqueued) + 1)})
    done = pd.DataFrame({"at": ended.to_numpy(), "done": np.arange(1, len(ended) + 1)})
    returns = waits[["end_ns"]].rename(columns={"end_ns": "at"}).sort_values("at")
    counted = pd.merge_asof(pd.merge_asof(returns, begun, on="at"), done, on="at")
    idle = counted[counted["begun"] == counted["done"]]
    return int(idle["begun"].nunique())


def stable_argsort(path: Path) -> object:
    """One stable argsort of as many int64, the numbers made before."""
    return np.argsort(_numbers(path), kind="stable")


@lru_cache(maxsize=2)
def _numbers(path: Path) -> Any:
    return np.random.default_rng(1).integers(0, 1 << 40, json.loads(path.read_text())["rows"])


WORKS: Final[dict[str, Callable[[Path], object]]] = {
    "all_measures": lambda path: analyze(_trace(path)),
    "argsort": stable_argsort,
    "hold": _trace,
    "pandas_measures": lambda path: plain_measures(_frame(path)),
}
