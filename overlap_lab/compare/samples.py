"""A side of a comparison -> observations: of its steps, of the instances of a range, or of its repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from overlap_lab.analyze import report_and_context
from overlap_lab.compare.sites import ELSEWHERE, DrainedAt, sites_of_report
from overlap_lab.compare.statistics import Floats
from overlap_lab.errors import UsageError
from overlap_lab.intervals import clip
from overlap_lab.metrics.catalog import COMPARED_TAGS, entry
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.drains import device_drains
from overlap_lab.metrics.idle import device_idle
from overlap_lab.metrics.overlap import overlap
from overlap_lab.metrics.steps import range_windows, step_windows
from overlap_lab.report import Report
from overlap_lab.schema import ABSENT_DEVICE, Cause, Kind
from overlap_lab.trace import Trace

if TYPE_CHECKING:
    from overlap_lab.compare.baseline import StoredRun

__all__ = [
    "FEWEST_STEPS",
    "HEADLINE",
    "PARTS",
    "QUIET",
    "Key",
    "Per",
    "Run",
    "Samples",
    "Windows",
    "count_steps",
    "of_repeats",
    "of_windows",
    "run_of",
    "step_windows_of",
    "windows_of",
]

Key = tuple[str, tuple[tuple[str, int], ...]]
"""Tag and sorted scope."""

HEADLINE: Final = "device/window"
"""What a comparison is about: how long the step, the range or the run took."""
PARTS: Final = ("device/window", "device/busy", *(f"device/idle/{cause}" for cause in Cause))
"""The window and what it is the sum of."""
QUIET: Final = 0.1
"""A repeat of steps counts with this quantile of their times: other work on the machine only adds time."""
_SHOWN: Final = 8
FEWEST_STEPS: Final = 10
"""With fewer steps a repeat counts with their median."""


class Per(StrEnum):
    """The unit of observation."""

    AUTO = "auto"
    """Repeats where a side has several runs, else steps where both have enough, else the whole run."""
    STEP = "step"
    RANGE = "range"
    REPEAT = "repeat"
    RUN = "run"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run: its report, and what it was measured in where its trace is at hand."""

    report: Report
    context: Context | None = None
    stored: StoredRun | None = None
    """The run of a baseline, whose trace is gone."""


def run_of(given: Report | Trace | StoredRun | Run) -> Run:
    """The run behind a report, a trace, or a run of a baseline."""
    if isinstance(given, Run):
        return given
    if isinstance(given, Report):
        return Run(given)
    if isinstance(given, Trace):
        return Run(*report_and_context(given))
    return given.run()


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Measures of windows; entry i of every array is window i. NaN where the measure has no value there."""

    values: Mapping[Key, Floats]
    drained: Mapping[tuple[tuple[tuple[str, int], ...], str], Floats]
    """(scope of the device, site) -> ns idle after drains by the waits of that site."""

    @property
    def size(self) -> int:
        return next(iter(self.values.values())).size if self.values else 0


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """One side's observations, in time order."""

    values: Mapping[Key, Floats]
    windows: Windows
    """What the values were made from: the same windows, or the steps of all repeats."""

    @property
    def size(self) -> int:
        return next(iter(self.values.values())).size if self.values else 0


def count_steps(run: Run) -> int:
    """How many step ranges the run's trace has; a report has none."""
    if run.stored is not None:
        return run.stored.steps.size
    return 0 if run.context is None else len(step_windows(run.context))


def of_windows(runs: Sequence[Run], per: Per, range_name: str | None) -> Samples:
    """One observation for each step, or each range of that name, of all the runs in turn."""
    found = []
    for run in runs:
        if run.stored is not None:
            found.append(_stored_windows(run.stored, per, range_name or ""))
            continue
        if run.context is None:
            raise UsageError(
                f"compare per {per}: a saved report holds no {per}s that can be measured; give the trace"
            )
        if per is Per.STEP:
            windows = step_windows_of(run.context)
        else:
            windows = range_windows(run.context, (range_name or "").__eq__)
        if not windows:
            raise UsageError(_nothing_found(run.context, per, range_name))
        found.append(windows_of(run.context, windows))
    joined = _joined(found)
    return Samples(joined.values, joined)


def _stored_windows(stored: StoredRun, per: Per, range_name: str) -> Windows:
    found = stored.steps if per is Per.STEP else stored.ranges.get(range_name)
    if found is None or not found.size:
        what = "no steps" if per is Per.STEP else f"no range {range_name!r}"
        raise UsageError(f"compare per {per}: the baseline holds {what}")
    return found


