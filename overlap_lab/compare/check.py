"""A trace held against a budget: which rules it keeps, which it breaks, and which waits are why."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Final

import numpy as np
import numpy.typing as npt

from overlap_lab.analyze import measurements_of, report_and_context
from overlap_lab.compare.budget import Allowance, Budget, Per, Rule
from overlap_lab.compare.checked import Check, Checked, Outcome
from overlap_lab.compare.culprits import culprits_of, waits_inside
from overlap_lab.compare.samples import windows_of
from overlap_lab.errors import UsageError
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.places import around_waits
from overlap_lab.metrics.steps import range_windows, step_windows
from overlap_lab.report import Measurement
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = ["FEWEST", "check", "judged"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_Key = tuple[str, tuple[tuple[str, int], ...]]
"""Tag and sorted scope."""

FEWEST: Final = 5
"""So many observations on the wrong side of a limit are needed before several of them violate a rule."""
_ABOUT_WAITS: Final = ("host/", "drain/", "overlap/", "stream/drain", "device/idle", "run_ahead")


def check(traces: Trace | Sequence[Trace], budget: Budget, *, fewest: int = 1) -> Check:
    """Hold one trace, or several of the same work, against every rule of a budget.

    Counts decide exactly, each trace for itself. A time or a ratio with one observation decides exactly as
    well, unless `fewest` asks for more; several decide by the interval of their median, and UNDECIDED is an
    answer. Raises UsageError for no trace.
    """
    several = [traces] if isinstance(traces, Trace) else list(traces)
    if not several:
        raise UsageError("check: there is no trace to hold against the budget")
    runs = [_prepared(trace, budget.allowed) for trace in several]
    checked = tuple(_checked(rule, runs, fewest) for rule in budget.rules)
    allowed = tuple(
        (one, sum(run.passed[at][0] for run in runs), sum(run.passed[at][1] for run in runs))
        for at, one in enumerate(budget.allowed)
    )
    return Check(runs[0].source, checked, allowed, budget.source)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """One trace, without the waits that are allowed."""

    source: Mapping[str, object]
    context: Context
    values: Mapping[_Key, Measurement]
    passed: tuple[tuple[int, int], ...]
    """For each allowance how many waits it let pass, and for how many ns they blocked."""


def _prepared(trace: Trace, allowances: Sequence[Allowance]) -> _Run:
    report, context = report_and_context(trace)
    keep, passed = _not_allowed(context, allowances)
    measured: Iterable[Measurement] = report.measurements
    if not keep.all():
        context = context.with_waits(keep)
        faults = [one for one in report.measurements if one.tag.startswith("quality/")]
        measured = (*measurements_of(context), *faults)
    values: dict[_Key, Measurement] = {(m.tag, tuple(sorted(m.scope.items()))): m for m in measured}
    return _Run(report.source, context, values, passed)


def _not_allowed(
    context: Context, allowances: Sequence[Allowance]
) -> tuple[Mask, tuple[tuple[int, int], ...]]:
    """Which waits count, and what each allowance let pass: how many, and for how long they blocked."""
    waits = context.waits
    keep = np.ones(waits.row.size, np.bool_)
    if not allowances or keep.size == 0:
        return keep, tuple((0, 0) for _ in allowances)
    calls = [context.trace.name_of(row) for row in waits.row.tolist()]
    named: list[list[str] | list[str | None]] = [
        calls,
        around_waits(context, Kind.CPU_OP),
        around_waits(context, Kind.PYTHON),
    ]
    ranges = around_waits(context, Kind.RANGE)
    passed = []
    for one in allowances:
        hit = np.array([_allows(one, [names[at] for names in named], ranges[at]) for at in range(keep.size)])
        hit &= keep
        keep &= ~hit
        passed.append((int(hit.sum()), int((waits.end[hit] - waits.counted_from[hit]).sum())))
    return keep, tuple(passed)


def _allows(allowance: Allowance, names: Sequence[str | None], range_name: str | None) -> bool:
    if allowance.range_name is not None and not fnmatch.fnmatchcase(range_name or "", allowance.range_name):
        return False
    return any(name is not None and fnmatch.fnmatchcase(name, allowance.call) for name in names)


def _checked(rule: Rule, runs: Sequence[_Run], fewest: int) -> Checked:
    """The rule held against what all the runs observed together."""
    try:
        observed = [_observed(rule, run) for run in runs]
    except _NoValue as why:
        return Checked(rule, Outcome.NO_VALUE, None, 0, reason=str(why))
    every = np.concatenate(observed)
    if every.size == 0:
        return Checked(rule, Outcome.FINE, 0, 0, reason="no call waited before the end")
    result = judged(rule, every, fewest=fewest)
    if result.outcome is not Outcome.VIOLATED:
        return result
    shaky = _shaky(rule, runs)
    if shaky is not None:
        return replace(result, outcome=Outcome.UNDECIDED, low=shaky[0], high=shaky[1], reason=_CLOCKS)
    if not rule.tag.startswith(_ABOUT_WAITS):
        return result
    worst = max(range(len(runs)), key=lambda at: _distance(rule, observed[at]))
    context = runs[worst].context
    windows = _windows(rule, context) if rule.per in (Per.STEP, Per.RANGE) else None
    return replace(result, culprits=culprits_of(context, waits_inside(context, windows)))


class _NoValue(Exception):
    """The measure has no value in a trace."""


_CLOCKS: Final = "the clocks are inverted, and the value depends on how far"


def _observed(rule: Rule, run: _Run) -> Floats:
    """What one run observed of the rule's measure. Raises _NoValue."""
    if rule.per is Per.WAIT:
        wait, waits = waits_inside(run.context, None), run.context.waits
        return np.asarray(waits.end[wait] - waits.counted_from[wait], np.float64)
    if rule.per is Per.TRACE:
        found = _measured(rule, run)
        if found.value is None:
            raise _NoValue(found.reason or "no value")
        return np.array([found.value], np.float64)
    windows = _windows(rule, run.context)
    if not windows:
        what = "no steps" if rule.per is Per.STEP else f"no range called {rule.range_name!r}"
        raise _NoValue(f"the trace has {what}")
    place = () if rule.device is None or len(run.context.devices) == 1 else (("device", rule.device),)
    values = windows_of(run.context, windows).values
    if (rule.tag, place) not in values:
        raise _NoValue(_absent(rule, run.context))
    known = values[rule.tag, place]
    known = known[np.isfinite(known)]
    if known.size == 0:
        raise _NoValue(f"{rule.tag} has no value in any of the {len(windows)} windows")
    return known


