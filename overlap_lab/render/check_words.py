"""A check of a budget in words: one line a rule, and the waits behind a violated one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.checked import Check, Checked, Culprit, Outcome
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.render.compare_words import attributed, headline_words
from overlap_lab.render.names import printable
from overlap_lab.render.values import format_value
from overlap_lab.units import format_ns

__all__ = [
    "allowed_words",
    "check_text",
    "compared_words",
    "culprit_words",
    "culprits_head",
    "found_words",
    "headline_of",
    "subject_of",
]

_MOST_FRAMES: Final = 6
_MOST_OWN_FRAMES: Final = 20
"""So many of the user's own are enough to lead to the place; a recursion has hundreds."""
_MARKS = {
    Outcome.FINE: "ok       ",
    Outcome.VIOLATED: "VIOLATED ",
    Outcome.UNDECIDED: "UNDECIDED",
    Outcome.NO_VALUE: "NO VALUE ",
    Outcome.INCOMPARABLE: "INCOMPARABLE",
}


def check_text(check: Check, *, kept: str = "") -> str:
    """Every rule with what was found, the waits behind the violated ones, and what was let pass.

    `kept` says where the trace lies, if it was kept.
    """
    lines = [f"{subject_of(check)} {check.outcome.value.upper()}: {headline_of(check)}"]
    told: list[tuple[Culprit, ...]] = []
    for one in check.checked:
        lines.append(f"{_MARKS[one.outcome]} {one.rule}: {found_words(one)}")
        if one.culprits in told:
            lines.append("    (the same waits as above)")
            continue
        told += [one.culprits] if one.culprits else []
        if len(one.culprits) > 1:
            lines.append(f"    {culprits_head(one)}:")
        for culprit in one.culprits:
            lines += [f"    {line}" for line in culprit_words(culprit)]
    lines += [f"compared  {words}" for words in compared_words(check)]
    lines += [f"allowed   {words}" for words in allowed_words(check)]
    if kept:
        lines.append(f"trace     {kept}")
    return "\n".join(map(printable, lines))


def subject_of(check: Check) -> str:
    """What the rules are of."""
    kinds = {isinstance(one.rule, BaselineRule) for one in check.checked}
    if check.compared is None or True not in kinds:
        return "budget"
    return f"{'budget and ' if False in kinds else ''}baseline {check.compared.name}"


def compared_words(check: Check) -> Iterator[str]:
    """Which baseline it was, what the whole run's comparison says, and where a difference comes from."""
    compared = check.compared
    if compared is None:
        return
    commit = f"commit {compared.commit[:9]}" if compared.commit else ""
    about = ", ".join(filter(None, (compared.created[:10], commit, compared.machine)))
    yield f"with {compared.name} ({about})"
    if compared.comparison is None:
        return
    headline = headline_words(compared.comparison)
    if headline:
        yield headline
    yield from (f"  {words}" for words in attributed(compared.comparison))


def headline_of(check: Check) -> str:
    """How many rules are kept and broken, in one sentence."""
    total = len(check.checked)
    parts = [f"{total - len(check.failed) - len(check.undecided)} of {total} rules kept"]
    if check.failed:
        parts.append(f"{len(check.failed)} broken")
    if check.undecided:
        counts = Counter(one.outcome.value for one in check.undecided)
        parts += [f"{count} {word}" for word, count in counts.items()]
    return ", ".join(parts)


def found_words(one: Checked) -> str:
    """What the trace says to a rule."""
    if one.value is None:
        return one.reason
    words = format_value(one.value, one.rule.unit)
    if isinstance(one.rule, BaselineRule):
        return _against_words(one, words)
    if one.rule.unit == "count" and one.statistic:
        words = f"{one.statistic} {words}" + (f" ({one.where})" if one.where else f" of {one.observations}")
    elif one.low is not None and one.high is not None:
        low, high = (
            format_value(_rounded(edge, one.rule.unit), one.rule.unit) for edge in (one.low, one.high)
        )
        words = f"median {words} of {one.observations} ({low} to {high})"
    return f"{words}; {one.reason}" if one.reason else words


