"""The first screen where traces are compared: which is better, for what, and what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from overlap_lab.compare import Comparison, Explanation, Verdict
from overlap_lab.render.compare_text import rests_on
from overlap_lab.render.compare_words import headline_words, signed_ns
from overlap_lab.render.costs import Costs
from overlap_lab.render.headline import cost_words
from overlap_lab.render.html_glance import Glance, try_first
from overlap_lab.render.html_parts import element, sentence, term, text
from overlap_lab.render.numbers import blocked_split
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import percent
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["change_cards"]

_NOTABLE: Final = 0.01
"""Of one run each a difference below 1 % of the window is no verdict."""
_SHOWN: Final = {"with work still to launch": "blocked with work still to launch"}
_OF_THE_HOST: Final = ("with work still to launch", "waiting at the end for queued work")
_SMALL_PART: Final = 0.001
"""Parts of a difference below this share of the window are not named."""


def change_cards(comparisons: Sequence[tuple[str, Comparison]], sides: Sequence[Glance]) -> str:
    """A card for each comparison; with two traces also their numbers and the difference."""
    only = len(comparisons) == 1 and len(sides) == 2
    cards = (_card(heading, one, sides if only else ()) for heading, one in comparisons)
    return element("div", *cards, class_="cards pair" if only else "cards changes") if comparisons else ""


def _card(heading: str, comparison: Comparison, sides: Sequence[Glance]) -> str:
    blocked = _blocked(sides)
    said = chain(_sentences(comparison), _of_the_host(sides, blocked), _left(sides))
    words = [element("p", sentence(one), class_="" if at else "said") for at, one in enumerate(said)]
    rests = element("p", sentence(rests_on(comparison)), class_="soft")
    then = try_first(sides[1], "Try next, in B") if sides else ""
    told = element("div", *words, rests, then, class_="words")
    numbers = element("div", _table(sides, blocked), class_="numbers") if sides else ""
    title = element("h2", "B against A" if sides else sentence(heading))
    kind = f"card {_judgement(comparison)}".rstrip()
    return element("section", title, _legend(sides), told, numbers, class_=kind)


def _legend(sides: Sequence[Glance]) -> str:
    """Which trace is A and which is B."""
    named = zip("AB", sides, strict=False)
    names = (element("div", element("b", side), sentence(f" {one.title}")) for side, one in named)
    return element("div", *names, class_="sides") if sides else ""


def _judgement(comparison: Comparison) -> str:
    """Good for a faster candidate, bad for a slower one; nothing where that is not sure."""
    if comparison.headline is not None:
        return {Verdict.BETTER: "good", Verdict.WORSE: "bad"}.get(comparison.headline.verdict, "")
    if _doubt(comparison):
        return ""
    changes = [_change(one) for one in comparison.explanations]
    if changes and all(change <= -_NOTABLE for change in changes):
        return "good"
    return "bad" if any(change >= _NOTABLE for change in changes) else ""


def _doubt(comparison: Comparison) -> str:
    """Why the two runs do not say which is faster; empty where nothing speaks against them."""
    noted = (note for note in comparison.notes if note.startswith(Verdict.UNDECIDED.upper()))
    windows = (one for one in comparison.differences if one.tag == "device/window" and one.baseline)
    unlike = (
        f"{Verdict.INCOMPARABLE.upper()}: {one.reason}"
        for one in windows
        if one.verdict is Verdict.INCOMPARABLE
    )
    return next(chain(noted, unlike), "")


def _change(explanation: Explanation) -> float:
    return explanation.window / explanation.baseline_ns if explanation.baseline_ns else 0.0


def _sentences(comparison: Comparison) -> Iterator[str]:
    if comparison.headline is not None:
        yield headline_words(comparison)
    elif _doubt(comparison):
        yield f"{_doubt(comparison)}."
    changes = comparison.explanations
    several = len(changes) > 1
    for one in [_mean(changes)] if several else changes:
        if comparison.headline is None:
            windows = f"window {format_ns(one.baseline_ns)} → {format_ns(one.candidate_ns)}"
            where = f", each of {len(changes)} devices on average" if several else ""
            yield f"{_speed(one)}: {windows}{where}."
        gains, losses = _parts(one, -1), _parts(one, 1)
        if gains or losses:
            yield f"Gained: {gains or 'nothing'}. Lost: {losses or 'nothing'}."
    if several:
        yield from _most_changed(changes)
    if not comparison.explanations and comparison.headline is None:
        yield "No device was measured on both sides."


def _mean(changes: Sequence[Explanation]) -> Explanation:
    """What changed for each of several devices on average."""
    count = len(changes)
    before, after, window, busy = (
        round(sum(getattr(one, name) for one in changes) / count)
        for name in ("baseline_ns", "candidate_ns", "window", "busy")
    )
    idle = {cause: round(sum(one.idle.get(cause, 0) for one in changes) / count) for cause in Cause}
    return Explanation({}, before, after, window, busy, idle)


def _most_changed(changes: Sequence[Explanation]) -> Iterator[str]:
    """The device whose idle time changed most, where its change is worth naming."""
    most = max(changes, key=lambda one: abs(sum(one.idle.values())))
    change = sum(most.idle.values())
    if abs(change) > _SMALL_PART * most.baseline_ns:
        where = ", ".join(f"{key} {number}" for key, number in most.scope.items())
        yield f"Most on {where}: idle {signed_ns(change)}."


def _speed(explanation: Explanation) -> str:
    change = _change(explanation)
    if abs(change) < _NOTABLE:
        return f"About as fast ({_signed_percent(explanation.window, explanation.baseline_ns)})"
    return f"{percent(abs(change), 1)} {'slower' if change > 0 else 'faster'}"


def _parts(explanation: Explanation, sign: int) -> str:
    """The parts of the window's difference that go one way, the largest first."""
    least = _SMALL_PART * explanation.baseline_ns
    parts: list[tuple[str, int]] = [("busy", explanation.busy)]
    parts += [(CAUSE_WORDS[cause], ns) for cause, ns in explanation.idle.items()]
    mine = sorted((part for part in parts if sign * part[1] > least), key=lambda part: -abs(part[1]))
    return ", ".join(f"{words} {signed_ns(ns)}" for words, ns in mine)


