"""The first screen of the report: of each trace how idle, what costs most, what to try, where time goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from overlap_lab.plots.palette import CAUSE_COLOURS, COLOURS, PEER_WAIT_COLOUR
from overlap_lab.render.cost_words import longest_words, title_of
from overlap_lab.render.costs import Cost, Costs
from overlap_lab.render.headline import headline
from overlap_lab.render.html_costs import spot_of
from overlap_lab.render.html_devices import device_bars, device_facts
from overlap_lab.render.html_parts import element, sentence, stacked_bar, term, text
from overlap_lab.render.lines import Style
from overlap_lab.render.numbers import Numbers, blocked_split
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import format_value, percent
from overlap_lab.report import Report
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["Glance", "glance", "try_first"]

_CARD_CLASS: Final = {Style.GOOD: "good", Style.BAD: "bad", Style.WARNING: "warn"}
_WHOLE: Final = 100.0
"""Percent of the width."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What a card says of one trace."""

    title: str
    report: Report
    costs: Costs
    zero_ns: int
    """What lies at 0 of the page's timeline, after the trace's first record."""


def glance(shown: Sequence[Glance]) -> str:
    """A card for each trace; beside others none is good or bad by itself, which their comparison says."""
    alone = len(shown) == 1
    longest = max(map(_longest_window, shown), default=0)
    pair = len(shown) == 2
    titles = [f"{'AB'[at]}: {one.title}" if pair else one.title for at, one in enumerate(shown)]
    cards = (_card(one, title, longest, alone=alone) for one, title in zip(shown, titles, strict=True))
    return element("div", *cards, class_="cards alone" if alone else "cards")


def _card(shown: Glance, title: str, longest: int, *, alone: bool) -> str:
    said = headline(shown.report, shown.costs)
    first, *more = said.sentences or (shown.report.verdict,)
    led = 1 if said.odd is None else more.index(said.odd.said) + 1
    kind = _CARD_CLASS[said.style] if alone or said.style is Style.WARNING else ""
    words = [element("p", sentence(first), class_="said")]
    words += [element("p", sentence(one)) for one in more[:led]]
    rest = [element("p", sentence(one)) for one in more[led:]]
    return element(
        "section",
        "" if alone else element("h2", sentence(title)),
        element("div", *words, try_first(shown, "Try first"), class_="words"),
        element("div", _bar(shown, longest), class_="numbers"),
        element("div", *rest, class_="words") if rest else "",
        element("div", _facts(shown), class_="numbers facts"),
        class_=f"card {kind}".rstrip(),
        aria_label=shown.title,
    )


def try_first(shown: Glance, words: str) -> str:
    """What to find out about the odd device, then what to do about the costliest thing that a rule knows."""
    said = headline(shown.report, shown.costs)
    parts = []
    if said.odd is not None:
        parts.append(element("p", element("b", f"{words}: "), sentence(said.odd.advice), class_="try"))
    if said.first is not None:
        parts.append(_try(said.first, shown, "Then" if parts else words))
    if said.then is not None:
        parts.append(_try(said.then, shown, "Then"))
    return "".join(parts)


def _try(cost: Cost, shown: Glance, words: str) -> str:
    costs = shown.costs
    if cost.advice is None:
        return ""
    spot = spot_of(cost, shown.zero_ns)
    show = f"Show its {longest_words(cost)} on the timeline"
    link = element("a", sentence(show), href=spot, class_="spot") if spot else ""
    word = "waiting" if cost.peers else "idle"
    each = format_ns(round(cost.device_ns / max(costs.devices, 1)))
    of = " of each device" if costs.devices > 1 else ""
    ns = f"{each} {word}{of}" if cost.device_ns else "blocks the host only"
    which = "" if cost is costs.found[0] else sentence(f" ({title_of(cost)}: {ns})")
    return element(
        "p",
        element("b", f"{words}: "),
        sentence(cost.advice.advice),
        element("span", which, class_="soft"),
        link,
        class_="try",
    )


