"""The figures that there are."""

from __future__ import annotations

from typing import Final

OF_ONE_TRACE: Final = (
    "timeline",
    "blocked",
    "drains",
    "idle_by_cause",
    "steps",
    "run_ahead",
    "queue_depth",
    "launch_latency",
)
"""By the name that `overlap-lab plot` and `overlap_lab.plots` call them."""
