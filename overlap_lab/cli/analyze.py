"""Say what blocks the host, what it costs the device, and where.

PATH is a trace or a folder with traces: rocprofv3 CSV or rocpd, PyTorch profiler JSON, and the other formats
that `overlap_lab.load` reads; the content decides, not the name.

  overlap-lab analyze trace.json.gz
  overlap-lab analyze run_folder --window 1ms:2.5ms
  overlap-lab analyze sync_folder async_folder --json -

A window is given in time after the trace's first record, as the tables and the timeline count; either side
may be left open, as in 1ms: or :2.5ms. It clips what is measured, and is printed with the result.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from overlap_lab.cli.files import (
    STDOUT,
    add_output_arguments,
    refuse_to_overwrite,
    stdout_or_path,
    write_text,
)
from overlap_lab.cli.reports import reports_of
from overlap_lab.cli.screen import colour_of, width_of
from overlap_lab.cli.window import parse_window
from overlap_lab.report import Report

if TYPE_CHECKING:
    from overlap_lab.render.costs import Costs

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a trace file, or a folder with traces")
    parser.add_argument(
        "--window", metavar="A:B", help="measure only from A to B, as 1ms:2.5ms, 1ms: or :2.5ms"
    )
    parser.add_argument("--steps", action="store_true", help="add a table with the numbers of each step")
    add_output_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    arguments.json = stdout_or_path(arguments.json)
    refuse_to_overwrite(arguments.json, force=arguments.force, inputs=arguments.paths)
    window = None if arguments.window is None else parse_window(arguments.window)
    is_shown = arguments.json != STDOUT
    analyzed = list(reports_of(arguments.paths, window=window, steps=arguments.steps, with_costs=is_shown))
    if is_shown:
        _show(analyzed)
    if arguments.json is not None:
        from overlap_lab.render.json import reports_to_json

        write_text(arguments.json, reports_to_json([report for report, _ in analyzed]), force=arguments.force)
    return 0


def _show(analyzed: list[tuple[Report, Costs | None]]) -> None:
    from overlap_lab.render.text import report_text

    width, colour = width_of(sys.stdout), colour_of(sys.stdout)
    texts = [report_text(report, width=width, colour=colour, costs=costs) for report, costs in analyzed]
    print("\n\n".join(texts))
