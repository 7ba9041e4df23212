"""What a cost is, where, how often, and of what it is a share, in sentences that page and terminal share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.render.costly_waits import CostlyWait
from overlap_lab.render.costs import Cost, Costs
from overlap_lab.render.device_words import each_words
from overlap_lab.render.names import printable
from overlap_lab.render.peer_waits import PeerWaits
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import format_value, percent
from overlap_lab.schema import Cause, CopyKind, Memory
from overlap_lab.units import format_ns

__all__ = [
    "amount_words",
    "and_more",
    "calls_words",
    "gain_words",
    "kind_of",
    "longest_words",
    "ranges_words",
    "share_words",
    "spread_words",
    "title_of",
    "wait_name",
    "waited_words",
    "where_words",
    "why_empty",
]

_NUMBER: Final = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
_ON_DEVICE: Final = (CopyKind.DEVICE_TO_DEVICE, CopyKind.PEER_TO_PEER)
_ITEM_OPS: Final = frozenset({"aten::item", "aten::_local_scalar_dense"})
_NOTABLE_SHARE: Final = 0.4
"""From here on a thread or device is named as the one with the most."""


def title_of(cost: Cost) -> str:
    """The call that waits, what the host was in, else its own title or the cause."""
    if cost.wait is not None:
        return printable(cost.wait.call)
    if cost.cause is not Cause.HOST_LATE:
        return cost.title or _cause_words(cost)
    if cost.late is None:
        return "the host launched late"
    if not cost.late.is_long:
        return "short gaps between launches"
    return printable(cost.names[0][0]) if cost.names else "host code that the trace does not name"


def kind_of(cost: Cost) -> str:
    """What kind of cost it is, in a few words: the cause, or of a wait its reason and its copy."""
    return _why(cost.wait) if cost.wait is not None else _cause_words(cost)


def _cause_words(cost: Cost) -> str:
    return CAUSE_WORDS[cost.cause] if cost.cause is not None else "busy, but waiting"


def _why(wait: CostlyWait) -> str:
    words = ["copy on the device" if wait.copy in _ON_DEVICE else wait.reason.replace("_", " ")]
    if wait.copy not in (None, CopyKind.UNKNOWN, *_ON_DEVICE):
        words.append(wait.copy.name.replace("_", " ").lower())
    if wait.bytes is not None:
        words.append(format_value(wait.bytes, "bytes"))
    if wait.memory is not Memory.UNKNOWN:
        words.append(wait.memory.name.lower())
    return ", ".join(words)


def where_words(cost: Cost) -> str:
    """The ranges, the op and the line around it; all that there are, or how many more."""
    if cost.wait is not None:
        places = [and_more(cost.wait.ranges), cost.wait.op or "", cost.wait.frame or ""]
        return printable(" › ".join(place for place in places if place))
    if cost.late is None:
        return printable(and_more([f"{name} {format_ns(ns)}" for name, ns in cost.names]))
    if cost.late.is_long:
        others = [f"{name} {format_ns(ns)}" for name, ns in cost.names] if len(cost.names) > 1 else []
        told = (_line_of(cost), and_more(others))
        return printable("; ".join(part for part in told if part))
    return printable(and_more([f"{name} {format_ns(ns)}" for name, ns in cost.names], shown=3))


def _line_of(cost: Cost) -> str:
    """The line around a group of gaps, unless its name is that line."""
    line = cost.late.line if cost.late is not None else None
    named = frame_in(cost.names[0][0]) if cost.names else None
    return line if line and str(named) != line else ""


def and_more(names: Sequence[str], *, shown: int = 2) -> str:
    """The first of the names, and how many more there are.

    >>> and_more(["a"]), and_more(["a", "b", "c"]), and_more(["a", "b", "c", "d"])
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    if len(names) <= shown + 1:
        return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
    return f"{', '.join(names[:shown])} and {len(names) - shown} more"


def ranges_words(names: Sequence[str]) -> str:
    """Ranges in a sentence: as one where they only count on, else the first of them and how many more.

    >>> ranges_words(["layer 0", "layer 2", "layer 1"]), ranges_words(["step 3", "step 5"])
    ('layer 0 to 2', 'step 3 and step 5')
    """
    parts = [_NUMBER.split(name) for name in names]
    if len(names) < 2 or any(len(part) != 3 or part[::2] != parts[0][::2] for part in parts):
        return and_more(names)
    numbers = sorted(int(part[1]) for part in parts)
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or len(numbers) < 3:
        return and_more(names)
    before, _, after = parts[0]
    return f"{before}{numbers[0]} to {numbers[-1]}{after}"


def spread_words(cost: Cost, costs: Costs) -> str:
    """How often, the longest of them, and on which thread and device the most."""
    parts = [_waits_words(cost.wait)] if cost.wait is not None else []
    if cost.peers is not None:
        parts += [cost.peers.facts, *gain_words(cost.peers, costs)]
        parts += [_times(cost.peers.count, "wait", cost.longest_ns)] if cost.peers.count else []
    if cost.wait is None and cost.gaps:
        parts.append(_times(cost.gaps, "gap", cost.longest_ns))
        if cost.late is not None and cost.late.is_long and len(cost.names) == 1:
            parts.append(f"the host was in it for {format_ns(cost.names[0][1])}")
    elif cost.wait is not None and cost.wait.drains:
        parts.append(f"costliest {format_ns(cost.wait.costliest_ns)} idle")
    parts += _most(cost, costs)
    return "; ".join(parts)


