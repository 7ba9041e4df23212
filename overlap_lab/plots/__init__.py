"""Figures: functions that return a plotly `go.Figure` and never show it.

Each takes a Trace, which is analyzed first, or a Report where that is enough. Nothing is left out silently:
what is joined, summed up or cut is said below the figure. `theme` is "light" or "dark".
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

__all__ = [
    "blocked",
    "comparison",
    "drains",
    "idle_by_cause",
    "launch_latency",
    "overhead",
    "queue_depth",
    "run_ahead",
    "steps",
    "timeline",
]

if TYPE_CHECKING:
    from overlap_lab.plots.compared import comparison, overhead
    from overlap_lab.plots.costs import blocked, drains, idle_by_cause, steps
    from overlap_lab.plots.queues import launch_latency, queue_depth, run_ahead
    from overlap_lab.plots.timeline_figure import timeline

_WHERE: Final = {
    "blocked": "costs",
    "comparison": "compared",
    "drains": "costs",
    "idle_by_cause": "costs",
    "launch_latency": "queues",
    "overhead": "compared",
    "queue_depth": "queues",
    "run_ahead": "queues",
    "steps": "costs",
    "timeline": "timeline_figure",
}


def __getattr__(name: str) -> object:
    """Functions are imported when they are asked for, and plotly with them."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"overlap_lab.plots.{_WHERE[name]}"), name)