def _measured(rule: Rule, run: _Run) -> Measurement:
    """The measurement of the whole trace that the rule is about. Raises _NoValue."""
    scope: dict[str, int] = {} if rule.device is None else {"device": rule.device}
    if rule.thread is not None:
        scopes = [dict(scope) for tag, scope in run.values if tag == rule.tag]
        process = [one["process"] for one in scopes if one.get("thread") == rule.thread]
        if len(process) != 1:
            raise _NoValue(f"{'more than one' if process else 'no'} process has a thread {rule.thread}")
        scope |= {"process": process[0], "thread": rule.thread}
    found = run.values.get((rule.tag, tuple(sorted(scope.items()))))
    if found is None:
        raise _NoValue(_absent(rule, run.context))
    return found


def _shaky(rule: Rule, runs: Sequence[_Run]) -> tuple[float, float] | None:
    """The bounds of a value that inverted clocks leave open, where they lie on both sides of the limit."""
    if rule.per is not Per.TRACE:
        return None
    found = [_measured(rule, run) for run in runs]
    lows = [one.low for one in found if one.low is not None]
    highs = [one.high for one in found if one.high is not None]
    if not lows or not highs:
        return None
    edges = min(lows), max(highs)
    return edges if any(rule.relation.holds(edge, rule.limit) for edge in edges) else None


def _distance(rule: Rule, observed: Floats) -> float:
    broken = [abs(v - rule.limit) for v in observed.tolist() if not rule.relation.holds(v, rule.limit)]
    return max(broken, default=-1.0)


def _windows(rule: Rule, context: Context) -> list[Window]:
    if rule.per is Per.STEP:
        return [window for _, window in step_windows(context)]
    return range_windows(context, lambda name: fnmatch.fnmatchcase(name, rule.range_name or ""))


def _absent(rule: Rule, context: Context) -> str:
    if not context.devices:
        return "the trace has no device records"
    if rule.device is not None and rule.device not in context.devices:
        return f"the trace has no device {rule.device}; it has {', '.join(map(str, context.devices))}"
    devices = ", ".join(map(str, context.devices))
    return f"name one of the devices {devices}, as in: {rule.tag} ... on device {next(iter(context.devices))}"


def judged(rule: Rule, observed: Floats, *, fewest: int = 1) -> Checked:
    """A rule and its observations: every count must hold, a time or ratio by the interval of its median."""
    size = observed.size
    if rule.unit == "count":
        broken = [value for value in observed.tolist() if not rule.relation.holds(value, rule.limit)]
        worst = max(broken, key=lambda value: abs(value - rule.limit), default=float(np.median(observed)))
        outcome = Outcome.VIOLATED if broken else Outcome.FINE
        reason = f"in {len(broken)} of {size} {rule.per}s" if broken and size > 1 else ""
        return Checked(rule, outcome, _as_unit(worst, rule.unit), size, reason=reason)
    median = _as_unit(float(np.median(observed)), rule.unit)
    low, high = _interval(observed)
    holds = [rule.relation.holds(edge, rule.limit) for edge in (low, high)]
    result = Checked(rule, Outcome.VIOLATED, median, size)
    if size > 1:
        result = replace(result, low=low, high=high)
    if all(holds):
        return replace(result, outcome=Outcome.FINE)
    if any(holds):
        why = f"{size} observations lie on both sides of the limit, within the noise"
        return replace(result, outcome=Outcome.UNDECIDED, reason=why)
    if size < fewest:
        plural = "" if size == 1 else "s"
        why = f"{size} observation{plural}, {fewest} are needed before a time can fail"
        return replace(result, outcome=Outcome.UNDECIDED, reason=why)
    return result


def _as_unit(value: float, unit: str) -> int | float:
    return round(value) if unit in ("ns", "count") else value


def _interval(observed: Floats) -> tuple[float, float]:
    """95 % interval of the median by order statistics, and as wide as the medians of four successive parts
    lie apart, since neighbours resemble each other; of fewer than six the whole range."""
    ordered = np.sort(observed)
    size = ordered.size
    skipped = _skipped(size)
    low, high = float(ordered[skipped]), float(ordered[size - 1 - skipped])
    if size >= 8:
        parts = [float(np.median(part)) for part in np.array_split(observed, 4)]
        low, high = min(low, *parts), max(high, *parts)
    return low, high


def _skipped(size: int) -> int:
    """How many of the smallest values lie below the interval: each tail of the binomial holds <= 2.5 %."""
    tail, skipped = 0, 0
    for below in range(size // 2):
        tail += comb(size, below)
        if tail > 0.025 * 2**size:
            break
        skipped = below
    return skipped
