"""Busy time in which devices only wait for each other in collectives, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab.intervals import clip
from overlap_lab.metrics.collectives import collectives_of, waits_for
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.places import relative_start_ns
from overlap_lab.render.numbers import Numbers
from overlap_lab.report import Finding, Report
from overlap_lab.schema import ABSENT_DEVICE

__all__ = ["PEER_RULES", "PeerRule", "PeerWaits", "advice_for_peers", "peer_waits"]

_MORE: Final = 0.25
"""So much of the waits is explained where a device has that much more of something than the others."""


@dataclass(frozen=True, slots=True)
class PeerWaits:
    """Waits in collectives with nothing else on the device: for the straggler, else for whoever was last."""

    straggler: int | None
    ns: int
    """Summed over the devices that waited."""
    last: int = 0
    """In so many collectives the straggler started last."""
    matched: int = 0
    """Of so many that it shared."""
    waiting: int = 0
    """How many devices waited."""
    late_ns: int = 0
    """By how much more its host needs to hand out work than the next slowest device needs."""
    work_ns: int = 0
    """By how much longer its own work takes."""
    gain_ns: int | None = None
    """What all would gain at most were the straggler as fast as the next slowest; None where unknown."""
    needs: tuple[int, int] | None = None
    """What the straggler needs by itself, and the next slowest."""
    is_host: bool = True
    """Whether the straggler's host is what takes longest of its own, rather than its work."""
    by_device: tuple[tuple[int | None, int], ...] = ()
    """The waits by device, the most first."""
    count: int = 0
    longest_ns: int = 0
    spot: tuple[int, int] | None = None
    """The longest wait, after the trace's first record."""

    @property
    def title(self) -> str:
        whom = "others" if self.straggler is None else f"device {self.straggler}"
        return f"{self._who} for {whom} in collectives"

    @property
    def _who(self) -> str:
        if self.waiting > 1:
            return f"{self.waiting} devices wait"
        known = self.by_device[0][0] if self.by_device else None
        if known is None:
            return "one device waits" if self.straggler is None else "another device waits"
        return f"device {known} waits"

    @property
    def is_material(self) -> bool:
        """Whether a faster straggler would end a good part of the waits, as far as is known."""
        return self.gain_ns is None or self.gain_ns >= _MORE * _each(self)

    @property
    def facts(self) -> str:
        """What tells that it is the straggler."""
        if self.straggler is None:
            return "no device is clearly the straggler"
        return f"device {self.straggler} started last in {self.last:,} of {self.matched:,}"


@dataclass(frozen=True, slots=True)
class PeerRule:
    """Advice for waits in collectives that it applies to."""

    name: str
    advice: str
    applies: Callable[[PeerWaits], bool]
    is_fault: bool = True


def _is_told_of(peers: PeerWaits) -> bool:
    """Whether a straggler is worth a look, as far as is known."""
    return peers.straggler is not None and peers.is_material


PEER_RULES: Final = (
    PeerRule(
        "straggler_by_a_hair",
        "One device comes last, but the next slowest would need nearly as long by itself: while they wait in "
        "collectives, the hosts of the others are still launching. Speed up what all of them do first: fewer "
        "launches, less work, fewer waits in each step.",
        lambda peers: peers.straggler is not None and not peers.is_material,
        is_fault=False,
    ),
    PeerRule(
        "straggler_with_a_late_host",
        "One device comes late because its host launches late. Find out why: compare the process that feeds "
        "it with another's (data loading, logging or evaluation on one rank, CPU cores, its late launches in "
        "this list). What the others wait for it goes with that.",
        lambda peers: _is_told_of(peers) and peers.late_ns >= _MORE * _each(peers),
    ),
    PeerRule(
        "straggler_with_more_work",
        "One device comes late because its own ops take longer. Balance the data (by tokens or pixels, not "
        "by samples; sort by length), the layers or the experts, and look whether its clock is throttled.",
        lambda peers: _is_told_of(peers) and peers.work_ns >= _MORE * _each(peers),
    ),
    PeerRule(
        "straggler",
        "One device comes late. Compare its steps on the timeline with another device's: what runs before "
        "each collective, and which thread launches it.",
        _is_told_of,
    ),
    PeerRule(
        "turns",
        "Now one device is last and now another: what varies from rank to rank costs all of them. Balance "
        "each step's data, keep logging and evaluation out of it, and run collectives beside other work.",
        lambda peers: peers.straggler is None,
    ),
)
"""In order: the first that applies is what the page says."""


