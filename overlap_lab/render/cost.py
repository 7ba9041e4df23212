"""One thing that costs device time, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from overlap_lab.metrics.dense import Spans, Stretch
from overlap_lab.metrics.late import LateGaps
from overlap_lab.render.costly_waits import CostlyWait
from overlap_lab.render.idle_rules import IdleRule
from overlap_lab.render.peer_waits import PeerRule, PeerWaits
from overlap_lab.render.rule_book import WaitRule
from overlap_lab.schema import Cause

__all__ = ["Cost", "Costs"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one thing costs: idle time of devices, for waits time that the host was blocked, and in
    collectives busy time in which devices only wait for each other."""

    cause: Cause | None
    """Of the idle time; None for busy time."""
    idle_ns: int
    """Summed over devices; 0 for a wait after which no device stood idle."""
    advice: WaitRule | IdleRule | PeerRule | None
    gaps: int
    longest_ns: int
    """The longest gap."""
    devices: tuple[tuple[int | None, int], ...] = ()
    """Its device time by device, the most first."""
    spot: Span | None = None
    """The costliest of them on the timeline, after the trace's first record."""
    wait: CostlyWait | None = None
    late: LateGaps | None = None
    """The group of gaps, where the cause is a late host; the first of several that are told as one."""
    names: tuple[tuple[str, int], ...] = ()
    """What the launching thread did in these gaps, by idle time, the most first."""
    title: str = ""
    """What it is called, where it is a part of its cause."""
    spans: Mapping[int, Spans] = field(default_factory=dict, compare=False, repr=False)
    """Its gaps by device, after the trace's first record."""
    stretch: Stretch | None = None
    """Where they lie closest on the device with most of them, where none of them is much of the cost."""
    peers: PeerWaits | None = None

    @property
    def device_ns(self) -> int:
        """Idle time, or busy time that is a wait for another device."""
        return self.peers.ns if self.peers is not None else self.idle_ns


@dataclass(frozen=True, slots=True)
class Costs:
    """All costs of a trace and what they are shares of."""

    found: tuple[Cost, ...]
    idle_ns: int
    """Of all devices together."""
    window_ns: int
    """Of all devices together: their device time."""
    devices: int
    final_ns: int = 0
    """Blocked time of waits with no device work after them, which cost nothing."""
    by_cause: Mapping[Cause, int] = field(default_factory=dict)
    regaining: Mapping[Cause, int] = field(default_factory=dict)
    """Of it what lies where the host was regaining the lead that waits had taken from it."""

    @property
    def regaining_ns(self) -> int:
        """Idle time before late launches while the host regained its lead: what waits may cost besides."""
        return sum(self.regaining.values())

    @property
    def peers(self) -> Cost | None:
        """The busy time in which devices only wait for each other, where that is worth a word."""
        return next((one for one in self.found if one.peers is not None), None)

    @property
    def lost_ns(self) -> int:
        """Idle time, and busy time in which devices only wait for each other."""
        return self.idle_ns + (self.peers.device_ns if self.peers else 0)

    @property
    def waits_ns(self) -> int:
        """Idle time that waits caused."""
        return self.by_cause.get(Cause.DRAIN, 0)
