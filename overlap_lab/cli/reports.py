"""Paths from the command line -> reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overlap_lab.cli.files import inputs_at, is_saved_report, refuse_one_run_twice
from overlap_lab.cli.progress import waiting_for
from overlap_lab.cli.window import Window, window_in
from overlap_lab.errors import TraceNotFound, UnknownFormat
from overlap_lab.report import Report
from overlap_lab.trace import Trace

if TYPE_CHECKING:
    from overlap_lab.loaders import TraceInput
    from overlap_lab.render.costs import Costs

__all__ = ["reports_of", "runs_at"]


def reports_of(
    paths: Iterable[str], *, window: Window | None = None, steps: bool = False, with_costs: bool = True
) -> Iterator[tuple[Report, Costs | None]]:
    """A report for each trace at the paths, and what costs device time, one trace in memory at a time.

    Without `with_costs`, which only people read, None stands for the costs.
    """
    for found in [one for path in paths for one in inputs_at(path)]:
        yield _analyzed(found, window, steps=steps, with_costs=with_costs)


def runs_at(paths: Iterable[str]) -> list[Report | Trace]:
    """Every run at the paths, in order: a report saved by `analyze --json`, or a trace.

    Of a folder all traces; where it has none, all saved reports that lie in it.
    """
    found = [one for path in paths for one in _files_at(path)]
    refuse_one_run_twice(one if isinstance(one, str) else one.path for one in found)
    runs: list[Report | Trace] = []
    for one in found:
        runs.extend(_saved(one) if isinstance(one, str) else [_loaded(one)])
    return runs


def _files_at(path: str) -> Sequence[TraceInput | str]:
    """Traces, or the names of saved reports."""
    from overlap_lab.loaders import find_inputs

    if is_saved_report(Path(path)):
        return [path]
    reports = _saved_reports_in(path)
    try:
        found = [one for one in find_inputs(path) if str(one.path) not in reports]
    except (TraceNotFound, UnknownFormat):
        if not reports:
            raise
        found = []
    return found or reports


def _saved_reports_in(path: str) -> list[str]:
    if not path or not Path(path).is_dir():
        return []
    return [str(file) for file in sorted(Path(path).glob("*.json")) if is_saved_report(file)]


def _loaded(found: TraceInput) -> Trace:
    from overlap_lab.loaders import load

    with waiting_for(found.files):
        return load(found)


def _analyzed(
    found: TraceInput, window: Window | None, *, steps: bool, with_costs: bool
) -> tuple[Report, Costs | None]:
    from overlap_lab.analyze import report_and_context
    from overlap_lab.loaders import load
    from overlap_lab.render.costs import costs_of

    with waiting_for(found.files) as meter:
        trace = load(found)
        meter.now(f"analyzing {len(trace):,} rows of")
        clip = None if window is None else window_in(trace, window)
        report, context = report_and_context(trace, window=clip, steps=steps)
        return report, costs_of(report, context) if with_costs else None


def _saved(path: str) -> tuple[Report, ...]:
    from overlap_lab.render.json import reports_from_json

    return reports_from_json(Path(path).read_bytes(), where=path)
