"""What people act on: the costliest waits and idle time, and what to do about each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from overlap_lab.metrics.context import Context
from overlap_lab.render.costly_waits import CostlyWait, costliest
from overlap_lab.render.html_parts import element, text
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.rule_book import advice_for_idle, advice_for_wait
from overlap_lab.render.summary import device_name, idle_causes
from overlap_lab.render.values import format_value, percent
from overlap_lab.report import Report
from overlap_lab.schema import CopyKind, Memory
from overlap_lab.units import format_ns

__all__ = ["waits_to_act_on"]

_MOST_WAITS: Final = 10
_MOST_FRAMES: Final = 40
_MOST_IDLE: Final = 24
_SPOT: Final = 8
"""A link shows the wait with so many parts of its length around it."""
_HEADS: Final = (
    ("wait", ""),
    ("times", "number"),
    ("blocked", "number"),
    ("device idle after it", "number"),
    ("what to do", ""),
)


def waits_to_act_on(name: str, report: Report, context: Context | None, *, zero_ns: int, headed: bool) -> str:
    """The costliest waits of one trace as a table with advice, then advice on its other idle time.

    `zero_ns` is what lies at 0 of the page's timeline, after the trace's first record.
    """
    found, places = costliest(report, context, most=_MOST_WAITS)
    heading = element("h3", text(name)) if headed else ""
    if not found:
        return heading + element("p", "No call waited for the device.", class_="soft") + _idle(report)
    head = (element("th", text(word), class_=kind, scope="col") for word, kind in _HEADS)
    rows = (_row(one, zero_ns) for one in found)
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *rows), class_="act")
    told = (
        f"The {len(found)} costliest of {places:,} places that wait"
        if places > len(found)
        else (
            f"All {places:,} places that wait, the costliest first"
            if places > 1
            else "The one place that waits"
        )
    )
    lead = (
        f"{told}. Idle after a wait lasts until new work ran: its return, the host's refill, and the launch."
    )
    return (
        heading
        + element("p", text(lead), class_="soft")
        + element("div", whole, class_="scroll")
        + _idle(report)
    )


def _row(one: CostlyWait, zero_ns: int) -> str:
    numbers = ((one.count, f"{one.count:,}"), *((ns, format_ns(ns)) for ns in (one.blocked_ns, one.idle_ns)))
    cells = (element("td", text(words), class_="number", data_value=str(value)) for value, words in numbers)
    return element("tr", element("td", _what(one, zero_ns)), *cells, element("td", *_advice(one)))


def _what(one: CostlyWait, zero_ns: int) -> str:
    parts = [element("b", text(one.call)), " ", element("span", text(_why(one)), class_="soft")]
    places = [place for place in (one.range, one.op, one.frame) if place]
    if places:
        parts.append(element("div", text("in " + " › ".join(places)), class_="where"))
    length = max(one.end_ns - one.start_ns, 1)
    start, end = one.start_ns - zero_ns - _SPOT * length // 4, one.end_ns - zero_ns + _SPOT * length // 4
    parts.append(element("a", "show the longest on the timeline", href=f"#t={start}:{end}", class_="spot"))
    if one.stack:
        left_out = [f"... {len(one.stack) - _MOST_FRAMES} more"] if len(one.stack) > _MOST_FRAMES else []
        lines = [*left_out, *one.stack[-_MOST_FRAMES:], one.call]
        listed = element("ol", *(element("li", text(line)) for line in lines))
        parts.append(element("details", element("summary", "stack"), listed, class_="stack"))
    return "".join(parts)


def _why(one: CostlyWait) -> str:
    words = [one.reason.replace("_", " ")]
    if one.copy not in (None, CopyKind.UNKNOWN):
        words.append(one.copy.name.replace("_", " ").lower())
    if one.bytes is not None:
        words.append(format_value(one.bytes, "bytes"))
    if one.memory is not Memory.UNKNOWN:
        words.append(one.memory.name.lower())
    if one.final:
        words.append("final" if one.final == one.count else f"{one.final} of them final")
    return f"({', '.join(words)})"


def _advice(one: CostlyWait) -> Sequence[str]:
    rule = advice_for_wait(one)
    if rule is None:
        return [element("span", "No rule of ours knows this wait.", class_="soft")]
    return [element("span", text(rule.advice), class_="" if rule.is_fault else "soft", data_rule=rule.name)]


def _idle(report: Report) -> str:
    """What to do about idle time with other causes than waits."""
    numbers = Numbers(report)
    lines: list[tuple[int, str]] = []
    for device in numbers.devices():
        window = numbers.count("device/window", device)
        causes = dict(idle_causes(numbers, device))
        for rule in advice_for_idle(causes, window):
            ns = causes[rule.cause]
            words = f"{device_name(report, device.get('device'))}, idle: {rule.cause.replace('_', ' ')}, "
            cost = f"{format_ns(ns)}, {percent(ns, window)} of the window. "
            said = element("b", text(words + cost))
            lines.append((ns, element("li", said, text(rule.advice), data_cause=str(rule.cause))))
    longest = sorted(range(len(lines)), key=lambda at: -lines[at][0])[:_MOST_IDLE]
    shown = [lines[at][1] for at in sorted(longest)]
    if len(lines) > len(shown):
        hidden = f"{len(lines) - len(shown):,} more of other devices are shorter; the tables have each."
        shown.append(element("li", text(hidden), class_="soft"))
    return element("ul", *shown, class_="idle-advice") if shown else ""
