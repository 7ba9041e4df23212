"""One trace as rules are held against it: measured without the waits that are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from overlap_lab.analyze import measurements_of, report_and_context
from overlap_lab.columns import Ints, Mask
from overlap_lab.compare.allowances import AllowedCalls
from overlap_lab.compare.budget import Allowance
from overlap_lab.compare.checked import Passed
from overlap_lab.compare.late import late_allowed, late_synchronizes
from overlap_lab.metrics.context import Context
from overlap_lab.report import Measurement, Report
from overlap_lab.trace import Trace

__all__ = ["MeasuredRun", "measured_run", "with_waits"]

_Key = tuple[str, tuple[tuple[str, int], ...]]
"""Tag and sorted scope."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """One trace, without the waits that are allowed."""

    report: Report
    context: Context
    values: Mapping[_Key, Measurement]
    whole: Context
    """With the waits that are allowed."""
    allowances: Sequence[Allowance] = ()
    passed: tuple[Passed, ...] = ()
    """What each allowance let pass."""
    certain: dict[bool, tuple[Ints, MeasuredRun]] = field(default_factory=dict)
    """By whether it is about drains: the waits that may be chance, and the run without them."""

    def late(self) -> Ints:
        """Synchronizes that came late and are not allowed; an allowed wait has waited all the same."""
        return late_synchronizes(self.whole, self.allowances)


def measured_run(trace: Trace, allowances: Sequence[Allowance]) -> MeasuredRun:
    """The trace without the waits that the allowances take."""
    report, context = report_and_context(trace)
    keep, passed = _not_allowed(context, allowances)
    run = with_waits(report, context, keep)
    return replace(run, whole=context, allowances=allowances, passed=passed)


def with_waits(report: Report, context: Context, keep: Mask) -> MeasuredRun:
    """The run as it would be with only these waits."""
    measured: Iterable[Measurement] = report.measurements
    if not keep.all():
        context = context.with_waits(keep)
        faults = [one for one in report.measurements if one.tag.startswith("quality/")]
        measured = (*measurements_of(context), *faults)
    values: dict[_Key, Measurement] = {(m.tag, tuple(sorted(m.scope.items()))): m for m in measured}
    return MeasuredRun(report, context, values, context)


def _not_allowed(context: Context, allowances: Sequence[Allowance]) -> tuple[Mask, tuple[Passed, ...]]:
    """Which waits count, and what each allowance let pass."""
    waits = context.waits
    keep = np.ones(waits.row.size, np.bool_)
    late = late_allowed(context, allowances)
    if not allowances or keep.size == 0:
        return keep, tuple(Passed(one, 0, 0, count) for one, count in zip(allowances, late, strict=True))
    calls = AllowedCalls(context, waits.row, waits.thread)
    passed = []
    for one, count in zip(allowances, late, strict=True):
        hit = keep & calls.by(one)
        keep &= ~hit
        blocked = int((waits.end[hit] - waits.counted_from[hit]).sum())
        passed.append(Passed(one, int(hit.sum()), blocked, count))
    return keep, tuple(passed)
