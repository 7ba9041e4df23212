"""The first lines of a report for people: how idle, the costliest thing, what waits cost, what to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from overlap_lab.metrics.late import alike
from overlap_lab.render.cost_words import (
    amount_words,
    and_more,
    calls_words,
    kind_of,
    ranges_words,
    title_of,
    wait_name,
    waited_words,
)
from overlap_lab.render.costs import Cost, Costs
from overlap_lab.render.device_words import OddOne, devices_of, odd_one, range_words, several_words
from overlap_lab.render.idle_rules import IdleRule
from overlap_lab.render.lines import Style
from overlap_lab.render.names import printable
from overlap_lab.render.numbers import Numbers, blocked_split, records
from overlap_lab.render.summary import device_name
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import percent
from overlap_lab.report import Report
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["Headline", "cost_words", "headline", "regained_sentences"]

_IDLE_FAULT: Final = 0.05
"""Share of the window, idle or waiting for other devices, from which on a report is red."""
_NAMES: Final = 2
"""So many ops are named; the list of costs says how many there are."""
_FEW: Final = 0.25
"""Waits are "only" so much where they cost less than this part of the costliest thing."""
_ALSO: Final = 0.1
"""What waits may cost besides is told from this part of what they cost at once on,"""
_SEEN: Final = 0.002
"""and from this share of the window on."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What people read first, sentence by sentence; the first says the most."""

    sentences: tuple[str, ...]
    first: Cost | None
    """What to try first: the costliest thing that a rule knows."""
    style: Style
    odd: OddOne | None = None
    """The device that idles more than the others: why it does is the first thing to find out."""
    then: Cost | None = None
    """Of one device what an argument or a line mends as well."""


def headline(report: Report, costs: Costs) -> Headline:
    """The sentences for one report."""
    numbers = Numbers(report)
    missing = any(numbers.count(f"quality/no_{side}_records", {}) for side in ("host", "device"))
    if missing or not costs.window_ns:
        said = [printable(report.verdict), *_idle_sentences(report, numbers, costs)]
        return Headline(tuple(said), None, Style.WARNING)
    odd = odd_one(report) if costs.peers is None else None  # waits hide how late the others are
    said = [
        *_idle_sentences(report, numbers, costs),
        *_cost_sentences(costs),
        *([odd.said] if odd else []),
        *_step_sentences(report, costs),
        *_wait_sentences(report, costs),
    ]
    first = _first(costs)
    is_fault = costs.lost_ns >= _IDLE_FAULT * costs.window_ns
    return Headline(tuple(said), first, Style.BAD if is_fault else Style.GOOD, odd, _then(costs, first))


def _first(costs: Costs) -> Cost | None:
    """The cost with most to gain that a rule knows, the costliest of equal ones; the costliest wait, where
    waits took the lead that it lacks."""
    known = [one for one in costs.found if one.advice is not None and one.advice.is_fault]
    top = max(known, key=lambda one: _gained_ns(one, costs), default=None)
    if top is not None and isinstance(top.advice, IdleRule) and top.advice.follows_waits:
        return next((one for one in known if one.wait is not None), top)
    return top


def _gained_ns(cost: Cost, costs: Costs) -> int:
    """How much device time is gained at most where the cost goes, as far as is known."""
    if cost.peers is None or cost.peers.gain_ns is None:
        return cost.device_ns
    return costs.devices * cost.peers.gain_ns


def _then(costs: Costs, first: Cost | None) -> Cost | None:
    """The costliest thing besides that is easily mended; several devices have enough to read without it."""
    easy = (one for one in costs.found if isinstance(one.advice, IdleRule) and one.advice.is_easy)
    return next((one for one in easy if one is not first), None) if costs.devices == 1 else None


def _step_sentences(report: Report, costs: Costs) -> Iterator[str]:
    """How long a step of one device is and how much of it idle, in the series of steps with most time."""
    series: dict[str, list[tuple[int, int]]] = {}
    for row in records(report.tables.get("steps")) if costs.devices == 1 else ():
        times = int(row["window"] or 0), int(row["idle"] or 0)
        series.setdefault(alike(str(row["step"])), []).append(times)
    steps = max(series.values(), key=lambda one: sum(window for window, _ in one), default=[])
    if len(steps) < 2:
        return
    window, idle = (round(median(times)) for times in zip(*steps, strict=True))
    share = f" ({percent(idle, window)})" if window else ""
    yield f"{len(steps):,} steps, in the median {format_ns(window)} long and {format_ns(idle)} idle{share}."


