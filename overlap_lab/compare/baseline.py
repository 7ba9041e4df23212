"""Baselines: what a comparison needs of runs whose traces are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import numpy as np

from overlap_lab import __version__
from overlap_lab.compare.baseline_counts import certain_counts
from overlap_lab.compare.baseline_machine import Machine, is_version, machine_of
from overlap_lab.compare.comparable import differences_of_setup
from overlap_lab.compare.programs import differences_of_programs
from overlap_lab.compare.samples import Key, Run, Windows, run_of, step_windows_of, windows_of
from overlap_lab.compare.sites import sites_of_report
from overlap_lab.errors import UsageError
from overlap_lab.intervals import Ints
from overlap_lab.metrics.catalog import COMPARED_TAGS
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.steps import step_windows
from overlap_lab.report import Column, Finding, Report, Severity, Table
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = [
    "SCHEMA",
    "TRACE",
    "Baseline",
    "StoredRun",
    "baseline_of",
    "drains_table",
    "made_now",
    "run_to_store",
    "runs_to_store",
]

SCHEMA: Final = "overlap_lab.baseline/1"
TRACE: Final = "trace"
"""The key of an entry that was saved from traces; those of tests are their node ids."""

_KEPT_TAGS: Final = frozenset(COMPARED_TAGS)
_KEPT_SOURCE: Final = ("format", "vendor", "tool", "devices", "window")
_KEPT_SETTINGS: Final = ("floor_ns", "nearness_ns", "slack_ns")
_KEPT_FACTS: Final = ("captured with", "device", "cpu", "cores")
_MOST_WINDOWS: Final = 20_000
"""Steps of all runs of an entry together, and range instances as many again."""
_MOST_RANGES: Final = 64
"""Names of ranges of one run, those with the most instances first."""
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """One run without its trace. `overlap_lab.compare` takes it as a side, where it is another session."""

    report: Report
    """Only what a comparison asks for: no file names, commands, hosts or environment."""
    steps: Windows
    ranges: Mapping[str, Windows] = field(default_factory=dict)
    certain: Mapping[Key, int] = field(default_factory=dict)
    """Counts that are smaller without the waits that a busy machine may have made."""

    def run(self) -> Run:
        """The run as a side of a comparison holds it."""
        return Run(self.report, None, self)


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Runs of one kind of machine under a name: of one program, or of many tests by their node ids."""

    name: str
    machine: Machine
    entries: Mapping[str, tuple[StoredRun, ...]]
    created: str
    """UTC, ISO 8601."""
    tool: str = ""
    commit: str = ""
    """Empty outside of a repository; ends in "+changes" where files differed from it."""
    tags: tuple[str, ...] = ()


def baseline_of(
    name: str,
    traces: Sequence[Trace | Run],
    *,
    commit: str = "",
    tags: Sequence[str] = (),
    force_comparable: bool = False,
) -> Baseline:
    """A baseline of one program: several traces are its repeats, all made alike.

    Raises UsageError for no trace, and unless `force_comparable` for traces of different programs, machines,
    tools or windows.
    """
    runs = [run_of(one) for one in traces]
    stored = runs_to_store(runs)
    setup = differences_of_setup([run.report.source for run in runs], [])
    unlike = [] if force_comparable else [*setup, *differences_of_programs(runs)]
    if unlike:
        raise UsageError(
            f"baseline {name}: INCOMPARABLE: the traces were not made alike: {'; '.join(unlike)}; "
            "--force-comparable saves them all the same"
        )
    return made_now(name, machine_of(runs[0].report.source), {TRACE: stored}, commit=commit, tags=tags)


