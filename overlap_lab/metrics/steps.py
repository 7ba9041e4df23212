"""The same measures per training step."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.intervals import length
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.drains import device_drains
from overlap_lab.metrics.idle import device_idle
from overlap_lab.metrics.overlap import overlap
from overlap_lab.metrics.places import relative_start_ns
from overlap_lab.metrics.tables import table
from overlap_lab.report import Cell, Table
from overlap_lab.schema import ABSENT_DEVICE, EARLIEST_NS, LATEST_NS, Kind
from overlap_lab.trace import Trace

__all__ = ["range_windows", "step_windows", "steps_table"]

_STEP = re.compile(r"(?P<series>.*\S)\s*#\s*(?P<number>\d+)\s*")
_PROFILER_STEP = "ProfilerStep#"
_ITERATION = re.compile(r"(?P<series>Iteration)s?[\s:#]*(?P<number>\d+).*", re.IGNORECASE)


def step_windows(context: Context) -> list[tuple[str, Window]]:
    """Step ranges by start: ProfilerStep#N, Iteration N, or any range name that ends in #N and repeats."""
    return [(name, window) for name, window, _ in _steps(context)]


def _steps(context: Context) -> list[tuple[str, Window, int]]:
    """As `step_windows`, with the process of each step."""
    trace = context.trace
    rows = _range_rows(trace)
    found: list[tuple[str, str, Window, int]] = []
    words = {code: trace.names[code] for code in np.unique(trace.name[rows]).tolist() if code >= 0}
    series = {code: _series(name) for code, name in words.items()}
    for row in rows.tolist():
        code = int(trace.name[row])
        if series.get(code):
            window = (int(trace.start_ns[row]), int(trace.end_ns[row]))
            found.append((series[code], words[code], window, int(trace.process[row])))
    counts: dict[str, int] = {}
    for each, *_ in found:
        counts[each] = counts.get(each, 0) + 1
    # A series such as ProfilerStep is a step however often it occurs; another must repeat to be one.
    return [
        (name, window, process)
        for each, name, window, process in found
        if (counts[each] > 1 or each.lower() in ("profilerstep", "iteration")) and window[1] > window[0]
    ]


def range_windows(context: Context, matches: Callable[[str], bool]) -> list[Window]:
    """Each range whose name matches, by start; empty ones are left out."""
    trace = context.trace
    rows = _range_rows(trace)
    codes = np.unique(trace.name[rows]).tolist()
    wanted = [code for code in codes if code >= 0 and matches(trace.names[code])]
    rows = rows[np.isin(trace.name[rows], wanted) & (trace.end_ns[rows] > trace.start_ns[rows])]
    return list(zip(trace.start_ns[rows].tolist(), trace.end_ns[rows].tolist(), strict=True))


def _range_rows(trace: Trace) -> Ints:
    """Rows of ranges; also of steps that a torch.profiler of 2021 filed among the operators."""
    old = [code for code, name in enumerate(trace.names) if name.startswith(_PROFILER_STEP)]
    is_range = trace.kind == Kind.RANGE
    if old:
        is_range |= (trace.kind == Kind.CPU_OP) & np.isin(trace.name, old)
    return np.flatnonzero(is_range)


def _fed_by_process(context: Context) -> dict[int, set[int]]:
    """The devices that have ops of a process, for each."""
    places = context.links.places
    fed: dict[int, set[int]] = {}
    for process, device in zip(places.process.tolist(), places.device.tolist(), strict=True):
        fed.setdefault(process, set()).add(device)
    return fed


def _series(name: str) -> str:
    match = _STEP.fullmatch(name) or _ITERATION.fullmatch(name)
    return match["series"] if match else ""


def steps_table(context: Context) -> Table:
    """One row for each step and device, clipped at the edges of the step and of the window, if there is one;
    steps outside of it are left out."""
    zero = relative_start_ns(context)
    first, last = context.window or (EARLIEST_NS, LATEST_NS)
    rows: list[Sequence[Cell]] = []
    fed = _fed_by_process(context)
    for name, (start, end), process in _steps(context):
        window = max(start, first), min(end, last)
        if window[0] >= window[1]:
            continue
        inside = context.within(window)
        for device in context.devices:
            if process in fed and device not in fed[process]:  # a step of another rank
                continue
            idle, drains = device_idle(inside, device), device_drains(inside, device)
            ratios = overlap(inside, device)
            rows.append(
                (
                    name,
                    None if device == ABSENT_DEVICE else device,
                    window[0] - zero,
                    window[1] - zero,
                    idle["device/window"],
                    idle["device/busy"],
                    idle["device/idle"],
                    length(inside.blocked(device, terminal=True)),
                    drains["drain/count"],
                    drains["drain/idle"],
                    ratios["overlap/ratio"],
                    ratios["overlap/ratio_literal"],
                )
            )
    return table(
        "step:text device:id start:ns end:ns window:ns busy:ns idle:ns blocked:ns drains:count "
        "drain_idle:ns overlap:ratio overlap_literal:ratio",
        rows,
        "Steps",
    )
