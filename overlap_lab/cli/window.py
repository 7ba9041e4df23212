"""`--window A:B` -> nanoseconds of the trace's own clock."""

from __future__ import annotations

from overlap_lab.errors import UsageError
from overlap_lab.schema import LATEST_NS
from overlap_lab.trace import Trace
from overlap_lab.units import format_ns, parse_ns

__all__ = ["parse_window", "window_in"]

Window = tuple[int | None, int | None]


def parse_window(text: str) -> Window:
    """The two edges in ns after the trace's zero; an open side is None.

    >>> parse_window("1ms:2.5ms"), parse_window(":20us"), parse_window("3s:")
    ((1000000, 2500000), (None, 20000), (3000000000, None))
    """
    left, colon, right = text.partition(":")
    if not colon or ":" in right or not (left.strip() or right.strip()):
        raise UsageError(
            f"--window {text!r}: write A:B with times after the trace's start, as 1ms:2.5ms or 1ms:"
        )
    start, end = (parse_ns(side) if side.strip() else None for side in (left, right))
    if (start or 0) < 0 or (end or 1) < 0:
        raise UsageError(f"--window {text!r}: times count from the trace's start, so none is negative")
    if start is not None and end is not None and start >= end:
        raise UsageError(f"--window {text!r}: the end must lie after the start")
    return start, end


def window_in(trace: Trace, window: Window) -> tuple[int, int]:
    """The window on the trace's clock; raises UsageError where no record of the trace reaches into it.

    Time 0 is the trace's first record, as in the report's tables and on the timeline's axis.
    """
    from overlap_lab.plots.lanes import origin_ns

    zero = origin_ns(trace)
    last = int(trace.end_ns.max(initial=zero))
    start = zero if window[0] is None else zero + window[0]
    end = last if window[1] is None else min(zero + window[1], LATEST_NS)
    if start >= last or end <= zero or start >= end:
        raise UsageError(f"--window: nothing is recorded there; the trace is {format_ns(last - zero)} long")
    return start, end
