"""Everything that several measures need, worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from overlap_lab.columns import Ints, Mask, Rows
from overlap_lab.intervals import Intervals, clip, union
from overlap_lab.link import Link
from overlap_lab.metrics.causes import Segments, causes_of
from overlap_lab.metrics.drained import Drains, drains_of, stream_drains_of
from overlap_lab.metrics.material import Material, material_of
from overlap_lab.metrics.ops import Groups
from overlap_lab.metrics.waits import Waits, waits_of
from overlap_lab.trace import Trace

if TYPE_CHECKING:
    from overlap_lab.metrics.collectives import Collectives

__all__ = ["Context", "Window", "context_of"]

Window = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Context(Material):
    """Material with its waits and drains, seen through a window or whole."""

    waits: Waits
    drains: Mapping[int, Drains]
    """Per device."""
    stream_drains: Mapping[tuple[int, int], tuple[Drains, ...]]
    """Per (device, stream): one entry for each process that has such a stream."""
    idle: Mapping[int, Segments]
    """Per device the gaps between its ops by cause, over the whole trace."""
    host_values: dict[Window | None, dict[str, Ints]]
    """Each `host/*` value per thread, by window, as far as it was asked for."""
    values: dict[tuple[str, int, Window | None], dict[str, int | float | None]]
    """Values of a device by family and window, as far as they were asked for."""
    waits_of_threads: Groups
    near: list[tuple[Rows, Rows]]
    """Rows near the waits and their threads, once they were asked for."""
    late_syncs: list[Ints]
    """Synchronizes that came late, by index of the host call, once they were asked for."""
    collectives: list[Collectives | None]
    """The collectives, once they were asked for; None where no op is one."""
    window: Window | None = None

    def within(self, window: Window | None) -> Context:
        """The same trace seen through another window; waits and drains stay as the whole trace decides."""
        return replace(self, window=window)

    def undecided_at(self, gaps: Mapping[int, Ints]) -> Context:
        """The same trace where some gaps, by device, have no cause that every possible clock agrees on."""
        changed = {
            device: causes_of(self, device, self.drains[device].gap, undecided)
            for device, undecided in gaps.items()
        }
        return replace(self, idle={**self.idle, **changed}, values={})

    def with_waits(self, keep: Mask) -> Context:
        """The same trace in which only these waits count: the others block nothing and drain nothing."""
        waits = self.waits.where(keep)
        material = Material(**{each.name: getattr(self, each.name) for each in fields(Material)})
        return _context(material, waits, self.window)

    def window_of(self, device: int) -> Window:
        """The interval that the device's ratios divide by: the given one, else first op to last op."""
        lane = self.devices[device]
        return self.window or (lane.first, lane.last)

    def busy(self, device: int) -> Intervals:
        """When the device was busy inside the window."""
        start, end = self.devices[device].busy
        if self.window is None:
            return start, end
        first, last = self.window
        inside = slice(np.searchsorted(end, first, side="right"), np.searchsorted(start, last))
        return union(*clip(start[inside], end[inside], self.window))

    def blocked(self, device: int, *, terminal: bool) -> Intervals:
        """When the device's feeding threads were blocked, with or without its terminal waits."""
        waits = self.waits_of_threads
        mine = waits.of(self.feeds.threads(device).tolist())
        if not terminal:
            mine = mine[np.isin(mine, self.drains[device].terminal_waits, invert=True)]
        return union(*clip(self.waits.start[mine], self.waits.end[mine], self.window))

    def is_fed(self, device: int) -> bool:
        """Whether any enqueue call is linked to an op of the device."""
        return self.feeds.threads(device).size > 0


def context_of(trace: Trace, links: Link, *, shift: Mapping[int, int] | None = None) -> Context:
    """Prepare a repaired trace; `shift` moves the ops of a device by some ns, to test another clock."""
    material = material_of(_shifted(trace, links, shift) if shift else trace, links)
    return _context(material, waits_of(material), None)


def _context(material: Material, waits: Waits, window: Window | None) -> Context:
    ops, feeds = material.ops, material.feeds
    drains = drains_of(ops, feeds, material.devices, waits)
    none = np.zeros(0, np.int64)
    idle = {device: causes_of(material, device, drains[device].gap, none) for device in material.devices}
    return Context(
        **{each.name: getattr(material, each.name) for each in fields(material)},
        waits=waits,
        drains=drains,
        stream_drains=stream_drains_of(ops, feeds, material.devices, waits),
        idle=idle,
        host_values={},
        values={},
        waits_of_threads=Groups.of_codes(waits.thread),
        near=[],
        late_syncs=[],
        collectives=[],
        window=window,
    )


def _shifted(trace: Trace, links: Link, shift: Mapping[int, int]) -> Trace:
    start, end = trace.start_ns.copy(), trace.end_ns.copy()
    for device, more in shift.items():
        rows = links.op[links.device == device]
        start[rows] += more
        end[rows] += more
    return trace.replace(start_ns=start, end_ns=end)
