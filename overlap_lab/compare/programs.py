"""Why several traces are no repeats of one program: what they have the device do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from overlap_lab.columns import gather
from overlap_lab.compare.samples import Run
from overlap_lab.metrics.context import Context

__all__ = ["differences_of_programs"]

_SHARED: Final = 0.5
"""Repeats of one program share nearly all of their device time by name; recorded programs that differ share
at most 0.4 of it, in kernels that every library has, such as those that fill or copy."""
_NAMES: Final = 2
_LONGEST: Final = 60


def differences_of_programs(repeats: Sequence[Run]) -> list[str]:
    """One sentence for each trace that does other work on the device than the first one does: less than half
    of the device time of one of the two is of kernels, copies and memsets that the other has by name.

    Saved reports, runs of a baseline and traces without device work tell no names, and are passed over.
    """
    told = [(at + 1, run.context) for at, run in enumerate(repeats) if run.context is not None]
    working = [(at, times) for at, context in told if (times := _device_times(context))]
    return [
        f"trace {at} is no repeat of trace {working[0][0]}, for their programs differ: "
        f"{_costliest(times)} against {_costliest(working[0][1])}"
        for at, times in working[1:]
        if min(_shared(times, working[0][1]), _shared(working[0][1], times)) < _SHARED
    ]


def _device_times(context: Context) -> dict[str, int]:
    """Device time by name of the op; none where no op took any."""
    trace, op = context.trace, context.links.op
    codes, place = np.unique(gather(trace.name, op), return_inverse=True)
    total = np.zeros(codes.size, np.int64)
    np.add.at(total, place, gather(trace.end_ns, op) - gather(trace.start_ns, op))
    found: dict[str, int] = {}
    for code, time in zip(codes.tolist(), total.tolist(), strict=True):
        name = trace.names[code] if code >= 0 else ""
        found[name] = found.get(name, 0) + time
    return found if sum(found.values()) else {}


def _shared(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """The part of the time of one that is spent in what the other has as well."""
    return sum(time for name, time in one.items() if name in other) / sum(one.values())


def _costliest(times: Mapping[str, int]) -> str:
    """The names that take the most time, for people."""
    names = sorted(times, key=lambda name: (-times[name], name))
    shown = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..." for name in names[:_NAMES]]
    return ", ".join(shown) + (", ..." if len(names) > _NAMES else "")
