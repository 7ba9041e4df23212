"""What a figure is made of: a report, and for some the context that it was measured in."""

from __future__ import annotations

from overlap_lab.analyze import analyze, report_and_context
from overlap_lab.errors import UsageError
from overlap_lab.metrics.context import Context
from overlap_lab.render.numbers import Numbers
from overlap_lab.report import Report
from overlap_lab.schema import ABSENT_DEVICE
from overlap_lab.trace import Trace

__all__ = ["context_of_run", "device_word", "report_of", "title_of", "untold"]


def report_of(run: Trace | Report, *, steps: bool = False) -> Report:
    """The report, of a trace measured now. Raises UsageError for anything else."""
    if isinstance(run, Report):
        return run
    if isinstance(run, Trace):
        return analyze(run, steps=steps)
    raise UsageError(f"plots: a Trace or a Report is needed, not {type(run).__name__}")


def context_of_run(run: Trace) -> tuple[Report, Context]:
    """What was measured, and in what. Raises UsageError for a Report, which keeps no single ops."""
    if not isinstance(run, Trace):
        raise UsageError(f"plots: this figure needs a Trace, not {type(run).__name__}")
    return report_and_context(run)


def untold(report: Report) -> str | None:
    """Which side of the trace is missing, and what cannot be told without it; None where both are there."""
    numbers = Numbers(report)
    sides = [bool(numbers.count(f"quality/no_{side}_records", {})) for side in ("host", "device")]
    if all(sides):
        return "the trace has neither host nor device records: there is nothing to draw"
    if sides[0]:
        return "the trace has no host records: what blocks the host cannot be told"
    if sides[1]:
        return "the trace has no device records: what the host waited for cannot be told"
    return None


def title_of(run: Trace | Report) -> str:
    """The file's name."""
    if isinstance(run, Trace):
        files: object = run.source.files
    else:
        files = run.source.get("files")
    first = str(files[0]) if isinstance(files, list | tuple) and files else "trace"
    return first.rpartition("/")[2]


def device_word(device: int | None) -> str:
    """How a device is called in a figure."""
    return "device" if device in (None, ABSENT_DEVICE) else f"device {device}"
