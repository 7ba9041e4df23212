"""The share of device work that did not block the host, and blocked time that no device work covers."""

from __future__ import annotations

from overlap_lab.intervals import length, shared_length
from overlap_lab.metrics.context import Context

__all__ = ["overlap"]

Values = dict[str, int | float | None]


def overlap(context: Context, device: int) -> Values:
    """Both ratios, None where the device did nothing in the window, and `host/blocked_while_idle`."""
    key = ("overlap", device, context.window)
    if key not in context.values:
        context.values[key] = _overlap(context, device)
    return context.values[key]


def _overlap(context: Context, device: int) -> Values:
    busy = context.busy(device)
    with_terminal = context.blocked(device, terminal=True)
    without = context.blocked(device, terminal=False)
    work, both = length(busy), shared_length(busy, with_terminal)
    return {
        "overlap/ratio": (work - shared_length(busy, without)) / work if work else None,
        "overlap/ratio_literal": (work - both) / work if work else None,
        "host/blocked_while_idle": length(with_terminal) - both,
    }
