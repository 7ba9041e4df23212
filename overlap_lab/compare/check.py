"""A trace held against a budget: which rules it keeps, which it breaks, and which waits are why."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from overlap_lab.compare.budget import Budget, Per, Rule
from overlap_lab.compare.certain import chance_words, that_drained, unsure_waits
from overlap_lab.compare.checked import Check, Checked, Outcome, Passed
from overlap_lab.compare.culprits import waits_inside, with_culprits
from overlap_lab.compare.judgment import judged
from overlap_lab.compare.late import late_inside, late_words
from overlap_lab.compare.measured_run import MeasuredRun, measured_run, with_waits
from overlap_lab.compare.reasons import listed
from overlap_lab.compare.samples import windows_of
from overlap_lab.errors import UsageError
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.steps import range_windows, step_windows
from overlap_lab.report import Measurement
from overlap_lab.trace import Trace

__all__ = ["ABOUT_DRAINS", "ABOUT_WAITS", "check"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ABOUT_WAITS: Final = ("host/", "drain/", "overlap/", "stream/drain", "device/idle", "run_ahead")
"""Measures that waits decide: where one is too bad, waits are named."""
_DRAINS: Final = "drain/count"
ABOUT_DRAINS: Final = ("drain/", "stream/drain", "device/idle")


def check(traces: Trace | Sequence[Trace], budget: Budget, *, fewest: int = 1) -> Check:
    """Hold one trace, or several of the same work, against every rule of a budget.

    Counts decide exactly, each trace for itself. A time or a ratio with one observation decides exactly as
    well, unless `fewest` asks for more; several decide by the interval of their median, and UNDECIDED is an
    answer. It is the answer too where only such waits decide as may come from a busy machine. Raises
    UsageError for no trace.
    """
    several = [traces] if isinstance(traces, Trace) else list(traces)
    if not several:
        raise UsageError("check: there is no trace to hold against the budget")
    runs = [measured_run(trace, budget.allowed) for trace in several]
    checked = tuple(_checked(rule, runs, fewest) for rule in budget.rules)
    every = ([run.passed[at] for run in runs] for at in range(len(budget.allowed)))
    allowed = tuple(map(_together, every))
    return Check(runs[0].report.source, checked, allowed, budget.source)


def _together(passed: Sequence[Passed]) -> Passed:
    """What an allowance let pass in all the runs."""
    sums = (sum(getattr(one, name) for one in passed) for name in ("waits", "blocked_ns", "late"))
    return Passed(passed[0].allowance, *sums)


def _checked(rule: Rule, runs: Sequence[MeasuredRun], fewest: int) -> Checked:
    """The rule held against what all the runs observed together, and against what of it is certain."""
    result = _held(rule, runs, fewest)
    if not rule.tag.startswith(ABOUT_WAITS) or result.outcome not in (Outcome.VIOLATED, Outcome.FINE):
        return result
    doubted = [_without_chance(rule, run) for run in runs]
    if any(unsure.size for unsure, _ in doubted):
        certain = _held(rule, [run for _, run in doubted], fewest)
        if certain.outcome not in (result.outcome, Outcome.NO_VALUE):
            return _left_to_chance(
                rule, result, [(run, unsure) for run, (unsure, _) in zip(runs, doubted, strict=True)]
            )
    if result.outcome is not Outcome.VIOLATED:
        return _unless_late(rule, result, runs) if rule.tag == _DRAINS else result
    return _with_culprits(rule, result, runs)


def _unless_late(rule: Rule, result: Checked, runs: Sequence[MeasuredRun]) -> Checked:
    """UNDECIDED where a count of drains holds only because the host came late to its synchronizes."""
    late = [run.late() for run in runs]
    if not any(rows.size for rows in late):
        return result
    counts = []
    for run, rows in zip(runs, late, strict=True):
        windows = _windows_asked(rule, run.context)
        more = rows.size if windows is None else late_inside(run.context, rows, windows)
        counts.append(_observed(rule, run) + more)
    if judged(rule, np.concatenate(counts)).outcome is Outcome.FINE:
        return result
    run, rows = max(zip(runs, late, strict=True), key=lambda each: each[1].size)
    reason = f"a busy machine may be all that keeps it: {late_words(run.context, rows)}"
    return replace(result, outcome=Outcome.UNDECIDED, reason=reason)


def _held(rule: Rule, runs: Sequence[MeasuredRun], fewest: int) -> Checked:
    """The rule and what these runs say to it together."""
    try:
        every = np.concatenate([_observed(rule, run) for run in runs])
    except _NoValue as why:
        return Checked(rule, Outcome.NO_VALUE, None, 0, reason=str(why))
    if every.size == 0:
        return Checked(rule, Outcome.FINE, 0, 0, reason="no call waited before the end")
    result = judged(rule, every, fewest=fewest)
    if result.statistic == "worst":
        result = replace(result, where=_place_of(rule, runs, every, float(result.value or 0)))
    shaky = _shaky(rule, runs) if result.outcome is Outcome.VIOLATED else None
    if shaky is not None:
        return replace(result, outcome=Outcome.UNDECIDED, low=shaky[0], high=shaky[1], reason=_CLOCKS)
    return result


def _without_chance(rule: Rule, run: MeasuredRun) -> tuple[Ints, MeasuredRun]:
    """The waits of a run that may be chance, and the run without them."""
    drained = rule.tag.startswith(ABOUT_DRAINS)
    if drained not in run.certain:
        unsure = unsure_waits(run.context, drained=drained)
        keep = np.ones(run.context.waits.row.size, np.bool_)
        keep[unsure] = False
        run.certain[drained] = unsure, with_waits(run.report, run.context, keep)
    return run.certain[drained]


def _left_to_chance(rule: Rule, result: Checked, doubted: Sequence[tuple[MeasuredRun, Ints]]) -> Checked:
    """UNDECIDED: what is certain says something else than what may be chance."""
    does = "breaks" if result.outcome is Outcome.VIOLATED else "keeps"
    context, unsure = max(
        ((run.context, _asked_of(rule, run.context, unsure)) for run, unsure in doubted),
        key=lambda each: each[1].size,
    )
    reason = f"a busy machine may be all that {does} it: {chance_words(context, unsure)}"
    undecided = replace(result, outcome=Outcome.UNDECIDED, reason=reason)
    return with_culprits(undecided, context, unsure)


def _asked_of(rule: Rule, context: Context, wait: Ints) -> Ints:
    """Those of the waits that the rule is about."""
    inside = np.intersect1d(wait, waits_inside(context, _windows_asked(rule, context)))
    return that_drained(context, inside) if rule.tag.startswith(ABOUT_DRAINS) else inside


def _with_culprits(rule: Rule, result: Checked, runs: Sequence[MeasuredRun]) -> Checked:
    """With the waits behind a broken rule, in the run that breaks it most."""
    worst = max(runs, key=lambda run: _distance(rule, _observed(rule, run))).context
    return with_culprits(result, worst, waits_inside(worst, _windows_asked(rule, worst)))


def _place_of(rule: Rule, runs: Sequence[MeasuredRun], every: Floats, value: float) -> str:
    """The step, the range's instance or the trace in which the value was first observed."""
    names = []
    for at, run in enumerate(runs, 1):
        trace = f"trace {at}" if len(runs) > 1 else ""
        names += [", ".join(filter(None, (one, trace))) for one in _names(rule, run)]
    at = int(np.flatnonzero(every == value)[0])
    return names[at]


