"""The share of device work that did not block the host, and blocked time that no device work covers."""

from __future__ import annotations

from overlap_lab.intervals import length, subtract
from overlap_lab.metrics.context import Context

__all__ = ["overlap"]

Values = dict[str, int | float | None]


def overlap(context: Context, device: int) -> Values:
    """Both ratios, None where the device did nothing in the window, and `host/blocked_while_idle`."""
    busy = context.busy(device)
    with_terminal = context.blocked(device, terminal=True)
    without = context.blocked(device, terminal=False)
    work = length(busy)
    return {
        "overlap/ratio": length(subtract(busy, without)) / work if work else None,
        "overlap/ratio_literal": length(subtract(busy, with_terminal)) / work if work else None,
        "host/blocked_while_idle": length(subtract(with_terminal, busy)),
    }
