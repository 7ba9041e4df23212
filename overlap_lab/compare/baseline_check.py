"""Traces held against a baseline: what became worse, beyond chance and beyond what is allowed.

Pairs are impossible, as the baseline ran at another time: so a time is worse only where the statistics of two
sessions say so, and is UNDECIDED otherwise. Counts that never vary need no statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from overlap_lab.compare.baseline import StoredRun
from overlap_lab.compare.baseline_counts import certain_counts, chance_in, counts_of
from overlap_lab.compare.baseline_rules import DEFAULT, BaselineRule
from overlap_lab.compare.check import ABOUT_WAITS
from overlap_lab.compare.checked import Against, Checked, Outcome
from overlap_lab.compare.comparable import differences_of_setup
from overlap_lab.compare.comparing import compare
from overlap_lab.compare.comparison import Comparison, Difference, Sampling, Verdict
from overlap_lab.compare.culprits import waits_inside, with_culprits
from overlap_lab.compare.reasons import listed
from overlap_lab.compare.samples import Key, Per, Run, count_steps, run_of
from overlap_lab.compare.statistics import FEWEST
from overlap_lab.errors import MissingDependency, UsageError
from overlap_lab.metrics.steps import range_windows
from overlap_lab.report import Better
from overlap_lab.trace import Trace

__all__ = ["held_against", "incomparable", "is_beyond"]

_TOO_FEW: Final = f"too few observations: a verdict about a time takes {FEWEST} steps or repeats on each side"

_HOST_TARGET: Final = f"on the CPU host target it takes {FEWEST} runs on each side"
_BASELINE_DOUBTED: Final = "a busy machine may have made what the baseline counts"


def held_against(
    baseline: Sequence[StoredRun],
    traces: Sequence[Trace | Run],
    rules: Sequence[BaselineRule] = (),
    *,
    force_comparable: bool = False,
) -> tuple[tuple[Checked, ...], Comparison | None]:
    """Every rule, and the comparison of the whole runs where it can be made.

    Without rules: DEFAULT, for each device where there are several.
    Other devices, drivers, tools or windows make every rule INCOMPARABLE, unless `force_comparable`. Raises
    UsageError for no trace.
    """
    before, after = [run_of(one) for one in baseline], [run_of(one) for one in traces]
    if not before or not after:
        raise UsageError("check: a baseline needs a run on each side")
    rules = rules or _default(after[0])
    setup = differences_of_setup(*([run.report.source for run in side] for side in (before, after)))
    if setup and not force_comparable:
        return incomparable(rules, "; ".join(setup)), None
    sides = _Sides(before, after)
    checked = tuple(sides.checked(rule) for rule in rules)
    try:
        return checked, sides.comparison(None)
    except MissingDependency:  # counts need no statistics, and what does has raised above
        return checked, None


def _default(run: Run) -> tuple[BaselineRule, ...]:
    devices = _devices(run)
    if len(devices) < 2:
        return DEFAULT
    return tuple(replace(rule, device=device) for device in devices for rule in DEFAULT)


def incomparable(rules: Sequence[BaselineRule], reason: str) -> tuple[Checked, ...]:
    """Every rule without a verdict, for one reason."""
    return tuple(_without(rule, Outcome.INCOMPARABLE, reason) for rule in rules or DEFAULT)


def _without(rule: BaselineRule, outcome: Outcome, reason: str) -> Checked:
    return Checked(rule, outcome, None, 0, reason=reason)


class _Sides:
    """Both sides, and the comparisons that rules ask for, each made once."""

    def __init__(self, before: list[Run], after: list[Run]) -> None:
        self._before, self._after = before, after
        self._made: dict[str | None, Comparison] = {}
        self._certain: list[list[dict[Key, int]]] = []

    def comparison(self, range_name: str | None) -> Comparison:
        if range_name not in self._made:
            self._made[range_name] = compare(
                self._before,
                self._after,
                per=Per.RANGE if range_name else _unit(self._before, self._after),
                range_name=range_name,
                paired=False,
                force_comparable=True,  # the setups were looked at before
            )
        return self._made[range_name]

    def checked(self, rule: BaselineRule) -> Checked:
        """The rule held against both sides; the one device of a trace may be named, too."""
        if rule.device is not None and all(_has_only(rule, run) for run in self._after):
            return replace(self._held(replace(rule, device=None)), rule=rule)
        return self._held(rule)

    def _held(self, rule: BaselineRule) -> Checked:
        lone = any(run.context is not None and not run.context.devices for run in self._after)
        if lone and not rule.tag.startswith("quality/"):
            return _without(
                rule, Outcome.NO_VALUE, "the trace has no device records"
            )  # nobody knows what waited
        missing = self._range_missing(rule)
        if missing is not None:
            return missing
        if rule.unit == "count" and rule.range_name is None:
            exact = self._counted(rule)
            if exact is not None:
                return self._with_culprits(rule, exact)
        comparison = self.comparison(rule.range_name)
        difference = comparison.difference(rule.tag, **rule.scope)
        if difference is None:
            return _without(rule, Outcome.NO_VALUE, self._absent(rule))
        result = judged(rule, difference, comparison.sampling)
        if result.outcome is Outcome.VIOLATED and self._is_one_host_run(comparison, difference):
            reason = f"{result.reason}; {_HOST_TARGET}"
            return replace(result, outcome=Outcome.UNDECIDED, reason=reason)
        return self._with_culprits(rule, result)

    def _is_one_host_run(self, comparison: Comparison, difference: Difference) -> bool:
        """Whether a verdict rests on parts of runs of the CPU host target: its ops share the cores with
        whatever else runs, which can make all steps of one run twice as long."""
        host = any(run.report.source.get("vendor") == "host" for run in (*self._before, *self._after))
        return host and difference.statistics is not None and comparison.sampling is not Sampling.REPEATS

    def _range_missing(self, rule: BaselineRule) -> Checked | None:
        name = rule.range_name
        if name is None:
            return None
        for run in self._after:
            if run.context is not None and not range_windows(run.context, name.__eq__):
                return _without(rule, Outcome.NO_VALUE, f"the trace has no range called {name!r}")
        if any(run.stored is not None and name not in run.stored.ranges for run in self._before):
            return _without(rule, Outcome.INCOMPARABLE, f"the baseline has no range called {name!r}")
        return None

    def _counted(self, rule: BaselineRule) -> Checked | None:
        """A count of whole runs, of which what is certain never varies on either side; None where it does, or
        where the runs are of other lengths."""
        if len({count_steps(run) for run in (*self._before, *self._after)}) > 1:
            return None
        self._certain = self._certain or [
            [certain_counts(run) for run in side] for side in (self._before, self._after)
        ]
        key = rule.tag, tuple(sorted(rule.scope.items()))
        counts = [
            counts_of(key, side, certain)
            for side, certain in zip((self._before, self._after), self._certain, strict=True)
        ]
        before, after = counts
        if before is None or after is None:
            return None
        result = Checked(
            rule, Outcome.FINE, after.most, len(self._after), against=Against(before.most, len(self._before))
        )
        result = replace(result, statistic="largest" if self._are_several() else "")
        if after.certain - before.most > rule.allowance(before.most):
            return replace(result, outcome=Outcome.VIOLATED)
        if any(
            one - other > rule.allowance(other)
            for one, other in ((after.certain, before.certain), (after.most, before.most))
        ):
            return self._left_to_chance(rule, result)
        return result

    def _are_several(self) -> bool:
        return max(len(self._before), len(self._after)) > 1

    def _left_to_chance(self, rule: BaselineRule, result: Checked) -> Checked:
        """UNDECIDED: what is certain says something else than what may be chance."""
        doubted = [
            (run.context, *chance_in(rule.tag, run.context)) for run in self._after if run.context is not None
        ]
        doubted = [one for one in doubted if one[1].size]
        undecided = replace(result, outcome=Outcome.UNDECIDED, reason=_BASELINE_DOUBTED)
        if not doubted:
            return undecided
        context, unsure, words = max(doubted, key=lambda one: one[1].size)
        reason = f"a busy machine may be all that decides it: {words}"
        return with_culprits(replace(undecided, reason=reason), context, unsure)

    def _absent(self, rule: BaselineRule) -> str:
        devices = sorted({device for run in self._after for device in _devices(run)})
        if rule.device is None and len(devices) > 1:
            named = listed(map(str, devices))
            return f"name one of the devices {named}, as in: {rule.tag}:0 on device {devices[0]}"
        if rule.device is not None and rule.device not in devices:
            return f"the trace has no device {rule.device}; it has {listed(map(str, devices))}"
        return "neither side has a value"

    def _with_culprits(self, rule: BaselineRule, checked: Checked) -> Checked:
        """A violated rule with the waits of the costliest run."""
        if checked.outcome is not Outcome.VIOLATED or not rule.tag.startswith(ABOUT_WAITS):
            return checked
        values = [_value(rule, run) or 0 for run in self._after]
        context = self._after[int(np.argmax(values))].context
        if context is None:
            return checked
        name = rule.range_name
        windows = None if name is None else range_windows(context, name.__eq__)
        return with_culprits(checked, context, waits_inside(context, windows))


def _unit(before: list[Run], after: list[Run]) -> Per:
    """Repeats where both sides have enough of them, else the steps of all runs, else what there is."""
    if min(len(before), len(after)) >= FEWEST:
        return Per.REPEAT
    if all(map(count_steps, (*before, *after))):
        return Per.STEP
    return Per.AUTO


def _value(rule: BaselineRule, run: Run) -> int | float | None:
    found = (m.value for m in run.report.measurements if m.tag == rule.tag and dict(m.scope) == rule.scope)
    return next(found, None)


def _has_only(rule: BaselineRule, run: Run) -> bool:
    """Whether the rule names the one device of a run, of which the measure is known."""
    known = any(m.tag == rule.tag and dict(m.scope) == rule.scope for m in run.report.measurements)
    return known and _devices(run) == [rule.device]


def _devices(run: Run) -> list[int]:
    """Those that have measures, also where a trace does not list them."""
    scopes = (m.scope for m in run.report.measurements if m.tag == "device/window")
    return sorted(scope["device"] for scope in scopes if "device" in scope)


def _worse(rule: BaselineRule, change: float) -> float:
    """How much worse a change makes the measure; negative where it is better."""
    return change if rule.better is Better.LOWER else -change


def judged(rule: BaselineRule, difference: Difference, sampling: Sampling) -> Checked:
    """A rule and what a comparison says of its measure."""
    before, after = difference.baseline, difference.candidate
    if before is None or after is None or difference.difference is None:
        outcome = Outcome.NO_VALUE if after is None else Outcome.INCOMPARABLE
        return _without(rule, outcome, difference.reason or "no value")
    found = difference.statistics
    counts = found.observations if found else (1, 1)
    result = Checked(rule, Outcome.FINE, after, counts[1], against=Against(before, counts[0]))
    result = replace(result, statistic="median" if max(counts) > 1 else "")
    change, allowed = _worse(rule, difference.difference), rule.allowance(before)
    if found is None:
        lone = rule.unit != "count" and sampling is Sampling.SINGLE_RUN
        if change > 0 and (lone or difference.verdict is Verdict.UNDECIDED):
            return replace(result, outcome=Outcome.UNDECIDED, reason=difference.reason or _TOO_FEW)
        return replace(result, outcome=Outcome.VIOLATED if change > allowed else Outcome.FINE)
    result = replace(result, low=found.low, high=found.high, reason=difference.reason or "")
    near, far = sorted(_worse(rule, edge) for edge in (found.low, found.high))
    if difference.verdict is Verdict.WORSE and is_beyond(change, near, found.noise_floor, allowed):
        return replace(result, outcome=Outcome.VIOLATED)
    kept = difference.verdict in (Verdict.SAME, Verdict.BETTER)
    if kept or max(far, change + found.noise_floor) <= allowed:
        return result
    of = " of the baseline" if rule.is_share else ""
    beyond = f"; not shown to be more than the {_written(rule)}{of} that are allowed" if allowed else ""
    return replace(result, outcome=Outcome.UNDECIDED, reason=f"{result.reason}{beyond}")


def is_beyond(change: float, near: float, noise_floor: float, allowed: float) -> bool:
    """Whether a change is more than what is allowed: the near edge of its interval, and what the noise floor
    leaves of it."""
    return near > allowed and change - allowed > noise_floor


def _written(rule: BaselineRule) -> str:
    return str(rule).partition(":")[2].split(" ", 1)[0]
