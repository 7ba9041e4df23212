"""Put two runs side by side: what differs, which way, and where the window's difference comes from.

BASELINE and CANDIDATE are traces, or reports that `overlap-lab analyze --json FILE` wrote.

  overlap-lab compare sync_folder async_folder
  overlap-lab compare report_before.json report_after.json --json comparison.json

With one run a side the differences are exact and say nothing about chance: each is marked "single run".
"""

from __future__ import annotations

import argparse
import sys

from overlap_lab.cli.files import STDOUT, add_output_arguments, refuse_to_overwrite, write_text
from overlap_lab.cli.reports import report_at
from overlap_lab.cli.screen import colour_of, width_of

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "baseline", metavar="BASELINE", help="the run to compare with: a trace or a report.json"
    )
    parser.add_argument("candidate", metavar="CANDIDATE", help="the run to judge: a trace or a report.json")
    parser.add_argument("--full", action="store_true", help="list also what is the same on both sides")
    add_output_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.compare import compare

    refuse_to_overwrite(arguments.json, force=arguments.force)
    baseline, candidate = report_at(arguments.baseline), report_at(arguments.candidate)
    comparison = compare(baseline, candidate)
    if arguments.json != STDOUT:
        from overlap_lab.render.compare_text import comparison_text

        screen = sys.stdout
        print(
            comparison_text(
                comparison,
                verdicts=(baseline.verdict, candidate.verdict),
                width=width_of(screen),
                colour=colour_of(screen),
                full=arguments.full,
            )
        )
    if arguments.json is not None:
        from overlap_lab.render.compare_json import comparison_to_json

        write_text(arguments.json, comparison_to_json(comparison), force=arguments.force)
    return 0
