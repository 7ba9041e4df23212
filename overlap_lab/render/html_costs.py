"""What people act on: everything that costs device time, the costliest first, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from overlap_lab.metrics.context import Context
from overlap_lab.render.cost_words import (
    kind_of,
    longest_words,
    share_words,
    spread_words,
    title_of,
    where_words,
    why_empty,
)
from overlap_lab.render.costs import Cost, Costs
from overlap_lab.render.html_parts import element, sentence, text
from overlap_lab.render.values import percent
from overlap_lab.schema import Kind
from overlap_lab.units import format_ns

__all__ = ["cost_list", "spot_of"]

_MOST: Final = 10
_MOST_FRAMES: Final = 40
_SPOT: Final = 8
"""A link shows the wait with so many parts of its length around it."""
_HEADS: Final = (("cost", ""), ("device idle", "number"), ("host blocked", "number"), ("what to do", ""))


def cost_list(name: str, costs: Costs, context: Context, *, zero_ns: int, headed: bool) -> str:
    """The costs of one trace with advice: the ten largest, and then the ten costliest waits not among them.

    `zero_ns` is what lies at 0 of the page's timeline, after the trace's first record.
    """
    heading = element("h3", sentence(name)) if headed else ""
    if not costs.found:
        words = "No device stood idle, and no call waited."
        if costs.idle_ns:
            words = "Why the devices stood idle cannot be told: the trace has no host records."
        return heading + element("p", words, class_="soft")
    first, waits = costs.found[:_MOST], _further_waits(costs)
    whole = _table(first, costs, zero_ns)
    if waits:
        words = "The costliest waits that are not above:"
        whole += element("p", sentence(words)) + _table(waits, costs, zero_ns)
    rest = [one for one in costs.found[_MOST:] if one not in waits]
    return heading + whole + "".join(_notes(rest, costs, context))


def _further_waits(costs: Costs) -> list[Cost]:
    """Those of the ten costliest waits that are not among the ten largest costs."""
    waits = [one for one in costs.found if one.wait is not None][:_MOST]
    largest = costs.found[:_MOST]
    return [one for one in waits if one not in largest]


def _table(shown: Sequence[Cost], costs: Costs, zero_ns: int) -> str:
    head = (element("th", text(word), class_=kind, scope="col") for word, kind in _HEADS)
    rows = (_row(one, costs, zero_ns) for one in shown)
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *rows), class_="act")
    return element("div", whole, class_="scroll")


def _row(one: Cost, costs: Costs, zero_ns: int) -> str:
    idle = element("b", sentence(format_ns(one.device_ns)))
    share = element("div", sentence(share_words(one, costs)), class_="soft") if one.device_ns else ""
    blocked = one.wait.before_the_end_ns if one.wait else None
    said = element("span", "no wait", class_="soft") if blocked is None else sentence(format_ns(blocked))
    if blocked and costs.devices == 1 and blocked <= costs.window_ns:
        of = f"{percent(blocked, costs.window_ns)} of the window's length"
        said += element("div", sentence(of), class_="soft")
    return element(
        "tr",
        element("td", *_what(one, costs, zero_ns)),
        element("td", idle, share, class_="number", data_value=str(one.device_ns)),
        element(
            "td",
            said,
            class_="number none" if blocked is None else "number",
            data_value="" if blocked is None else str(blocked),
        ),
        element("td", *_advice(one)),
        data_cause=str(one.cause or "collectives"),
    )


def _what(one: Cost, costs: Costs, zero_ns: int) -> Iterator[str]:
    yield element("b", sentence(title_of(one)))
    kind = kind_of(one)
    if kind != title_of(one):
        yield " " + element("span", sentence(f"({kind})"), class_="soft")
    where = where_words(one)
    if where:
        yield element("div", sentence(f"in {where}"), class_="where")
    spread = spread_words(one, costs)
    if spread:
        yield element("div", sentence(spread), class_="where")
    spot = spot_of(one, zero_ns)
    if spot:
        words = f"show the {longest_words(one)} on the timeline"
        yield element("a", sentence(words), href=spot, class_="spot")
    yield _stack(one)


def spot_of(one: Cost, zero_ns: int) -> str:
    """The address in the page of what `longest_words` names, with the idle time that it costs."""
    if one.stretch is not None:
        return f"#t={one.stretch.start_ns - zero_ns}:{one.stretch.end_ns - zero_ns}"
    if one.spot is None:
        return ""
    start, end = one.spot
    around = _SPOT * max(end - start, 1) // 4
    return f"#t={start - zero_ns - around}:{end - zero_ns + around}"


def _stack(one: Cost) -> str:
    around: Sequence[str] = ()
    if one.wait is not None and one.wait.stack:
        around = (*one.wait.stack, *one.wait.calls)
    elif one.late is not None and one.late.is_long:
        around = one.late.around
    if len(around) < 2:
        return ""
    left_out = [f"... {len(around) - _MOST_FRAMES} more"] if len(around) > _MOST_FRAMES else []
    listed = (element("li", sentence(line)) for line in (*left_out, *around[-_MOST_FRAMES:]))
    word = "what called the costliest wait" if one.wait else "what the host did in the longest gap"
    return element("details", element("summary", word), element("ol", *listed), class_="stack")


def _advice(one: Cost) -> Iterator[str]:
    rule = one.advice
    if rule is not None:
        yield element(
            "div", sentence(rule.advice), class_="" if rule.is_fault else "soft", data_rule=rule.name
        )
    elif one.wait is not None:
        yield element("span", "No rule of ours knows this wait.", class_="soft")
    elif one.title:
        yield element("span", "The waits themselves are not in what is measured here.", class_="soft")
    else:
        yield element("span", "Too little to start with.", class_="soft")
    empty = why_empty(one.wait) if one.wait is not None else ""
    if empty:
        yield element("div", sentence(empty), class_="soft")


def _notes(rest: Sequence[Cost], costs: Costs, context: Context) -> Iterator[str]:
    """What the list leaves out, and how the next trace says more."""
    if rest:
        idle = sum(one.idle_ns for one in rest)
        blocked = sum(one.wait.before_the_end_ns for one in rest if one.wait)
        many = f"{len(rest)} other costs" if len(rest) > 1 else "One other cost"
        words = f"{many}: {format_ns(idle)} idle, {format_ns(blocked)} blocked."
        yield element("p", sentence(words), class_="soft")
    if costs.final_ns:
        words = (
            f"Waiting at the end for queued work: {format_ns(costs.final_ns)} in final waits, with no device "
            "work after them. They cost nothing."
        )
        yield element("p", sentence(words), class_="soft")
    if not bool((context.trace.kind == Kind.PYTHON).any()):
        yield element("p", sentence(_NO_FRAMES), class_="soft")


_NO_FRAMES: Final = (
    "The trace has no Python frames, so no line of your program stands here. Record them with "
    "torch.profiler.profile(with_stack=True), or with overlap-lab capture --stacks."
)
