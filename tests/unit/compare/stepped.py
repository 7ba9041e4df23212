"""Drawn traces whose ranges are steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from overlap_lab.schema import Api, Kind
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

__all__ = ["framed", "stepped", "steps_of"]


def stepped(drawing: str, *, name: str = "step #{}", source: Source | None = None) -> Trace:
    """The drawn trace with its ranges called step #0, step #1, ... in order of start."""
    trace = timeline(drawing, source=source)
    rows = np.flatnonzero(trace.kind == Kind.RANGE)
    names = (*trace.names, *(name.format(number) for number in range(rows.size)))
    code = trace.name.copy()
    code[rows] = len(trace.names) + np.arange(rows.size)
    return trace.replace(names=names, name=code)


def steps_of(
    lengths_us: list[int], *, drain_us: int = 2, start_us: int = 0, metadata: Mapping[str, str] | None = None
) -> Trace:
    """Steps that launch one kernel, wait for it, and leave the device idle for `drain_us` behind it.

    A step of 10 us with a drain of 2 us: launch 1, the kernel from 1 to 8, wait until 8, idle from 8.
    """
    host, waits, stream = "." * start_us, "." * start_us, "." * start_us
    for number, length in enumerate(lengths_us):
        letter = "Oo"[number % 2]
        host += letter * length
        waits += "L" + "S" * (length - drain_us - 1) + "." * drain_us
        stream += "." + "Kk"[number % 2] * (length - drain_us - 1) + "." * drain_us
    source = Source(vendor="amd", clock="boottime", metadata=metadata or {})
    return stepped(f"host   1 |{host}\nhost   1 |{waits}\nstream 0 |{stream}", source=source)


def framed(trace: Trace, *names: str) -> Trace:
    """The drawn trace with its other calls (K on the host) as Python frames, called so in turn by start."""
    rows = np.flatnonzero((trace.kind == Kind.API) & (trace.api == Api.OTHER))
    kind, api, name = trace.kind.copy(), trace.api.copy(), trace.name.copy()
    kind[rows], api[rows] = Kind.PYTHON, Api.NONE
    name[rows] = len(trace.names) + np.arange(rows.size) % len(names)
    return trace.replace(names=(*trace.names, *names), kind=kind, api=api, name=name)
