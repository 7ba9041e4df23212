"""A linked trace in the shapes that the wait rules ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overlap_lab.columns import Rows
from overlap_lab.link import Link
from overlap_lab.metrics.ops import Lane, Ops, device_lanes, ops_of
from overlap_lab.metrics.queue import Queue, queue_of
from overlap_lab.metrics.scopes import Feeds, feeds_of
from overlap_lab.quality import launches_without_op
from overlap_lab.trace import Trace

__all__ = ["Material", "material_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A repaired, linked trace: its ops, who feeds which device, and each device's lane and queue."""

    trace: Trace
    links: Link
    ops: Ops
    feeds: Feeds
    devices: Mapping[int, Lane]
    lost_launches: Rows
    """Launches, async copies and memsets, by index of the host call, that should own an op and do not."""
    floors: dict[tuple[int, tuple[int, int] | None], int | None]
    """Launch floor by device and window, as far as it was asked for."""
    leads: dict[tuple[int, tuple[int, int] | None], tuple[int, list[int], list[int]]]
    """Tenths of run-ahead by device and window, as far as they were asked for."""
    queues: dict[int, Queue]
    """Queue by device, as far as it was asked for."""

    def queue(self, device: int) -> Queue:
        """The queue of one device."""
        if device not in self.queues:
            self.queues[device] = queue_of(self.trace, self.links, self.ops, self.devices[device])
        return self.queues[device]


def material_of(trace: Trace, links: Link) -> Material:
    """Group the ops of a repaired, linked trace."""
    ops = ops_of(trace, links)
    devices = device_lanes(ops)
    return Material(
        trace=trace,
        links=links,
        ops=ops,
        feeds=feeds_of(links, ops),
        devices=devices,
        lost_launches=launches_without_op(trace, links),
        floors={},
        leads={},
        queues={},
    )