def _each(peers: PeerWaits) -> float:
    return peers.ns / max(peers.waiting, 1)


def advice_for_peers(peers: PeerWaits) -> PeerRule:
    """The rule for these waits; there is one for any."""
    return next(rule for rule in PEER_RULES if rule.applies(peers))


def peer_waits(report: Report, context: Context | None) -> PeerWaits | None:
    """The waits that a finding of the report tells of; None where they are not worth a word."""
    found = {finding.rule: finding for finding in report.findings}
    if "straggler" in found:
        return _with_spans(_of_straggler(report, found["straggler"]), context)
    if "collective_waits" in found:
        waits = found["collective_waits"]
        none = PeerWaits(None, _number(waits, "waited_ns"), waiting=_number(waits, "waiting"))
        return _with_spans(none, context)
    return None


def _of_straggler(report: Report, finding: Finding) -> PeerWaits:
    device = finding.scope["device"]
    peers = PeerWaits(
        straggler=device,
        ns=_number(finding, "waited_ns"),
        last=_number(finding, "last"),
        matched=_number(finding, "matched"),
        waiting=_number(finding, "waiting"),
    )
    if finding.evidence.get("gain_ns") is None:
        return replace(peers, work_ns=_more_work(report, device))
    needs = _number(finding, "needs_ns"), _number(finding, "next_needs_ns")
    numbers, scope = Numbers(report), {"device": device}
    is_host = numbers.count("collectives/launching", scope) >= numbers.count("collectives/work", scope)
    more = max(needs[0] - needs[1], 0)
    late, work = (more, 0) if is_host else (0, more)
    gain = _number(finding, "gain_ns")
    return replace(peers, late_ns=late, work_ns=work, gain_ns=gain, needs=needs, is_host=is_host)


def _number(finding: Finding, name: str) -> int:
    value = finding.evidence.get(name)
    return value if isinstance(value, int) else 0


def _more_work(report: Report, device: int) -> int:
    """By how much longer a device's own ops took than those of the others in the middle."""
    numbers = Numbers(report)
    scopes = (one for one in numbers.devices() if one.get("device") != device)
    others = sorted(_work(numbers, one) for one in scopes)
    return _work(numbers, {"device": device}) - others[(len(others) - 1) // 2] if others else 0


def _work(numbers: Numbers, scope: Mapping[str, int]) -> int:
    return numbers.count("device/busy", scope) - numbers.count("collectives/exposed", scope)


def _with_spans(peers: PeerWaits, context: Context | None) -> PeerWaits:
    """With what only the trace tells: which devices, how often, and where the longest wait is."""
    found = collectives_of(context) if context is not None else None
    if found is None or context is None:
        return peers
    exposed = waits_for(context, found, peers.straggler)
    sums = {device: int(exposed[mine].sum()) for device, mine in found.of_device.positions.items()}
    by_device = [(None if device == ABSENT_DEVICE else device, ns) for device, ns in sums.items() if ns]
    at = np.array([exposed.argmax()])
    start, end = clip(found.wait_start[at], found.wait_end[at], context.window)
    zero = relative_start_ns(context)
    return replace(
        peers,
        by_device=tuple(sorted(by_device, key=lambda pair: -pair[1])),
        count=int((exposed > 0).sum()),
        longest_ns=int(exposed[at][0]),
        spot=(int(start[0]) - zero, int(end[0]) - zero),
    )
