"""Write one HTML file that says what blocks, what it costs and what to do, with a timeline of every op.

  overlap-lab report trace.json.gz
  overlap-lab report run_folder -o report.html
  overlap-lab report before.json.gz after.json.gz --align "ProfilerStep#3" -o both.html

TRACE is a trace or a folder with one; with two, the first is the baseline, and the page says what changed.
The page opens in any browser, offline, and can be sent as it is: it holds names of kernels, files and lines.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from overlap_lab.cli.files import only_input, refuse_to_overwrite, say_written
from overlap_lab.cli.progress import waiting_for
from overlap_lab.errors import UsageError

if TYPE_CHECKING:
    from overlap_lab.compare import Comparison
    from overlap_lab.loaders import TraceInput
    from overlap_lab.render.html import PageSection

__all__ = ["prepare_parser", "run"]


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="TRACE", help="a trace file, or a folder with one trace")
    parser.add_argument("candidate", metavar="B", nargs="?", help="a second trace, held against the first")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help="(default %(default)s)")
    parser.add_argument(
        "--align", metavar="NAME", help="a range, op or call whose start lies at time 0 of the timeline"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.render.costs import costs_of
    from overlap_lab.render.headline import headline
    from overlap_lab.render.html import write_report_page

    paths = [path for path in (arguments.path, arguments.candidate) if path is not None]
    refuse_to_overwrite(arguments.output, force=arguments.force, inputs=paths)
    inputs = [only_input(path) for path in paths]
    titles = _titles([str(one.path) for one in inputs])
    sections = [_section(one, title, arguments.align) for one, title in zip(inputs, titles, strict=True)]
    try:
        write_report_page(
            Path(arguments.output),
            sections,
            title=" against ".join(reversed(titles)),
            introduction="What blocks the host, what that costs the device, and what to do about it.",
            comparisons=_comparisons(sections),
        )
    except OSError as error:
        raise UsageError(f"{arguments.output}: cannot be written: {error.strerror or error}") from error
    said = []
    for section in sections:
        found = headline(section.report, section.costs or costs_of(section.report, section.context))
        said.append(f"{section.title}: {' '.join(found.sentences)}")
    say_written(arguments.output, *said)
    return 0


def _titles(paths: list[str]) -> list[str]:
    """The files' names, or as much of their paths as tells them apart."""
    names = [Path(path).name or path for path in paths]
    if len(set(names)) == len(names):
        return names
    longer = [str(Path(path).parent.name + "/" + Path(path).name) for path in paths]
    return longer if len(set(longer)) == len(longer) else [f"A: {names[0]}", f"B: {names[1]}"]


def _section(found: TraceInput, title: str, align: str | None) -> PageSection:
    from overlap_lab.analyze import report_and_context
    from overlap_lab.loaders import load
    from overlap_lab.render.costs import costs_of
    from overlap_lab.render.html import PageSection
    from overlap_lab.render.html_timeline import aligned_zero_ns

    with waiting_for(found.files) as meter:
        trace = load(found)
        meter.now(f"analyzing {len(trace):,} rows of")
        zero_ns = aligned_zero_ns(trace, align) if align else None
        report, context = report_and_context(trace, steps=True)
        costs = costs_of(report, context)
    return PageSection(title, trace, report, context, zero_ns, costs)


def _comparisons(sections: list[PageSection]) -> list[tuple[str, Comparison]]:
    """What the second trace changed, by its steps where both have enough of them."""
    from overlap_lab.compare import compare

    if len(sections) < 2:
        return []
    baseline, candidate = sections
    title = f"{baseline.title} -> {candidate.title}"
    return [(title, compare([baseline.trace], [candidate.trace]))]