def of_repeats(runs: Sequence[Run], *, by_steps: bool) -> Samples:
    """One observation for each run: `by_steps` makes times and ratios those of its steps, else of the whole
    run. Counts are the whole run's: a drain whose gap two steps share counts in both of them."""
    whole = _joined([_whole(run.report) for run in runs])
    if not by_steps:
        return Samples(whole.values, whole)
    parts = [of_windows([run], Per.STEP, None).windows for run in runs]
    keys = dict.fromkeys(key for part in parts for key in part.values if not _is_count(key))
    absent = np.full(1, np.nan)
    values = {
        key: np.array([_of_repeat(key, part.values.get(key, absent)) for part in parts]) for key in keys
    }
    counts = {key: value for key, value in whole.values.items() if _is_count(key)}
    return Samples({**values, **counts}, _joined(parts))


def _is_count(key: Key) -> bool:
    return entry(key[0]).unit == "count"


def _of_repeat(key: Key, steps: Floats) -> float:
    if not np.isfinite(steps).all():
        return float("nan")
    if key[0] == HEADLINE and steps.size >= FEWEST_STEPS:
        return float(np.quantile(steps, QUIET))
    return float(np.median(steps))


def step_windows_of(context: Context) -> list[Window]:
    """Start and end of each step."""
    return [window for _, window in step_windows(context)]


def _nothing_found(context: Context, per: Per, range_name: str | None) -> str:
    where = context.trace.source.files[0] if context.trace.source.files else "the trace"
    if per is Per.STEP:
        return f"{where}: no steps; a step is a range such as ProfilerStep#3 or `step #3`, or use --per range"
    rows = np.flatnonzero(context.trace.kind == Kind.RANGE)
    names = [context.trace.names[code] for code in np.unique(context.trace.name[rows]).tolist() if code >= 0]
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    there = f"it has {', '.join(names[:_SHOWN])}{more}" if names else "it has no ranges"
    return f"{where}: no range is called {range_name!r}; {there}"


def windows_of(context: Context, windows: Sequence[Window]) -> Windows:
    """The window's measures for each of many windows of one trace; waits and drains are the whole trace's."""
    several = len(context.devices) > 1
    places = {
        device: (("device", device),) if several and device != ABSENT_DEVICE else ()
        for device in context.devices
    }
    drained_at = {device: DrainedAt(context, device) for device in context.devices}
    rows: list[dict[Key, float]] = []
    drained: dict[int, list[np.ndarray]] = {device: [] for device in context.devices}
    for window in windows:
        inside = context.within(window)
        row: dict[Key, float] = {("host/blocked", ()): _blocked(inside, window)}
        for device, place in places.items():
            for measure in _MEASURES:
                for tag, value in measure(inside, device).items():
                    row[tag, place] = float("nan") if value is None else float(value)
            drained[device].append(drained_at[device].within(window))
        rows.append(row)
    keys = list(rows[0]) if rows else []
    return Windows(
        {key: np.array([row[key] for row in rows]) for key in keys},
        {
            (place, name): np.array(drained[device], np.float64)[:, at]
            for device, place in places.items()
            if rows
            for at, name in enumerate(drained_at[device].names)
        },
    )


_MEASURES: Final[tuple[Callable[[Context, int], Mapping[str, int | float | None]], ...]] = (
    device_idle,
    device_drains,
    overlap,
)


def _blocked(inside: Context, window: Window) -> float:
    start, end = clip(inside.waits.counted_from, inside.waits.end, window)
    return float((end - start).sum())


_KNOWN: Final = frozenset(COMPARED_TAGS)


def _whole(report: Report) -> Windows:
    """A report as one window; values per process, thread and stream name something else in another run."""
    values: dict[Key, Floats] = {}
    for m in report.measurements:
        if m.tag in _KNOWN and (not m.scope or m.scope.keys() == {"device"}):
            number = float("nan") if m.value is None else float(m.value)
            values[m.tag, tuple(sorted(m.scope.items()))] = np.array([number])
    values = {key: v for key, v in values.items() if not key[1] or (key[0], ()) not in values}
    places = [key[1] for key in values if key[0] == HEADLINE]
    drained: dict[tuple[tuple[tuple[str, int], ...], str], Floats] = {}
    if len(places) == 1:
        for name, ns in sites_of_report(report).items():
            drained[places[0], name] = np.array([float(ns)])
        known = sum(float(ns[0]) for ns in drained.values())
        cost = values.get((f"device/idle/{Cause.DRAIN}", places[0]), np.array([np.nan]))
        drained[places[0], ELSEWHERE] = cost - known
    return Windows(values, drained)


def _joined(parts: Sequence[Windows]) -> Windows:
    """Windows one after the other; a measure that some lack is NaN there, a site 0."""
    keys = dict.fromkeys(key for part in parts for key in part.values)
    sites = dict.fromkeys(site for part in parts for site in part.drained)
    return Windows(
        {
            key: np.concatenate([part.values.get(key, np.full(part.size, np.nan)) for part in parts])
            for key in keys
        },
        {
            site: np.concatenate([part.drained.get(site, np.zeros(part.size)) for part in parts])
            for site in sites
        },
    )