def _idle_sentences(report: Report, numbers: Numbers, costs: Costs) -> Iterator[str]:
    scopes = numbers.devices()
    if not scopes or not costs.window_ns:
        return
    if len(scopes) == 1:
        name = device_name(report, scopes[0].get("device"))
        if not costs.idle_ns:
            yield f"{name[:1].upper()}{name[1:]} was busy for all of its {format_ns(costs.window_ns)} window."
            return
        share = f"{percent(costs.idle_ns, costs.window_ns)} of its {format_ns(costs.window_ns)} window"
        yield f"{name[:1].upper()}{name[1:]} stood idle for {format_ns(costs.idle_ns)}, {share}."
        return
    if not costs.idle_ns:
        yield f"{several_words(report)} were busy for all of their windows."
        return
    each, window = (format_ns(round(ns / len(scopes))) for ns in (costs.idle_ns, costs.window_ns))
    share = percent(costs.idle_ns, costs.window_ns)
    if costs.peers is not None:
        waited = costs.peers.device_ns
        worked = percent(costs.window_ns - costs.idle_ns - waited, costs.window_ns)
        yield (
            f"{several_words(report)} worked for {worked} of their {window} on average: they stood idle for "
            f"{share} and waited in collectives for {percent(waited, costs.window_ns)}."
        )
        return
    apart = range_words(devices) if (devices := devices_of(report)).shares else share
    told = apart if apart == f"{share} each" else f"{share} ({apart})"
    yield f"{several_words(report)} stood idle for {each} of their {window} on average, {told}."


def _cost_sentences(costs: Costs) -> Iterator[str]:
    """The costliest thing, and waits in collectives; these first where more is gained without them."""
    top = costs.found[0] if costs.found else None
    if top is None or not top.device_ns:
        return
    told = f"Costliest: {cost_words(top, costs)}."
    if costs.peers is None or costs.peers is top:
        yield told
        return
    words = cost_words(costs.peers, costs)
    if _first(costs) is costs.peers:
        yield f"Most to gain: {words}."
        yield told
    else:
        yield told
        yield f"{words[:1].upper()}{words[1:]}."


def cost_words(cost: Cost, costs: Costs) -> str:
    """What a cost is, how much, and of what that is a share."""
    if not cost.idle_ns and cost.wait is not None:
        return f"{_phrase(cost)}: {format_ns(cost.wait.before_the_end_ns)} blocked"
    if cost.peers is not None:
        return f"{title_of(cost)}: {waited_words(cost.peers, costs)}"
    most = cost.devices if costs.peers is None else ()  # of those that wait in collectives some are hidden
    return f"{_phrase(cost)}: {amount_words(cost.idle_ns, costs, most)}"


def _phrase(cost: Cost) -> str:
    """The cost as a part of a sentence."""
    title = title_of(cost)
    if cost.wait is not None:
        where = [place for place in (cost.wait.op, ranges_words(cost.wait.ranges)) if place]
        around = f" in {printable(', '.join(where))}" if where else ""
        count = "a wait" if cost.wait.waits == 1 else f"{cost.wait.waits} waits"
        then = ", after which the device ran empty" if cost.idle_ns else ""
        return f"{count} in {title} ({kind_of(cost)}){around}{then}"
    if cost.cause is not Cause.HOST_LATE or cost.late is None:
        return _stood_idle(cost, title)
    if cost.late.is_long and not cost.names:
        return "the host launched late, and the trace does not name what it did"
    if cost.late.is_long:
        return f"the host launched late while it was in {title}"
    return f"the host launched late{_mostly(cost)} ({cost.gaps:,} {title})"


def _mostly(cost: Cost) -> str:
    """The op that holds most of the time, else the two that hold most and how many others there are."""
    names = [printable(name) for name, _ in cost.names]
    if names and 2 * cost.names[0][1] >= cost.idle_ns:
        return f", most of it in {names[0]}"
    if len(names) > _NAMES:
        return f" in {', '.join(names[:_NAMES])} and others"
    return f" in {and_more(names)}" if names else ""