def _against_words(one: Checked, value: str) -> str:
    before = one.against.value if one.against else None
    words = f"{value} against {format_value(before, one.rule.unit)}"
    if one.against and max(one.observations, one.against.observations) > 1:
        which = "largest" if one.statistic == "largest" else "medians"
        words += f" ({which} of {one.observations} and {one.against.observations})"
    return f"{words}; {one.reason}" if one.reason else words


def _rounded(edge: float, unit: str) -> int | float:
    return round(edge) if unit in ("ns", "count") else edge


def culprits_head(one: Checked) -> str:
    """How many places the list below it shows, and how many there are in all.

    >>> from overlap_lab.compare.budget import parse_rule
    >>> waits = tuple(Culprit("hipMemcpy", "sync_copy", 1, 9, 5, 1, 0, 0, None, op) for op in "abcde")
    >>> rule = parse_rule("drain/count = 0")
    >>> culprits_head(Checked(rule, Outcome.VIOLATED, 23, 1, culprits=waits, places=9, drains=23))
    'the 5 costliest of 9 places that wait, with 5 of their 23 drains'
    """
    shown, drains = len(one.culprits), sum(culprit.drains for culprit in one.culprits)
    if one.places <= shown:
        return f"all {shown} places that wait, the costliest first"
    some = f", with {drains:,} of their {one.drains:,} drains" if one.drains else ""
    return f"the {shown} costliest of {one.places:,} places that wait{some}"


def culprit_words(culprit: Culprit) -> Iterator[str]:
    """The call, what it cost and where it stands; then its stack, innermost first."""
    times = "once" if culprit.count == 1 else f"{culprit.count} times"
    yield f"{culprit.call} blocked the host {times} for {format_ns(culprit.blocked_ns)} ({culprit.reason})"
    cost = []
    if culprit.drains:
        which = "the device" if culprit.device is None else f"device {culprit.device}"
        stream = "" if culprit.stream is None else f", stream {culprit.stream}"
        idle = f"{format_ns(culprit.idle_ns)} idle{_parts_words(culprit)}"
        cost.append(f"drained {which}{stream} {culprit.drains} x, {idle}")
    places = [name for name in (culprit.op, culprit.range_name) if name]
    if places:
        cost.append("in " + " in ".join(places))
    if cost:
        yield "  " + "; ".join(cost)
    yield from (f"  {words}" for words in _stack_words(culprit.stack[::-1]))


def _parts_words(culprit: Culprit) -> str:
    """What of the idle time is the wait's own, and what the host's work after it."""
    if not sum(culprit.parts_ns):
        return ""
    returned, refill, launch = map(format_ns, culprit.parts_ns)
    return f" (return {returned}, refill by the host {refill}, launch {launch})"


def _stack_words(frames: Sequence[str]) -> Iterator[str]:
    """The innermost frames and, however far out, those of the user's own files; how many lie between them."""
    own = [at for at, name in enumerate(frames) if (frame := frame_in(name)) and frame.is_own]
    shown = sorted({*range(min(_MOST_FRAMES, len(frames))), *own[:_MOST_OWN_FRAMES]})
    for at, following in zip(shown, [*shown, len(frames)][1:], strict=True):
        yield f"at {frames[at]}"
        left_out = following - at - 1
        if left_out:
            yield f"... {left_out} frame{'' if left_out == 1 else 's'} left out"


def allowed_words(check: Check) -> Iterator[str]:
    """What each allowance let pass: waits, and synchronizes that came late."""
    for one in check.allowed:
        if not one.waits and not one.late:
            yield f"{one.allowance}: 0 waits, 0 late synchronizes; it matched nothing"
            continue
        yield f"{one.allowance}: {_counted(one.waits, 'wait')}, {format_ns(one.blocked_ns)}; " + _counted(
            one.late, "late synchronize"
        )


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
