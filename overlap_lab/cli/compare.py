"""Hold a candidate against a baseline: what differs, which way, whether chance explains it, and why.

A side is a trace, a report that `overlap-lab analyze --json FILE` wrote, or a folder that holds several
repeats of one run; with --baseline and --candidate it is a list of them.

  overlap-lab compare before.db after.db
  overlap-lab compare before after --markdown -
  overlap-lab compare --baseline a1.db a2.db a3.db --candidate b1.db b2.db b3.db
  overlap-lab compare before.json.gz after.json.gz --per range=backward

Where a side has several runs, each is one observation; else each step is, where both traces have 5 or more
(ranges such as ProfilerStep#3 or `step #3`); else the differences are exact and say nothing about chance.
Repeats that took turns by their start times (A B A B) are compared in pairs, which finds the smallest
changes. The verdict is BETTER, WORSE, SAME, UNDECIDED or INCOMPARABLE, with its reason; the exit code is 0
for all of them.
"""

from __future__ import annotations

import argparse
import sys

from overlap_lab.cli.files import (
    STDOUT,
    add_output_arguments,
    refuse_one_file_twice,
    refuse_to_overwrite,
    stdout_or_path,
    write_text,
)
from overlap_lab.cli.reports import runs_at
from overlap_lab.cli.screen import colour_of, width_of
from overlap_lab.errors import UsageError

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="the baseline, then the candidate")
    parser.add_argument("--baseline", metavar="PATH", nargs="+", default=[], help="repeats of the baseline")
    parser.add_argument("--candidate", metavar="PATH", nargs="+", default=[], help="repeats of the candidate")
    parser.add_argument(
        "--per",
        metavar="UNIT",
        default="auto",
        help="what one observation is: step, range=NAME, repeat, run, or auto (default)",
    )
    parser.add_argument(
        "--paired", action="store_true", help="hold each observation against the other side's of that number"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default %(default)s)")
    parser.add_argument(
        "--confidence", type=float, default=95.0, help="of intervals and tests, in %% (default %(default)g)"
    )
    parser.add_argument(
        "--force-comparable", action="store_true", help="compare across machines, drivers, tools and programs"
    )
    parser.add_argument("--full", action="store_true", help="list also what is the same on both sides")
    parser.add_argument(
        "--markdown",
        metavar="FILE",
        help="write it for a review comment; with - only that, to standard output",
    )
    add_output_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.compare import compare

    arguments.json, arguments.markdown = map(stdout_or_path, (arguments.json, arguments.markdown))
    if arguments.json == STDOUT and arguments.markdown == STDOUT:
        raise UsageError("--json - and --markdown -: only one of them can have standard output")
    refuse_one_file_twice(path for path in (arguments.json, arguments.markdown) if path is not None)
    sides = _sides(arguments)
    for path in (arguments.json, arguments.markdown):
        refuse_to_overwrite(path, force=arguments.force, inputs=[*sides[0], *sides[1]])
    left, right = map(runs_at, sides)
    per, _, range_name = arguments.per.partition("=")
    comparison = compare(
        left,
        right,
        per=per,
        range_name=range_name or None,
        paired=True if arguments.paired else None,
        seed=arguments.seed,
        confidence=arguments.confidence / 100,
        force_comparable=arguments.force_comparable,
    )
    if STDOUT not in (arguments.json, arguments.markdown):
        from overlap_lab.render.compare_text import comparison_text

        screen = sys.stdout
        print(
            comparison_text(comparison, width=width_of(screen), colour=colour_of(screen), full=arguments.full)
        )
    if arguments.json is not None:
        from overlap_lab.render.compare_json import comparison_to_json

        write_text(arguments.json, comparison_to_json(comparison), force=arguments.force)
    if arguments.markdown is not None:
        from overlap_lab.render.compare_markdown import comparison_to_markdown

        write_text(arguments.markdown, comparison_to_markdown(comparison), force=arguments.force)
    return 0


def _sides(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The paths of the baseline and of the candidate, from either way to name them."""
    if len(arguments.paths) == 2 and not arguments.baseline and not arguments.candidate:
        return [arguments.paths[0]], [arguments.paths[1]]
    if arguments.paths or not arguments.baseline or not arguments.candidate:
        raise UsageError(
            "compare takes two paths, the baseline and the candidate, or --baseline PATH... and "
            "--candidate PATH..."
        )
    return arguments.baseline, arguments.candidate