def _stood_idle(cost: Cost, title: str) -> str:
    if cost.cause is Cause.HOST_FUNCTION:
        where = ranges_words([name for name, _ in cost.names])
        return f"{title}{f' in {printable(where)}' if where else ''}{_lengths(cost)}"
    around = and_more([name for name, _ in cost.names], shown=1)
    return f"{title} ({printable(around)})" if around else title


def _lengths(cost: Cost) -> str:
    """How many gaps there are, the longest of them, and how long the others usually are."""
    if cost.gaps < 2:
        return ""
    words = f"{cost.gaps:,} gaps, the longest {format_ns(cost.longest_ns)}"
    lengths = sorted(ns for start, end in cost.spans.values() for ns in (end - start).tolist())
    if len(lengths) < 3:
        return f" ({words})"
    return f" ({words}, the others about {format_ns(lengths[(len(lengths) - 1) // 2])})"


def _wait_sentences(report: Report, costs: Costs) -> Iterator[str]:
    """What waits cost, unless the costliest is the only one, and which of them blocks longest."""
    waits = [one for one in costs.found if one.wait is not None]
    split = blocked_split(report)
    before = split[0] if split else sum(one.wait.before_the_end_ns for one in waits if one.wait)
    if not waits and costs.waits_ns:
        title = next((one.title for one in costs.found if one.title), "waits")
        yield f"{title[:1].upper()}{title[1:]} cost {amount_words(costs.waits_ns, costs)}."
    elif not waits:
        yield "No call waited for the device with work still to launch."
    elif len(waits) == 1 and waits[0] is costs.found[0] and waits[0].idle_ns:
        same = "That wait" if waits[0].gaps == 1 else "These waits"
        yield f"{same} blocked {_blocked_words(before, waits, costs)} with work still to launch."
    else:
        left = "with work still to launch"
        blocked = f"{_blocked_words(before, waits, costs)} {left}{_longest(before, waits, costs)}"
        if not costs.waits_ns:
            yield f"Waits cost no device time; they blocked {blocked}."
            return
        only = "only " if costs.waits_ns < _FEW * costs.found[0].device_ns else ""
        yield f"Waits cost {only}{amount_words(costs.waits_ns, costs)}, and blocked {blocked}."
    yield from regained_sentences(costs)


def regained_sentences(costs: Costs) -> Iterator[str]:
    """What else waits may cost: idle time before the host has its lead back; nothing where that is little."""
    if costs.regaining_ns < max(_ALSO * costs.waits_ns, _SEEN * costs.window_ns):
        return
    causes = " and ".join(CAUSE_WORDS[cause] for cause in costs.regaining)
    amount = amount_words(costs.regaining_ns, costs)
    who = "the device" if costs.devices == 1 else "devices"
    yield f"While the host regained its lead after waits, {who} idled up to another {amount} ({causes})."


def _longest(before: int, waits: Sequence[Cost], costs: Costs) -> str:
    """The place that blocked the host longest; shorter where the sentence of the costliest is about it."""
    top = max(waits, key=_blocked_ns)
    if top.wait is None or not _blocked_ns(top):
        return ""
    if top is costs.found[0] and top.idle_ns:
        where = f"those {top.wait.waits}" if top.wait.waits > 1 else "that wait"
    else:
        where = f"{wait_name(top.wait)}: {calls_words(top.wait)}"
    if _blocked_ns(top) == before:
        return f", all of it in {where}"
    most = "most of it" if 2 * _blocked_ns(top) >= before else "longest"
    amount = f", {format_ns(_blocked_ns(top))}" if costs.devices < 2 else ""  # beside a mean no sum
    return f", {most} in {where}{amount}"


def _blocked_ns(cost: Cost) -> int:
    return cost.wait.before_the_end_ns if cost.wait is not None else 0


def _blocked_words(ns: int, waits: Sequence[Cost], costs: Costs) -> str:
    """Whom the waits blocked and for how long, of several devices on average."""
    threads = {name for one in waits if one.wait is not None for name, _ in one.wait.threads}
    if costs.devices > 1:
        each = f"{format_ns(round(ns / costs.devices))} per device"
        return f"the host for {each}{f' (on {len(threads)} threads in all)' if len(threads) > 1 else ''}"
    who = "the host" if len(threads) < 2 else f"{len(threads)} host threads"
    return f"{who} for {format_ns(ns)}{' in all' if len(threads) > 1 else ''}"
