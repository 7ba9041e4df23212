"""The report as one HTML file that opens without a network: verdicts, timeline, tables, what they mean."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from overlap_lab.compare import Comparison
from overlap_lab.render.html_parts import element, table, text
from overlap_lab.render.html_sections import (
    changes,
    details,
    glance,
    meanings,
    provenance,
    together,
    where_time_goes,
)
from overlap_lab.report import Report, Table
from overlap_lab.trace import Trace
from overlap_lab.whole_file import write_whole

__all__ = ["PageSection", "report_page", "write_report_page"]

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
{body}
<script type="application/json" id="figure">{figure}</script>
<script>{plotly}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, eq=False)
class PageSection:
    """One trace of the page, under the name that people know it by (a mode, a file, a rank)."""

    title: str
    trace: Trace
    report: Report


def write_report_page(
    path: Path,
    sections: Sequence[PageSection],
    *,
    title: str,
    introduction: str = "",
    comparisons: Sequence[tuple[str, Comparison]] = (),
    tables: Sequence[Table] = (),
) -> None:
    """Write `report_page(...)` to `path`, replacing what is there."""
    page = report_page(
        sections, title=title, introduction=introduction, comparisons=comparisons, tables=tables
    )
    write_whole(path, page)


def report_page(
    sections: Sequence[PageSection],
    *,
    title: str,
    introduction: str = "",
    comparisons: Sequence[tuple[str, Comparison]] = (),
    tables: Sequence[Table] = (),
) -> str:
    """The page: sections under each other on one time axis, in the order given.

    `introduction` is a sentence of plain text; a comparison comes with its heading: ("sync -> async", ...).
    The page loads nothing: style, figure and plotly are inside, and its policy forbids everything else.
    """
    reports = [(section.title, section.report) for section in sections]
    body = [
        element("header", element("h1", text(title)), element("p", text(introduction), class_="soft")),
        glance(reports),
        where_time_goes(reports),
        _timeline_place(),
        together(reports),
        changes(comparisons),
        *(table(one) for one in tables),
        *(details(name, report, is_open=len(reports) == 1) for name, report in reports),
        meanings(),
        provenance(reports),
    ]
    plotly, script = _plotly(), _resource("page.js")
    return _PAGE.format(
        policy=_policy(plotly, script),
        title=text(title),
        css=_resource("page.css"),
        body="\n".join(part for part in body if part),
        figure=_figure(sections),
        plotly=plotly,
        script=script,
    )


def _timeline_place() -> str:
    words = (
        "Drag over a stretch of time to zoom, double-click to come back, click a legend entry to hide it. "
        "All traces share the axis; each starts at its own first record."
    )
    missing = element(
        "noscript", element("p", "The timeline needs JavaScript; all numbers are in the tables.")
    )
    return (
        element("h2", "Timeline")
        + element("p", words, class_="soft")
        + missing
        + element("div", id="timeline", role="img", aria_label="Host calls, waits, device ops and idle time")
    )


def _figure(sections: Sequence[PageSection]) -> str:
    """The figure as JSON that cannot end its script element: `<` only occurs as an escape in strings."""
    from overlap_lab.plots.timeline_figure import Panel, timeline

    figure = timeline(*(Panel(section.title, section.trace, section.report) for section in sections))
    plain: str = figure.to_json()
    return plain.replace("<", "\\u003c")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    library: str = get_plotlyjs()
    return library.replace("</script", "<\\/script")


def _resource(name: str) -> str:
    return files("overlap_lab.render").joinpath(name).read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    """Only these very scripts may run, and nothing may be fetched.

    plotly sets styles from script, hence 'unsafe-inline' for them; it saves pictures through data: and blob:.
    """
    allowed = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
