"""Run one backward through its three workspace modes, trace each, measure, compare and show.

The FMHA backward of N layers runs on one stream, of the CPU host target or of a GPU, whichever hip_ext was
built for: sync reads the sequence borders with blocking copies, async prepares the workspace in stream order,
device prepares it with a kernel. The modes take turns, so that what else the machine does meets all of them;
the trace of each mode's median run is kept. Where the windows of all runs overlap, it says UNDECIDED.

  overlap-lab demo
  overlap-lab demo --modes sync,async --layers 8 --repeats 10 --out results
  overlap-lab demo --target cuda

Writes trace_MODE.db (rocpd; a GPU: trace_MODE.json.gz, by torch.profiler), report.html and report.json into
the folder of --out; what it prints is what `overlap-lab analyze` says of these files. Without plotly there is
no page.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from overlap_lab.cli.demo_results import (
    DemoRun,
    compared,
    doubts_of,
    repeats_table,
    write_json,
    write_page,
)
from overlap_lab.cli.demo_workload import BackwardLoop, Mode, Shape, Target, built_target
from overlap_lab.cli.screen import colour_of, width_of
from overlap_lab.compare import Comparison
from overlap_lab.errors import UsageError
from overlap_lab.report import Report, Table
from overlap_lab.whole_file import cleaned_up

__all__ = ["prepare_parser", "run"]

Named = tuple[str, Comparison]

_MOST_LAYERS = 200
_MOST_REPEATS = 100


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    every = ",".join(Mode)
    parser.add_argument("--modes", default=every, help=f"which modes, with commas between (default {every})")
    parser.add_argument(
        "--target", choices=["auto", *Target], default="auto", help="refused where hip_ext has another"
    )
    parser.add_argument("--layers", type=int, default=4, help="backward calls a run (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs a mode (default %(default)s)")
    parser.add_argument(
        "--out", metavar="DIR", default="demo_out", help="folder to write (default %(default)s)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the files of an earlier demo in DIR")


def run(arguments: argparse.Namespace) -> int:
    modes = _modes(arguments.modes)
    _check_count("--layers", arguments.layers, _MOST_LAYERS)
    _check_count("--repeats", arguments.repeats, _MOST_REPEATS)
    target = _target(arguments.target)
    folder = _folder(arguments.out, modes, target, force=arguments.force)
    runs = _measure(modes, arguments.layers, arguments.repeats, target)
    for mode, repeats in runs.items():
        repeats.median.capture.write(folder / _trace_name(mode, target), force=True)
    _show(folder, runs, target)
    return 0


class _Repeats:
    """All runs of one mode; the median one, by its device window, stands for the mode."""

    def __init__(self, runs: list[DemoRun]) -> None:
        self.runs = runs
        self.median = sorted(runs, key=lambda run: run.window_ns)[(len(runs) - 1) // 2]


def _measure(modes: tuple[Mode, ...], layers: int, repeats: int, target: Target) -> dict[Mode, _Repeats]:
    shape = Shape.on(target)
    _progress(f"{layers} layers: {shape}; {repeats} runs a mode, taking turns")
    loop = BackwardLoop(layers, shape, target)
    loop.warm_up(modes)
    runs: dict[Mode, list[DemoRun]] = {mode: [] for mode in modes}
    for _ in range(repeats):
        for mode in modes:
            recorded = loop.record(mode)
            with cleaned_up(), tempfile.TemporaryDirectory(prefix="overlap_lab_demo_") as scratch:
                runs[mode].append(DemoRun.of(recorded, Path(scratch) / f"run{target.suffix}"))
    return {mode: _Repeats(of_mode) for mode, of_mode in runs.items()}


def _show(folder: Path, runs: dict[Mode, _Repeats], target: Target) -> None:
    """Print and write what the files on disk say, not what is in memory: anybody can do it again."""
    from overlap_lab.analyze import analyze
    from overlap_lab.loaders import load
    from overlap_lab.render.html import PageSection

    sections = []
    for mode in runs:
        trace = load(folder / _trace_name(mode, target))
        sections.append(PageSection(mode.value, trace, analyze(trace)))
    reports = {section.title: section.report for section in sections}
    every_run = {mode.value: of_mode.runs for mode, of_mode in runs.items()}
    doubts = doubts_of(every_run)
    comparisons = compared(reports, doubts)
    repeats = repeats_table(every_run)
    _print_summary(reports, comparisons, doubts, repeats)
    written = [*(_trace_name(mode, target) for mode in runs), "report.json"]
    write_json(folder / "report.json", reports, comparisons, repeats)
    if find_spec("plotly") is None:
        print("no report.html: it needs plotly (pip install plotly)")
    else:
        write_page(folder / "report.html", sections, comparisons, repeats, target)
        written.insert(-1, "report.html")
    print(f"wrote {', '.join(str(folder / name) for name in written)}")


def _print_summary(
    reports: dict[str, Report], comparisons: list[Named], doubts: dict[str, str], repeats: Table
) -> None:
    from overlap_lab.render.aligned import aligned
    from overlap_lab.render.compare_text import explained
    from overlap_lab.render.lines import printed
    from overlap_lab.render.side_by_side import side_by_side
    from overlap_lab.render.verdict import verdict

    width, colour = width_of(sys.stdout), colour_of(sys.stdout)
    for name, report in reports.items():
        print(f"\n{name}\n{printed(verdict(report), colour=colour)}")
    print("\nThe median run of each mode, side by side")
    print("\n".join(aligned(side_by_side(list(reports.items())), width=width, right=set(reports))))
    if comparisons:
        print("\nWhere the difference of the windows comes from")
    for title, comparison in comparisons:
        for explanation in comparison.explanations:
            print(f"{title}: {explained(explanation)}")
        if title in doubts:
            print(f"  {doubts[title]}")
    print(f"\n{repeats.title}")
    print("\n".join(aligned(repeats, width=width)))
    print("\nDetails: overlap-lab analyze FILE, overlap-lab compare FILE FILE, and the page")


def _trace_name(mode: Mode, target: Target) -> str:
    return f"trace_{mode}{target.suffix}"


def _target(name: str) -> Target:
    built = built_target()
    if name not in ("auto", built):
        raise UsageError(
            f"--target {name}: hip_ext is built for {built}; build it with HIP_EXT_TARGET={name}"
        )
    return built


def _modes(text: str) -> tuple[Mode, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Mode)]
    if unknown or not names:
        wrong = f"{', '.join(map(repr, unknown))} is no mode" if unknown else "no mode given"
        raise UsageError(f"--modes {text!r}: {wrong}; choose from {', '.join(Mode)}")
    return tuple(dict.fromkeys(Mode(name) for name in names))


def _check_count(option: str, count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise UsageError(f"{option} {count}: give a number from 1 to {most}")


def _folder(out: str, modes: tuple[Mode, ...], target: Target, *, force: bool) -> Path:
    if not out:  # an unset variable of a script must not mean the current folder
        raise UsageError("--out is empty; name the folder to write in")
    folder = Path(out)
    names = [*(_trace_name(mode, target) for mode in modes), "report.html", "report.json"]
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{folder}: {there[0]} exists; add --force to overwrite it, or name another --out")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder}: permission denied; name a folder to write in with --out")
    return folder


def _progress(line: str) -> None:
    print(line, file=sys.stderr)
