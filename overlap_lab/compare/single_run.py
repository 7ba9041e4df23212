"""Comparing two single runs: exact differences, no claim about chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from overlap_lab.compare.comparable import differences_of_setup
from overlap_lab.compare.comparison import Comparison, Difference, Explanation, Sampling, Verdict
from overlap_lab.compare.sites import ELSEWHERE, sites_of_report
from overlap_lab.render.numbers import blocked_split
from overlap_lab.report import Better, Measurement, Report
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["compare_runs", "largest_first", "verdict_of"]

Key = tuple[str, tuple[tuple[str, int], ...]]


def compare_runs(baseline: Report, candidate: Report) -> Comparison:
    """Every measure of the whole trace and of each device, side by side.

    Values per process, thread and stream are left out: their numbers name something else in another run.
    What makes the runs hard to compare becomes a note, never a refusal: with one run a side there is no
    verdict about chance that it could spoil.
    """
    left, right = _measured(baseline), _measured(candidate)
    known = {**left, **right}
    keys = [key for key in known if _is_shown(key, left, right)]
    return Comparison(
        baseline=baseline.source,
        candidate=candidate.source,
        sampling=Sampling.SINGLE_RUN,
        explanations=tuple(_explanations(keys, left, right, _sites(baseline, candidate))),
        differences=tuple(
            _difference(left.get(key, known[key]), left.get(key), right.get(key)) for key in keys
        ),
        notes=(
            *differences_of_setup([baseline.source], [candidate.source]),
            *_final_waits(baseline, candidate),
        ),
        said=(baseline.verdict, candidate.verdict),
    )


def _measured(report: Report) -> dict[Key, Measurement]:
    return {
        (m.tag, tuple(sorted(m.scope.items()))): m
        for m in report.measurements
        if not m.scope or m.scope.keys() == {"device"}
    }


def _is_shown(key: Key, left: Mapping[Key, Measurement], right: Mapping[Key, Measurement]) -> bool:
    """A device's value only where it says more than the value of the whole trace, which both sides have."""
    tag, scope = key
    return not scope or (tag, ()) not in left or (tag, ()) not in right


def _difference(known: Measurement, left: Measurement | None, right: Measurement | None) -> Difference:
    before, after = (side.value if side else None for side in (left, right))
    reason = None
    if before is None or after is None:
        reason = "; ".join(_missing("baseline", left) + _missing("candidate", right))
        difference = ratio = None
    else:
        difference = after - before
        ratio = after / before if before > 0 and after >= 0 else None
    return Difference(
        tag=known.tag,
        scope=known.scope,
        title=known.title,
        unit=known.unit,
        better=known.better,
        baseline=before,
        candidate=after,
        difference=difference,
        ratio=ratio,
        verdict=verdict_of(difference, known.better),
        reason=reason,
    )


def _missing(side: str, measurement: Measurement | None) -> list[str]:
    if measurement is None:
        return [f"{side}: not measured"]
    return [f"{side}: {measurement.reason or 'no value'}"] if measurement.value is None else []


def verdict_of(difference: int | float | None, better: Better) -> Verdict:
    """The verdict that an exact difference has."""
    if difference is None:
        return Verdict.INCOMPARABLE
    if difference == 0:
        return Verdict.SAME
    if better is Better.NEITHER:
        return Verdict.DIFFERENT
    return Verdict.BETTER if (difference < 0) == (better is Better.LOWER) else Verdict.WORSE


def _explanations(
    keys: list[Key],
    left: Mapping[Key, Measurement],
    right: Mapping[Key, Measurement],
    drained: Mapping[str, int],
) -> Iterator[Explanation]:
    lone = sum(tag == "device/window" for tag, _ in keys) == 1
    for tag, scope in keys:
        if tag != "device/window":
            continue
        before, after = _parts(scope, left), _parts(scope, right)
        if before is None or after is None:
            continue
        change = {name: after[name] - before[name] for name in before}
        yield Explanation(
            scope=dict(scope),
            baseline_ns=before["device/window"],
            candidate_ns=after["device/window"],
            window=change["device/window"],
            busy=change["device/busy"],
            idle={cause: change[f"device/idle/{cause}"] for cause in Cause},
            drained=largest_first(drained, change[f"device/idle/{Cause.DRAIN}"]) if lone else {},
        )


def _sites(baseline: Report, candidate: Report) -> dict[str, int]:
    """How much more idle time the waits of each place cost the candidate."""
    before, after = sites_of_report(baseline), sites_of_report(candidate)
    return {name: after.get(name, 0) - before.get(name, 0) for name in dict.fromkeys([*before, *after])}


def largest_first(sites: Mapping[str, int], total: int) -> dict[str, int]:
    """Sites with a change, the largest first, and what they leave of the total as other waits."""
    rest = total - sum(sites.values())
    every = {**sites, ELSEWHERE: sites.get(ELSEWHERE, 0) + rest}
    return {name: ns for name, ns in sorted(every.items(), key=lambda one: (-abs(one[1]), one[0])) if ns}


def _parts(scope: tuple[tuple[str, int], ...], side: Mapping[Key, Measurement]) -> dict[str, int] | None:
    """The terms of `window = busy + idle by cause`; None where one of them is not known."""
    tags = ["device/window", "device/busy", *(f"device/idle/{cause}" for cause in Cause)]
    values = {tag: side[tag, scope].value for tag in tags if (tag, scope) in side}
    known = {tag: int(value) for tag, value in values.items() if value is not None}
    return known if len(known) == len(tags) else None


def _final_waits(baseline: Report, candidate: Report) -> Iterator[str]:
    """Why `host/blocked` and `overlap/ratio_literal` alone would mislead, with the numbers without them."""
    before, after = (blocked_split(report) for report in (baseline, candidate))
    if before is None or after is None or not (before[1] or after[1]):
        return
    yield (
        f"of host/blocked, {format_ns(before[1])} against {format_ns(after[1])} are final waits, which grow "
        f"when the host runs further ahead; without them it is {format_ns(before[0])} against "
        f"{format_ns(after[0])}"
    )
