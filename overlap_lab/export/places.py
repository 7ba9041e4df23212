"""Where viewers show each row of a trace: under which device or process, on which line and lane of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import Ints
from overlap_lab.export.ids import Ids
from overlap_lab.export.lanes import lanes_of_spans
from overlap_lab.schema import DEVICE_KINDS, Kind
from overlap_lab.trace import Trace

__all__ = ["ON_DEVICE", "Places", "places_of"]

ON_DEVICE: Final = (*DEVICE_KINDS, Kind.SYNC, Kind.DEVICE_RANGE)
"""What is shown under a device: its ops, and what tools note beside them."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """One entry for each row of the trace."""

    on_device: npt.NDArray[np.bool_]
    is_op: npt.NDArray[np.bool_]
    owner: Ints
    """The device of a row on a device, the process of another."""
    line: Ints
    """The stream of a row on a device, the thread of another."""
    lane: Ints
    """Of an op the lowest lane of its stream that is free, 0 for the first; of other rows 0."""


def places_of(trace: Trace, ids: Ids) -> Places:
    """The places by the processes' numbers in the file that is written."""
    on_device, is_op = np.isin(trace.kind, ON_DEVICE), np.isin(trace.kind, DEVICE_KINDS)
    lane = np.zeros(len(trace), np.int64)
    rows = np.flatnonzero(is_op)
    lane[rows] = _lanes_of_ops(trace, rows)
    return Places(
        on_device,
        is_op,
        owner=np.where(on_device, trace.device.astype(np.int64), ids.process),
        line=np.where(on_device, trace.stream, trace.thread),
        lane=lane,
    )


def _lanes_of_ops(trace: Trace, rows: Ints) -> Ints:
    lane = np.zeros(rows.size, np.int64)
    order = np.lexsort((trace.stream[rows], trace.device[rows]))
    device, stream = trace.device[rows][order], trace.stream[rows][order]
    edges = np.flatnonzero((device[1:] != device[:-1]) | (stream[1:] != stream[:-1])) + 1
    for mine in np.split(order, edges):
        lane[mine] = lanes_of_spans(trace.start_ns[rows[mine]], trace.end_ns[rows[mine]])
    return lane
