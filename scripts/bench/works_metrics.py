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
from overlap_lab.schema import COLUMNS, NO_CORRELATION

__all__ = ["WORKS", "tiled"]

_GAP_NS: Final = 1_000_000


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

    from scripts.bench.plain_measures import WANTED

    trace = _trace(path)
    return pd.DataFrame({name: getattr(trace, name) for name in WANTED})


def plain_measures_of(path: Path) -> object:
    """The four measures of the frame, which is made before."""
    from scripts.bench.plain_measures import plain_measures

    return plain_measures(_frame(path))


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
    "pandas_measures": plain_measures_of,
}
