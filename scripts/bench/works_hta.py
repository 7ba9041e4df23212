"""What is timed in HolisticTraceAnalysis's own environment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from hta.trace_analysis import TraceAnalysis

__all__ = ["WORKS"]


def whole(path: Path) -> object:
    """Load, idle time by cause, queue length and the temporal breakdown.

    The last one ends in an assertion on traces with fractions of a microsecond; its time until then counts.
    """
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir="")
    idle = analysis.get_idle_time_breakdown(visualize=False)
    queue = analysis.get_queue_length_summary()
    with suppress(AssertionError):
        return analysis, idle, queue, analysis.get_temporal_breakdown(visualize=False)
    return analysis, idle, queue


WORKS: Final[dict[str, Callable[[Path], object]]] = {"whole": whole}