def _names(rule: Rule, run: MeasuredRun) -> list[str]:
    """What each observation of a count is called."""
    if rule.per is Per.TRACE:
        return [""]
    values = _of_windows(rule, run)
    if rule.per is Per.STEP:
        called = [name for name, _ in step_windows(run.context)]
    else:
        called = [f"instance {at}" for at in range(1, values.size + 1)]
    return [name for name, value in zip(called, values.tolist(), strict=True) if np.isfinite(value)]


class _NoValue(Exception):
    """The measure has no value in a trace."""


_NO_STEPS: Final = (
    'no steps: name them, as in `with overlap_lab.annotate(f"step #{n}")`, or let torch.profiler mark them '
    "by its step()"
)
_CLOCKS: Final = "the clocks are inverted, and the value depends on how far"


def _observed(rule: Rule, run: MeasuredRun) -> Floats:
    """What one run observed of the rule's measure. Raises _NoValue."""
    if not run.context.devices and not rule.tag.startswith("quality/"):
        raise _NoValue("the trace has no device records")  # so nobody knows what waited
    if rule.per is Per.WAIT:
        wait, waits = waits_inside(run.context, None), run.context.waits
        return np.asarray(waits.end[wait] - waits.counted_from[wait], np.float64)
    if rule.per is Per.TRACE:
        found = _measured(rule, run)
        if found.value is None:
            raise _NoValue(found.reason or "no value")
        return np.array([found.value], np.float64)
    values = _of_windows(rule, run)
    known = values[np.isfinite(values)]
    if known.size == 0:
        raise _NoValue(f"{rule.tag} has no value in any of the {values.size} windows")
    return known


def _of_windows(rule: Rule, run: MeasuredRun) -> Floats:
    """The measure in each window of the rule, NaN where it has no value. Raises _NoValue for no window."""
    windows = _windows(rule, run.context)
    if not windows:
        what = _NO_STEPS if rule.per is Per.STEP else f"no range called {rule.range_name!r}"
        raise _NoValue(f"the trace has {what}")
    place = () if rule.device is None or len(run.context.devices) == 1 else (("device", rule.device),)
    values = windows_of(run.context, windows).values
    if (rule.tag, place) not in values:
        raise _NoValue(_absent(rule, run))
    return values[rule.tag, place]


def _measured(rule: Rule, run: MeasuredRun) -> Measurement:
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
        raise _NoValue(_absent(rule, run))
    return found


def _shaky(rule: Rule, runs: Sequence[MeasuredRun]) -> tuple[float, float] | None:
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


def _windows_asked(rule: Rule, context: Context) -> list[Window] | None:
    """The windows of the rule; None for the whole trace."""
    return _windows(rule, context) if rule.per in (Per.STEP, Per.RANGE) else None


def _windows(rule: Rule, context: Context) -> list[Window]:
    if rule.per is Per.STEP:
        return [window for _, window in step_windows(context)]
    return range_windows(context, lambda name: fnmatch.fnmatchcase(name, rule.range_name or ""))


def _absent(rule: Rule, run: MeasuredRun) -> str:
    devices = run.context.devices
    if rule.device is not None and rule.device not in devices:
        return f"the trace has no device {rule.device}; it has {listed(map(str, devices))}"
    whole = run.values.get((rule.tag, ()))
    if rule.device is None or whole is None:
        named = listed(map(str, devices))
        return f"name one of the devices {named}, as in: {rule.tag} ... on device {next(iter(devices))}"
    return whole.reason or f"{rule.tag} is known for the whole trace only, not for each device"