def _longest_window(shown: Glance) -> int:
    numbers = Numbers(shown.report)
    return max((numbers.count("device/window", scope) for scope in numbers.devices()), default=0)


def _bar(shown: Glance, longest: int) -> str:
    """Where the window goes: busy, then idle by cause, for each device, with a line for each part."""
    costs = shown.costs
    if not longest or not costs.window_ns:
        return ""
    busy = costs.window_ns - costs.idle_ns
    waiting = _waiting_ns(shown)
    parts = [("working" if waiting else "busy", busy - waiting, COLOURS["kernel"])]
    parts += [("waiting in collectives", waiting, PEER_WAIT_COLOUR)] if waiting else []
    causes = sorted(((cause, ns) for cause, ns in costs.by_cause.items() if ns), key=lambda pair: -pair[1])
    if not causes and costs.idle_ns:
        causes = [(Cause.UNKNOWN, costs.idle_ns)]
    parts += [(CAUSE_WORDS[cause], ns, CAUSE_COLOURS[cause]) for cause, ns in causes]
    keys = element("ul", *(_key(*part, costs) for part in parts), class_="shares")
    if costs.devices > 1:
        mean = format_ns(round(costs.window_ns / costs.devices))
        said = sentence(f"A bar is as long as its device's window; on average, of {mean}:")
        return device_bars(shown.report, longest) + element("div", said, class_="total") + keys
    boxes = (
        (
            f"{word}: {format_ns(ns)}, {percent(ns, costs.window_ns)} of the window",
            _WHOLE * ns / longest,
            colour,
        )
        for word, ns, colour in parts
    )
    return stacked_bar(boxes, total=f"{format_ns(costs.window_ns)} window") + keys


def _waiting_ns(shown: Glance) -> int:
    """The busy time in which devices only wait for each other."""
    numbers = Numbers(shown.report)
    return sum(numbers.count("collectives/waited/exposed", scope) for scope in numbers.devices())


def _key(word: str, ns: int, colour: str, costs: Costs) -> str:
    box = (
        f'<svg aria-hidden="true"><rect width="100%" height="100%" rx="3" fill="{text(colour)}"></rect></svg>'
    )
    value = element("b", sentence(percent(ns, costs.window_ns)))
    return element("li", box, term(word), " ", value, " ", sentence(format_ns(round(ns / costs.devices))))


def _facts(shown: Glance) -> str:
    """Numbers with their tag and exact value, for whoever checks them against the JSON."""
    numbers = Numbers(shown.report)
    word = "host blocked, all threads" if shown.costs.devices > 1 else ""
    blocked = (_fact(term("host blocked", word), numbers, "host/blocked"), *_split(shown.report))
    if shown.costs.devices > 1:
        facts = [element("dt", word) + element("dd", text(said)) for word, said in device_facts(shown.report)]
        return element("dl", *facts[:3], *blocked, *facts[3:])
    facts = [
        _fact(term("window"), numbers, "device/window"),
        _fact(term("busy", "device idle"), numbers, "device/idle"),
        _fact(term("drain", "waits after which it ran empty"), numbers, "drain/count"),
        *blocked,
        _fact(term("overlap", "of busy time, the host was free"), numbers, "overlap/ratio"),
    ]
    return element("dl", *facts)


def _fact(word: str, numbers: Numbers, tag: str) -> str:
    measured = numbers.measurement(tag, {})
    if measured is None:
        return ""
    value = measured.value
    shown = format_value(value, measured.unit)
    if measured.unit == "ratio" and value is not None:
        shown = percent(value, 1)
    return element("dt", word) + element("dd", text(shown), data_tag=tag, data_value=str(value))


def _split(report: Report) -> Iterator[str]:
    split = blocked_split(report)
    if split is not None:
        yield element("dt", "– ", term("with work still to launch")) + element(
            "dd", text(format_ns(split[0]))
        )
        yield element("dt", "– ", term("waiting at the end for queued work")) + element(
            "dd", text(format_ns(split[1]))
        )
