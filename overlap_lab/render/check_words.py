"""A check of a budget in words: one line a rule, and the waits behind a violated one."""

from __future__ import annotations

from collections.abc import Iterator

from overlap_lab.compare.checked import Check, Checked, Culprit, Outcome
from overlap_lab.render.names import printable
from overlap_lab.render.values import format_value
from overlap_lab.units import format_ns

__all__ = ["allowed_words", "check_text", "culprit_words", "found_words", "headline_of"]

_MOST_FRAMES = 6
_MARKS = {
    Outcome.FINE: "ok       ",
    Outcome.VIOLATED: "VIOLATED ",
    Outcome.UNDECIDED: "UNDECIDED",
    Outcome.NO_VALUE: "NO VALUE ",
}


def check_text(check: Check, *, kept: str = "") -> str:
    """Every rule with what was found, the waits behind the violated ones, and what was let pass.

    `kept` says where the trace lies, if it was kept.
    """
    lines = [f"budget {check.outcome.value.upper()}: {headline_of(check)}"]
    told: list[tuple[Culprit, ...]] = []
    for one in check.checked:
        lines.append(f"{_MARKS[one.outcome]} {one.rule}: {found_words(one)}")
        if one.culprits in told:
            lines.append("    (the same waits as above)")
            continue
        told += [one.culprits] if one.culprits else []
        for culprit in one.culprits:
            lines += [f"    {line}" for line in culprit_words(culprit)]
    lines += [f"allowed   {words}" for words in allowed_words(check)]
    if kept:
        lines.append(f"trace     {kept}")
    return "\n".join(map(printable, lines))


def headline_of(check: Check) -> str:
    """How many rules are kept and broken, in one sentence."""
    total = len(check.checked)
    parts = [f"{total - len(check.failed) - len(check.undecided)} of {total} rules kept"]
    if check.failed:
        parts.append(f"{len(check.failed)} broken")
    if check.undecided:
        parts.append(f"{len(check.undecided)} undecided")
    return ", ".join(parts)


def found_words(one: Checked) -> str:
    """What the trace says to a rule."""
    if one.value is None:
        return one.reason
    words = format_value(one.value, one.rule.unit)
    if one.low is not None and one.high is not None:
        low, high = (
            format_value(_rounded(edge, one.rule.unit), one.rule.unit) for edge in (one.low, one.high)
        )
        words = f"median {words} of {one.observations} ({low} to {high})"
    return f"{words}; {one.reason}" if one.reason else words


def _rounded(edge: float, unit: str) -> int | float:
    return round(edge) if unit in ("ns", "count") else edge


def culprit_words(culprit: Culprit) -> Iterator[str]:
    """The call, what it cost and where it stands; then its stack, innermost first."""
    times = "once" if culprit.count == 1 else f"{culprit.count} times"
    yield f"{culprit.call} blocked the host {times} for {format_ns(culprit.blocked_ns)} ({culprit.reason})"
    cost = []
    if culprit.drains:
        which = "the device" if culprit.device is None else f"device {culprit.device}"
        stream = "" if culprit.stream is None else f", stream {culprit.stream}"
        cost.append(f"drained {which}{stream} {culprit.drains} x, {format_ns(culprit.idle_ns)} idle")
    places = [name for name in (culprit.op, culprit.range_name) if name]
    if places:
        cost.append("in " + " in ".join(places))
    if cost:
        yield "  " + "; ".join(cost)
    innermost = culprit.stack[: -_MOST_FRAMES - 1 : -1]
    yield from (f"  at {frame}" for frame in innermost)
    if len(culprit.stack) > len(innermost):
        yield f"  and {len(culprit.stack) - len(innermost)} frames outside of these"


def allowed_words(check: Check) -> Iterator[str]:
    """What each allowance let pass."""
    for allowance, count, blocked_ns in check.allowed:
        yield (
            f"{allowance}: {count} waits, {format_ns(blocked_ns)}"
            if count
            else f"{allowance}: matched no wait"
        )