@dataclass(frozen=True, slots=True)
class _Blocked:
    """Host time blocked, in A and in B."""

    before: tuple[int, int]
    """With work still to launch."""
    final: tuple[int, int]
    """At the end, for what is queued."""


def _blocked(sides: Sequence[Glance]) -> _Blocked | None:
    """How long the host was blocked; None where that is not known of both."""
    splits = [split for one in sides if (split := blocked_split(one.report)) is not None]
    if len(splits) != 2:
        return None
    return _Blocked((splits[0][0], splits[1][0]), (splits[0][1], splits[1][1]))


def _of_the_host(sides: Sequence[Glance], blocked: _Blocked | None) -> Iterator[str]:
    """What the host gained or lost, where it is worth naming: the devices' time does not show it."""
    if blocked is None or not _matters(blocked.before, sides):
        return
    before, after = blocked.before
    windows = f"{format_ns(before)} → {format_ns(after)}"
    side = "B leaves the host free for longer" if after < before else "B blocks the host for longer"
    yield f"{side}: blocked with work still to launch {windows} ({signed_ns(after - before)})."
    first, then = blocked.final
    if after < before and then > first and _matters(blocked.final, sides):
        yield (
            f"It waits at the end for what is queued, {format_ns(first)} → {format_ns(then)}: a gain only "
            "where the host has other work for that time."
        )


def _left(sides: Sequence[Glance]) -> Iterator[str]:
    """The costliest thing that is left in B."""
    costs = sides[1].costs if len(sides) == 2 else None
    if costs is not None and costs.found and costs.found[0].device_ns:
        yield f"Costliest in B: {cost_words(costs.found[0], costs)}."


def _matters(values: tuple[int, int], sides: Sequence[Glance]) -> bool:
    return abs(values[1] - values[0]) > _SMALL_PART * _each(sides[0].costs, sides[0].costs.window_ns)


def _table(sides: Sequence[Glance], blocked: _Blocked | None) -> str:
    """Both traces, of several devices what each has on average, and the difference; bold where it matters."""
    several = any(one.costs.devices > 1 for one in sides)
    window = _each(sides[0].costs, sides[0].costs.window_ns)
    words = [element("th", sentence(word), class_="number") for word in ("A", "B")]
    share = element("span", sentence("of A's window"), class_="soft")
    words.append(element("th", sentence("B − A"), " ", share, class_="number"))
    head = (element("th", term("each device", "each device, on average") if several else ""), *words)
    rows = (
        element(
            "tr",
            element("td", term(word, _SHOWN.get(word, ""))),
            *_cells(word, values, window),
            class_=_way(word, values) if _matters(values, sides) else "",
        )
        for word, values in _rows(sides, blocked)
        if any(values)
    )
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *rows))
    return element("div", whole, class_="scroll")


def _rows(sides: Sequence[Glance], blocked: _Blocked | None) -> Iterator[tuple[str, tuple[int, int]]]:
    a, b = (one.costs for one in sides)
    yield "window", (_each(a, a.window_ns), _each(b, b.window_ns))
    yield "busy", (_each(a, a.window_ns - a.idle_ns), _each(b, b.window_ns - b.idle_ns))
    for cause in _largest_change(a.by_cause, b.by_cause):
        yield CAUSE_WORDS[cause], (_each(a, a.by_cause.get(cause, 0)), _each(b, b.by_cause.get(cause, 0)))
    if blocked is not None:
        yield "with work still to launch", blocked.before
        yield "waiting at the end for queued work", blocked.final


def _each(costs: Costs, ns: int) -> int:
    """What each of its devices has on average."""
    return round(ns / max(costs.devices, 1))


def _largest_change(a: Mapping[Cause, int], b: Mapping[Cause, int]) -> list[Cause]:
    return sorted(Cause, key=lambda cause: -abs(b.get(cause, 0) - a.get(cause, 0)))


def _cells(word: str, values: tuple[int, int], window_ns: int) -> Iterator[str]:
    """Both values, their difference, and what share of A's window that is; time of the host is none of it."""
    a, b = values
    for value in values:
        yield element("td", text(format_ns(value)), class_="number", data_value=str(value))
    share = "host time" if word in _OF_THE_HOST else _signed_percent(b - a, window_ns)
    said = element("span", sentence(share), class_="soft")
    yield element("td", sentence(signed_ns(b - a)), " ", said, class_="number", data_value=str(b - a))


def _signed_percent(part: int, whole: int) -> str:
    """A change as a share of the whole, with its sign.

    >>> _signed_percent(-5, 1000), _signed_percent(20, 1000), _signed_percent(-1, 10000)
    ('-0.5 %', '+2.0 %', '0.0 %')
    """
    said = percent(abs(part), whole)
    sign = "" if said == percent(0, whole) else "+" if part > 0 else "-"
    return f"{sign}{said}"


def _way(word: str, values: tuple[int, int]) -> str:
    """Less is better, but for busy time, which is the work itself, and the wait that a run ends with."""
    if word in ("busy", "waiting at the end for queued work"):
        return ""
    return "gain" if values[1] < values[0] else "loss"
