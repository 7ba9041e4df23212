"""What the demo makes of its runs: numbers of each repeat, comparisons, report.html and report.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from overlap_lab.analyze import analyze
from overlap_lab.cli.demo_workload import Recorded, Target
from overlap_lab.compare import Comparison, compare
from overlap_lab.errors import UsageError
from overlap_lab.loaders import load
from overlap_lab.render.numbers import blocked_split
from overlap_lab.report import Column, Report, Table
from overlap_lab.units import format_ns
from overlap_lab.whole_file import write_whole

if TYPE_CHECKING:
    from overlap_lab.render.html import PageSection

__all__ = ["SCHEMA", "DemoRun", "compared", "doubts_of", "repeats_table", "write_json", "write_page"]

SCHEMA = "overlap_lab.demo/1"

_REPEAT_COLUMNS = (
    Column("mode", "text"),
    Column("run", "count"),
    Column("window", "ns"),
    Column("device idle", "ns"),
    Column("blocked but for the final wait", "ns"),
    Column("drains", "count"),
)


@dataclass(frozen=True, slots=True, eq=False)
class DemoRun:
    """One run of one mode, with the numbers that the table of repeats shows."""

    capture: Recorded
    window_ns: int
    idle_ns: int
    blocked_ns: int
    """Host time in waits, without the terminal one."""
    drains: int

    @classmethod
    def of(cls, capture: Recorded, scratch: Path) -> DemoRun:
        """Measure a capture the way everybody does: from a file."""
        report = analyze(load(capture.write(scratch)))
        scratch.unlink()
        return cls(
            capture,
            window_ns=_integer(report, "device/window"),
            idle_ns=_integer(report, "device/idle"),
            blocked_ns=blocked_but_terminal_ns(report),
            drains=_integer(report, "drain/count"),
        )


def blocked_but_terminal_ns(report: Report) -> int:
    """Host time in waits, without the waits that end the device's work."""
    split = blocked_split(report)
    if split is None:
        raise UsageError("the report keeps no waits: final ones cannot be told apart")
    return split[0]


def compared(reports: Mapping[str, Report], doubts: Mapping[str, str]) -> list[tuple[str, Comparison]]:
    """Every mode against every later one, each with its doubt as the first of its notes."""
    found = [(_pair(a, b), compare(reports[a], reports[b])) for a, b in combinations(reports, 2)]
    return [
        (pair, replace(one, notes=(doubts[pair], *one.notes)) if pair in doubts else one)
        for pair, one in found
    ]


def doubts_of(runs: Mapping[str, Sequence[DemoRun]]) -> dict[str, str]:
    """Why all runs do not say which of two modes is faster, for the pairs whose windows overlap."""
    windows = {mode: sorted(run.window_ns for run in of_mode) for mode, of_mode in runs.items()}
    return {
        _pair(
            a, b
        ): f"UNDECIDED which is faster: all runs took {_span(windows[a])} against {_span(windows[b])}"
        for a, b in combinations(windows, 2)
        if windows[a][0] <= windows[b][-1] and windows[b][0] <= windows[a][-1]
    }


def _pair(baseline: str, candidate: str) -> str:
    return f"{baseline} -> {candidate}"


def _span(windows_ns: Sequence[int]) -> str:
    return f"{format_ns(windows_ns[0])} to {format_ns(windows_ns[-1])}"


def repeats_table(runs: Mapping[str, Sequence[DemoRun]]) -> Table:
    """One row a run, so that a reader sees the spread that one trace cannot show."""
    rows = [
        (mode, number, run.window_ns, run.idle_ns, run.blocked_ns, run.drains)
        for mode, of_mode in runs.items()
        for number, run in enumerate(of_mode, start=1)
    ]
    return Table(_REPEAT_COLUMNS, tuple(rows), "All runs, in turns")


def write_page(
    path: Path,
    sections: Sequence[PageSection],
    comparisons: Sequence[tuple[str, Comparison]],
    repeats: Table,
    target: Target,
) -> None:
    from overlap_lab.render.html import write_report_page

    where = "the CPU host target (threads, not a GPU)" if target is Target.HOST else "a GPU"

    write_report_page(
        path,
        sections,
        title="One backward, three ways to prepare its workspace",
        introduction=(
            f"The FMHA backward in group mode on {where}: sync reads the sequence borders with blocking "
            "copies, async prepares the workspace in stream order, device does it with a kernel."
        ),
        comparisons=comparisons,
        tables=[repeats],
    )


def write_json(
    path: Path,
    reports: Mapping[str, Report],
    comparisons: Sequence[tuple[str, Comparison]],
    repeats: Table,
) -> None:
    """The reports exactly as `overlap-lab analyze FILES --json` has them, and what only the demo knows."""
    from overlap_lab.render.compare_json import comparison_to_json
    from overlap_lab.render.json import reports_to_json

    document = json.loads(reports_to_json(list(reports.values())))
    listed = document["reports"] if len(reports) > 1 else [document]
    whole = {
        "schema": SCHEMA,
        "modes": list(reports),
        "reports": listed,
        "comparisons": [
            {"title": title, **json.loads(comparison_to_json(comparison))}
            for title, comparison in comparisons
        ],
        "repeats": {
            "columns": [{"name": column.name, "unit": column.unit} for column in repeats.columns],
            "rows": [list(row) for row in repeats.rows],
        },
    }
    write_whole(path, json.dumps(whole, indent=1) + "\n")


def _integer(report: Report, tag: str) -> int:
    return int(report.value(tag) or 0)
