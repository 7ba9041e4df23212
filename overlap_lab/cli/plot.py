"""Draw a figure of a trace, of two traces, or of a measurement, to a file.

  overlap-lab plot timeline trace.json.gz -o timeline.html
  overlap-lab plot timeline before.json.gz after.json.gz --align "ProfilerStep#3" -o both.html
  overlap-lab plot idle_by_cause results.db -o idle.png
  overlap-lab plot comparison before after -o comparison.svg
  overlap-lab plot overhead docs/benchmarks/h200.json -o overhead.html

A timeline as .html holds every op, to be zoomed to; with --window, and as a picture, it is a fixed figure.

The end of the file's name decides the format: .html opens in any browser, offline; .png and .svg need
pip install 'overlap_lab[pictures]' and a Chrome or Chromium.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from overlap_lab.cli.files import refuse_to_overwrite, say_written
from overlap_lab.cli.reports import runs_at
from overlap_lab.cli.window import parse_window
from overlap_lab.errors import UsageError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from overlap_lab.report import Report
    from overlap_lab.trace import Trace

__all__ = ["prepare_parser", "run"]

_One = TypeVar("_One")
_OF_ONE: Final = ("blocked", "drains", "idle_by_cause", "steps")
_OF_TRACE: Final = ("run_ahead", "queue_depth", "launch_latency")
KINDS: Final = ("timeline", *_OF_ONE, *_OF_TRACE, "comparison", "overhead")


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("paths", metavar="TRACE", nargs="+", help="a trace, or a report of analyze --json")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="FILE.html, FILE.png or FILE.svg"
    )
    parser.add_argument("--window", metavar="A:B", help="timeline: draw from A to B, as 1ms:2.5ms")
    parser.add_argument("--align", metavar="NAME", help="timeline: a range, op or call that starts at time 0")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(arguments: argparse.Namespace) -> int:
    from overlap_lab.plots.picture import check_suffix, write_figure

    suffix = check_suffix(arguments.output)
    refuse_to_overwrite(arguments.output, force=arguments.force, inputs=arguments.paths)
    if arguments.kind == "timeline" and suffix == ".html" and not arguments.window:
        _write_timeline(arguments)
    else:
        write_figure(_figure(arguments), Path(arguments.output))
    say_written(arguments.output)
    return 0


def _write_timeline(arguments: argparse.Namespace) -> None:
    """The page that holds every op, and follows the browser's own theme."""
    from overlap_lab.render.html_timeline import TimelinePanel, aligned_zero_ns, write_timeline_page

    panels = []
    for path in arguments.paths:
        for one in runs_at([path]):
            trace = _trace(one, "timeline")
            zero_ns = aligned_zero_ns(trace, arguments.align) if arguments.align else None
            panels.append(TimelinePanel(Path(path).name, trace, zero_ns=zero_ns))
    try:
        write_timeline_page(Path(arguments.output), *panels)
    except OSError as error:
        raise UsageError(f"{arguments.output}: cannot be written: {error.strerror or error}") from None


def _figure(arguments: argparse.Namespace) -> go.Figure:
    from overlap_lab import plots

    kind, theme = arguments.kind, arguments.theme
    if kind != "timeline" and (arguments.window or arguments.align):
        raise UsageError(f"plot: --window and --align are for the timeline, not for {kind}")
    if kind == "overhead":
        return plots.overhead(_only(arguments.paths, kind), theme=theme)
    if kind == "comparison":
        return _comparison(arguments.paths, theme)
    if kind != "timeline":
        _only(arguments.paths, kind)  # before traces are read for nothing
    runs = runs_at(arguments.paths)
    if kind == "timeline":
        return plots.timeline(
            *(_trace(one, kind) for one in runs),
            window=_window(arguments.window),
            align=arguments.align,
            theme=theme,
        )
    draw: Callable[..., go.Figure] = getattr(plots, kind)
    if len(runs) > 1:
        from overlap_lab.plots.runs import title_of

        names = ", ".join(map(title_of, runs[:8])) + (", ..." if len(runs) > 8 else "")
        raise UsageError(f"{arguments.paths[0]}: holds {len(runs)} traces; give one of them: {names}")
    [one] = runs
    return draw(_trace(one, kind) if kind in _OF_TRACE else one, theme=theme)


def _comparison(paths: list[str], theme: str) -> go.Figure:
    from overlap_lab import compare, plots

    if len(paths) != 2:
        raise UsageError("plot comparison: give two: the baseline and the candidate")
    return plots.comparison(compare(*(runs_at([path]) for path in paths)), theme=theme)


def _only(given: list[_One], kind: str) -> _One:
    if len(given) != 1:
        raise UsageError(f"plot {kind}: takes one, not {len(given)}")
    return given[0]


def _trace(run: Report | Trace, kind: str) -> Trace:
    from overlap_lab.trace import Trace

    if not isinstance(run, Trace):
        raise UsageError(f"plot {kind}: needs the trace itself; a report keeps no single events")
    return run


def _window(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    first, last = parse_window(given)
    if last is None:
        raise UsageError("plot timeline: a window needs an end, as in 1ms:2ms")
    return first or 0, last
