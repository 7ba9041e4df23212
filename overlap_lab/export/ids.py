"""Ids that stay apart when the parts of a trace become one file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from overlap_lab.schema import ABSENT_PROCESS, NO_CORRELATION
from overlap_lab.trace import Trace

__all__ = ["Ids", "ids_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    process: npt.NDArray[np.int64]
    correlation: npt.NDArray[np.uint64]
    wait_correlation: npt.NDArray[np.uint64]
    notes: tuple[str, ...]


def ids_of(trace: Trace) -> Ids:
    """As they are where there is one part; else rows of different parts share no process and no id."""
    process = trace.process.astype(np.int64)
    if not len(trace) or bool((trace.part == trace.part[0]).all()):
        return Ids(process, trace.correlation, trace.wait_correlation, ())
    notes: tuple[str, ...] = (
        f"{np.unique(trace.part).size} parts in one file: correlation ids were numbered anew.",
    )
    pairs, which = np.unique(
        np.stack([trace.process.astype(np.int64), trace.part]), axis=1, return_inverse=True
    )
    number = pairs[0].copy()
    again = np.flatnonzero((pairs[0, 1:] == pairs[0, :-1]) & (pairs[0, 1:] != ABSENT_PROCESS)) + 1
    number[again] = int(pairs[0].max()) + 1 + np.arange(again.size)
    if again.size:
        notes += (f"{again.size} processes share their number with one of another part and have a new one.",)
    correlation, wait_correlation = _numbered(trace)
    return Ids(number[which.ravel()], correlation, wait_correlation, notes)


def _numbered(trace: Trace) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    both = np.concatenate([trace.correlation, trace.wait_correlation])
    part = np.concatenate([trace.part, trace.part]).astype(np.uint64)
    which = np.unique(np.stack([part, both]), axis=1, return_inverse=True)[1].ravel()
    found = np.where(both == NO_CORRELATION, NO_CORRELATION, which + 1).astype(np.uint64)
    return found[: len(trace)], found[len(trace) :]
