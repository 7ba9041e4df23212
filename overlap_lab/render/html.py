"""The report as one HTML file that opens without a network: verdicts, what to do, timeline, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from overlap_lab.compare import Comparison
from overlap_lab.metrics.context import Context
from overlap_lab.render.costs import Costs, costs_of
from overlap_lab.render.html_costs import cost_list
from overlap_lab.render.html_glance import Glance, glance
from overlap_lab.render.html_page import html_page
from overlap_lab.render.html_pair import change_cards
from overlap_lab.render.html_parts import element, sentence, table, text
from overlap_lab.render.html_sections import (
    changes,
    details,
    meanings,
    provenance,
    together,
    where_time_goes,
)
from overlap_lab.render.html_timeline import (
    TIMELINE_SCRIPTS,
    TimelinePanel,
    timeline_markup,
    timeline_text_of,
)
from overlap_lab.report import Report, Table
from overlap_lab.trace import Trace
from overlap_lab.whole_file import write_whole

__all__ = ["PageSection", "report_page", "write_report_page"]


@dataclass(frozen=True, slots=True, eq=False)
class PageSection:
    """One trace of the page, under the name that people know it by (a mode, a file, a rank).

    `context` is what `report_and_context` returned beside the report; without, the trace is measured once
    more for its timeline. `costs` is what `costs_of` returns for both. `zero_ns` is the moment of its clock
    that lies at 0 of the timeline's axis.
    """

    title: str
    trace: Trace
    report: Report
    context: Context | None = None
    zero_ns: int | None = None
    costs: Costs | None = None


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
    The page loads nothing: styles, scripts and data are inside, and its policy forbids everything else.
    """
    from overlap_lab.analyze import report_and_context

    contexts = [one.context or report_and_context(one.trace)[1] for one in sections]
    reports = [(section.title, section.report) for section in sections]
    shown = [_glance(section, context) for section, context in zip(sections, contexts, strict=True)]
    body = [
        element(
            "header", element("h1", sentence(title)), element("p", sentence(introduction), class_="soft")
        ),
        change_cards(comparisons, shown),
        glance(shown),
        *_acts(shown, contexts),
        where_time_goes(reports),
        *_timeline(sections, contexts),
        together(reports),
        changes(comparisons),
        *(table(one) for one in tables),
        *(details(name, report, is_open=len(reports) == 1) for name, report in reports),
        meanings(),
        provenance(reports),
    ]
    scripts = (*TIMELINE_SCRIPTS, "page.js")
    return html_page(title, body, styles=("page.css", "timeline.css"), scripts=scripts)


def _glance(section: PageSection, context: Context) -> Glance:
    first = int(section.trace.start_ns[0]) if len(section.trace) else 0
    zero_ns = 0 if section.zero_ns is None else section.zero_ns - first
    return Glance(section.title, section.report, section.costs or costs_of(section.report, context), zero_ns)


def _acts(shown: Sequence[Glance], contexts: Sequence[Context]) -> list[str]:
    words = (
        "Everything that costs device time, the costliest first, whatever the cause; then waits that only "
        "block the host."
    )
    lists = (
        cost_list(one.title, one.costs, context, zero_ns=one.zero_ns, headed=len(shown) > 1)
        for one, context in zip(shown, contexts, strict=True)
    )
    return [
        element("h2", "What costs device time, and what to do"),
        element("p", words, class_="soft"),
        *lists,
    ]


def _timeline(sections: Sequence[PageSection], contexts: Sequence[Context]) -> list[str]:
    panels = [
        TimelinePanel(section.title, section.trace, context, section.zero_ns)
        for section, context in zip(sections, contexts, strict=True)
    ]
    aligned = any(section.zero_ns is not None for section in sections)
    start = "is aligned as asked for" if aligned else "starts at its own first record"
    words = element("p", text(f"All traces share the axis; each {start}."), class_="soft")
    return [
        element("h2", "Timeline"),
        words if len(sections) > 1 else "",
        timeline_markup(timeline_text_of(panels)),
    ]
