"""The message of a failed test. pytest's summary shows the start of its first line: what broke, and where."""

from __future__ import annotations

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.budget import Relation, Rule
from overlap_lab.compare.checked import Check, Checked, Culprit
from overlap_lab.render.check_words import check_text, found_words
from overlap_lab.render.names import printable
from overlap_lab.render.values import format_value

__all__ = ["failure_text"]


def failure_text(check: Check, *, kept: str = "") -> str:
    """The broken rule with the costliest wait behind it, else one without a verdict; then the whole check.

    `kept` says where the trace lies.
    """
    whole = check_text(check, kept=kept)
    telling = check.failed or check.undecided
    if not telling:
        return whole
    first, *others = telling
    words = _broken(first) if check.failed else f"{first.outcome.value.upper()} {_found(first)}"
    if first.culprits:
        words += f": {_place(first.culprits[0])}"
        if first.places > 1:
            words += f", the costliest of {first.places:,} places"
    if others:
        words += f" (and {len(others)} more rule{'' if len(others) == 1 else 's'})"
    return f"{printable(words)}\n{whole}"


def _broken(one: Checked) -> str:
    """The value and what is wrong with it: `drain/count 12 > 0`, where the rule says at most 0."""
    rule = one.rule
    if one.value is None:
        return _found(one)
    value = format_value(one.value, rule.unit)
    if isinstance(rule, BaselineRule):
        before = one.against.value if one.against else None
        _, _, place = str(rule).partition(" ")
        return f"{rule.tag} {value} against {format_value(before, rule.unit)} {place}".rstrip()
    if rule.relation.holds(one.value, rule.limit):  # the median does, and another observation does not
        return _found(one)
    measure, _, limit = str(rule).partition(f" {rule.relation.value} ")
    which = f" {one.statistic}" if one.statistic else ""
    where = f" ({one.where})" if one.where else ""
    return f"{measure}{which} {value}{where} {_opposite(rule, one.value)} {limit}"


def _opposite(rule: Rule, value: float) -> str:
    match rule.relation:
        case Relation.BELOW:
            return ">="
        case Relation.ABOVE:
            return "<="
        case _:
            return ">" if value > rule.limit else "<"


def _found(one: Checked) -> str:
    return f"{one.rule}: {found_words(one)}"


def _place(culprit: Culprit) -> str:
    frame = culprit.frame
    inside = culprit.op or culprit.range_name
    if frame is not None:
        return f"{culprit.call} at {frame.file_name}:{frame.line}"
    return f"{culprit.call} in {inside}" if inside else culprit.call