def made_now(
    name: str,
    machine: Machine,
    entries: Mapping[str, tuple[StoredRun, ...]],
    *,
    commit: str = "",
    tags: Sequence[str] = (),
) -> Baseline:
    """A baseline of these entries, with the time and this version of overlap_lab."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return Baseline(name, machine, entries, created, f"overlap_lab {__version__}", commit, tuple(tags))


def runs_to_store(given: Sequence[Trace | Run]) -> tuple[StoredRun, ...]:
    """Runs in order of their start, bounded: of very long ones the first steps and ranges are kept."""
    runs = [run_of(one) for one in given]
    if not runs:
        raise UsageError("baseline: there is no run to store")
    starts = [run.report.source.get("trace_start_ns") for run in runs]
    if all(isinstance(start, int) for start in starts):
        order = sorted(range(len(runs)), key=lambda at: (starts[at], at))
        runs = [runs[at] for at in order]
    most = max(1, _MOST_WINDOWS // len(runs))
    return tuple(run_to_store(run, most) for run in runs)


def run_to_store(run: Run, most: int = _MOST_WINDOWS) -> StoredRun:
    """What is kept of one run: at most so many steps, and as many instances of ranges."""
    if run.stored is not None:
        return run.stored
    if run.context is None:
        raise UsageError("baseline: a saved report has no steps or ranges; give its trace")
    context = run.context
    steps = windows_of(context, step_windows_of(context)[:most])
    found = _range_windows(context, most)
    ranges = {name: windows_of(context, windows) for name, windows in found.items()}
    report = _kept_report(run.report)
    counts = {(m.tag, tuple(sorted(m.scope.items()))) for m in report.measurements}
    certain = {key: value for key, value in certain_counts(run).items() if key in counts}
    return StoredRun(report, steps, ranges, certain)


def _range_windows(context: Context, most: int) -> dict[str, list[Window]]:
    """Windows by name of ranges that are no steps: names with the most instances first."""
    trace = context.trace
    steps = {name for name, _ in step_windows(context)}
    rows: Ints = np.flatnonzero((trace.kind == Kind.RANGE) & (trace.end_ns > trace.start_ns))
    codes, counts = np.unique(trace.name[rows], return_counts=True)
    found: dict[str, list[Window]] = {}
    for at in np.argsort(-counts, kind="stable").tolist():
        code = int(codes[at])
        name = trace.names[code] if code >= 0 else ""
        if most <= 0 or len(found) == _MOST_RANGES:
            break
        if not name or name in steps or name in found or len(name) > _LONGEST:
            continue
        mine = rows[trace.name[rows] == code][:most]
        found[name] = list(zip(trace.start_ns[mine].tolist(), trace.end_ns[mine].tolist(), strict=True))
        most -= mine.size
    return found


def _kept_report(report: Report) -> Report:
    """The report with measurements of the trace and its devices, and drains by the place that waits."""
    measured = tuple(
        m
        for m in report.measurements
        if m.tag in _KEPT_TAGS and (not m.scope or m.scope.keys() == {"device"})
    )
    verdict = Finding("verdict", Severity.INFO, report.verdict[:_LONGEST])
    drains = drains_table(sites_of_report(report))
    return Report(_kept_source(report.source), measured, {"drains": drains}, (verdict,))


def drains_table(drains: Mapping[str, int]) -> Table:
    """Idle time after drains by place, in a form that `sites_of_report` reads back."""
    columns = (*(Column(name, "text") for name in ("call", "op", "frame", "range")), Column("idle", "ns"))
    return Table(columns, tuple((name, None, None, None, ns) for name, ns in drains.items()))


def _kept_source(source: Mapping[str, object]) -> dict[str, object]:
    settings, metadata = source.get("settings"), source.get("metadata")
    devices = source.get("devices")
    kept = {key: source.get(key) for key in _KEPT_SOURCE}
    return kept | {
        "devices": {
            number: str(name)[:_LONGEST]
            for number, name in (devices.items() if isinstance(devices, dict) else ())
        },
        "settings": {key: settings.get(key) for key in _KEPT_SETTINGS} if isinstance(settings, dict) else {},
        "metadata": {
            str(key)[:_LONGEST]: str(value)[:_LONGEST]
            for key, value in (metadata.items() if isinstance(metadata, dict) else ())
            if key in _KEPT_FACTS or is_version(key)
        },
    }
