"""Report -> text that a person reads in ten seconds: the verdict, then busy and idle, then the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from overlap_lab.render.aligned import aligned
from overlap_lab.render.costs import Costs, costs_of
from overlap_lab.render.detail_tables import detail_tables
from overlap_lab.render.headline import cost_words, headline, regained_sentences
from overlap_lab.render.lines import Line, Style, printed, wrapped
from overlap_lab.render.names import printable
from overlap_lab.render.summary import device_table, host_table
from overlap_lab.render.verdict import verdict
from overlap_lab.report import Finding, Report, Severity, Table

__all__ = ["report_text"]

_MOST_ROWS: Final = 8
_MOST_FINDINGS: Final = 20


def report_text(report: Report, *, width: int = 120, colour: bool = False, costs: Costs | None = None) -> str:
    """The report without a final line break; no escape code in it unless `colour`.

    `costs` are those of the report with its context, which names what the host did; else the report's own.
    """
    lines = [_head(report), *wrapped(verdict(report), width)]
    lines += wrapped(_advice(report, costs_of(report, None) if costs is None else costs), width)
    lines += wrapped(_warnings(report), width)
    for table in (device_table(report), host_table(report), *detail_tables(report)):
        lines += _table_lines(table, width)
    lines += wrapped(_notes(report), width)
    return printed(lines, colour=colour)


def _head(report: Report) -> Line:
    """What was read: files, format, tool."""
    source = report.source
    files = source.get("files")
    names = [str(name) for name in files] if isinstance(files, (list, tuple)) else []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    parts = [f"{names[0]}{more}" if names else "", str(source.get("format", "")), str(source.get("tool", ""))]
    return Line(printable(" | ".join(part for part in parts if part)), Style.DIM)


def _table_lines(table: Table, width: int) -> Iterator[Line]:
    """A blank line, the title, and the first rows; a line says how many are left out."""
    if not table.rows:
        return
    shown = Table(table.columns, table.rows[:_MOST_ROWS], table.title)
    yield Line("")
    yield Line(table.title, Style.HEADING)
    head, *rows = aligned(shown, width=width)
    yield Line(head, Style.DIM)
    yield from map(Line, rows)
    hidden = len(table.rows) - len(shown.rows)
    if hidden:
        yield Line(f"... and {hidden:,} more of {len(table.rows):,} (all of them with --json)", Style.DIM)


def _advice(report: Report, costs: Costs) -> Iterator[Line]:
    """The costliest thing over all causes, the odd device, and what to do about both."""
    said = headline(report, costs)
    first = said.first
    top = costs.found[0] if costs.found and costs.found[0].device_ns else first
    if top is not None:
        yield Line(f"costliest: {cost_words(top, costs)}")
    yield from map(Line, regained_sentences(costs))
    if said.odd is not None:
        yield Line(printable(said.odd.said))
        yield Line(f"try first: {said.odd.advice}")
    if first is not None and first.advice is not None:
        about = "" if first is top else f" ({cost_words(first, costs)})"
        yield Line(f"{'then' if said.odd else 'try first'}: {first.advice.advice}{about}")
    if said.then is not None and said.then.advice is not None:
        yield Line(f"then: {said.then.advice.advice} ({cost_words(said.then, costs)})")


def _warnings(report: Report) -> Iterator[Line]:
    """What is wrong with the trace or the run, before the tables that it touches."""
    found = [finding for finding in _rest(report) if finding.severity is not Severity.INFO]
    for finding in found[:_MOST_FINDINGS]:
        yield Line(f"{finding.severity}: {printable(finding.title)}", Style.WARNING)
    hidden = len(found) - _MOST_FINDINGS
    if hidden > 0:
        yield Line(f"... and {hidden:,} more findings (all of them with --json)", Style.DIM)


def _rest(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule != "verdict"]


def _notes(report: Report) -> Iterator[Line]:
    """The remarks after the verdict, then the loader's notes."""
    rest = [finding for finding in _rest(report) if finding.severity is Severity.INFO]
    notes = report.source.get("notes")
    told = [str(note) for note in notes] if isinstance(notes, (list, tuple)) else []
    if rest or told:
        yield Line("")
    for finding in rest[:_MOST_FINDINGS]:
        yield Line(f"{finding.severity}: {printable(finding.title)}")
    hidden = len(rest) - _MOST_FINDINGS
    if hidden > 0:
        yield Line(f"... and {hidden:,} more findings (all of them with --json)", Style.DIM)
    yield from (Line(f"note: {printable(note)}", Style.DIM) for note in told)