def _waits_words(wait: CostlyWait) -> str:
    final = f"; {wait.final} more at the end" if wait.final else ""
    return _times(wait.waits, "wait", wait.longest_ns) + final


def _times(count: int, what: str, longest_ns: int) -> str:
    if count == 1:
        return f"one {what} of {format_ns(longest_ns)}"
    return f"{count:,} {what}s, the longest {format_ns(longest_ns)}"


def _most(cost: Cost, costs: Costs) -> Iterator[str]:
    """The thread and the device with the most, where there are several and one stands out."""
    threads = cost.wait.threads if cost.wait is not None else ()
    if len(threads) > 1:
        name, longest = threads[0]
        whole = sum(ns for _, ns in threads)
        most = f", {percent(longest, whole)} on {name}" if longest >= _NOTABLE_SHARE * whole else ""
        yield f"on {len(threads)} threads{most}"
    if costs.devices > 1 and cost.devices:
        number, ns = cost.devices[0]
        if ns >= _NOTABLE_SHARE * cost.device_ns and number is not None:
            yield f"{percent(ns, cost.device_ns)} on device {number}"
        elif len(cost.devices) > 1:
            yield f"on {len(cost.devices)} devices"


def amount_words(ns: int, costs: Costs, by_device: Sequence[tuple[int | None, int]] = ()) -> str:
    """How much, of what, and of several devices where the most is."""
    if costs.devices > 1:
        return each_words(ns, costs.window_ns, by_device, costs.devices)
    return f"{format_ns(ns)}, {percent(ns, costs.window_ns)} of the window"


def waited_words(peers: PeerWaits, costs: Costs) -> str:
    """How long each device waited in collectives, and what a faster straggler would gain."""
    mean, share = format_ns(round(peers.ns / costs.devices)), percent(peers.ns, costs.window_ns)
    waited = f"{mean}{' on average' if costs.devices > 1 else ''} ({share}), counted as busy"
    return "; ".join((waited, *gain_words(peers, costs)))


def gain_words(peers: PeerWaits, costs: Costs) -> Iterator[str]:
    """What all would gain at most were the straggler as fast as the next slowest, where that is known."""
    if peers.gain_ns is None or peers.needs is None:
        return
    who, does = ("its host", "launching") if peers.is_host else ("it", "work")
    mine, other = map(format_ns, peers.needs)
    share = percent(costs.devices * peers.gain_ns, costs.window_ns)
    all_slow = "" if peers.is_material else f": all {'hosts' if peers.is_host else 'devices'} are slow"
    yield (
        f"were {who} ({mine} of {does}) as fast as the next slowest ({other}), "
        f"at most {format_ns(peers.gain_ns)} ({share}) would be gained{all_slow}"
    )


def share_words(cost: Cost, costs: Costs) -> str:
    """Of what its device time is a share: of the window, and of all idle or busy time."""
    ns = cost.device_ns
    if costs.devices > 1:
        each = each_words(ns, costs.window_ns, (), costs.devices)
        if cost.peers is not None:
            return f"{each}, {percent(ns, costs.window_ns - costs.idle_ns)} of their busy time"
        return f"{each}, {percent(ns, costs.idle_ns)} of their idle"
    if cost.peers is not None:
        return f"{percent(ns, costs.window_ns)} of the window, counted as busy"
    return f"{percent(ns, costs.window_ns)} of the window, {percent(ns, costs.idle_ns)} of idle"


def wait_name(wait: CostlyWait) -> str:
    """A place that waits in a few words: its call, and the op or range around it.

    A read of one number is what people know by the method that they wrote.
    """
    if wait.op in _ITEM_OPS:
        return printable(f".item() reads ({wait.call})")
    around = wait.op or and_more(wait.ranges)
    return printable(f"{wait.call} in {around}" if around else wait.call)


def calls_words(wait: CostlyWait) -> str:
    """How many calls waited with work still to launch, and where not all did, how many emptied a device."""
    emptied = f" ({wait.drains:,} left a device empty)" if 0 < wait.drains < wait.waits else ""
    return f"{wait.waits:,} call{'' if wait.waits == 1 else 's'}{emptied}"


def longest_words(cost: Cost) -> str:
    """Which of them a link shows: of spread gaps a stretch, the longest gap, or the wait that cost most."""
    if cost.stretch is not None:
        length = format_ns(cost.stretch.end_ns - cost.stretch.start_ns)
        where = f", on device {cost.devices[0][0]}" if len(cost.devices) > 1 else ""
        return f"densest stretch ({format_ns(cost.stretch.idle_ns)} in {length}{where})"
    if cost.peers is not None:
        return f"longest wait ({format_ns(cost.longest_ns)})"
    if cost.wait is None:
        return f"longest gap ({format_ns(cost.longest_ns)})"
    if cost.idle_ns:
        return f"costliest wait ({format_ns(cost.longest_ns)} idle)"
    return f"longest wait ({format_ns(cost.wait.longest_ns)})"


def why_empty(wait: CostlyWait) -> str:
    """What the idle time behind waits is made of; empty where there is none."""
    if wait.parts is None or not wait.idle_ns:
        return ""
    returned, refill, launch = map(format_ns, wait.parts)
    return (
        f"{format_ns(wait.idle_ns)} idle = {returned} until the call returned + {refill} while the host "
        f"prepared the next launch + {launch} for that launch to arrive."
    )
