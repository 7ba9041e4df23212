"""The parts of the report page between its header and its footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from overlap_lab.compare import Comparison
from overlap_lab.plots.palette import CAUSE_COLOURS, COLOURS
from overlap_lab.render.compare_text import (
    NUMBER_COLUMNS,
    VERDICT_AT,
    comparison_table,
    explained,
    rests_on,
)
from overlap_lab.render.compare_words import attributed, headline_words, most_changed
from overlap_lab.render.detail_tables import collectives_table, detail_tables, waits_table
from overlap_lab.render.html_devices import MOST_THIN_BARS
from overlap_lab.render.html_parts import definitions, element, legend, stacked_bar, table, text
from overlap_lab.render.numbers import Numbers, cut, most_idle
from overlap_lab.render.side_by_side import side_by_side
from overlap_lab.render.summary import device_name, device_table, host_table, idle_causes, quality_table
from overlap_lab.render.terms import CAUSE_WORDS, TERMS
from overlap_lab.render.values import format_value, percent
from overlap_lab.report import Cell, Report
from overlap_lab.schema import Cause

__all__ = ["changes", "details", "meanings", "provenance", "together", "where_time_goes"]

Named = tuple[str, Report]

_LONGEST_BAR: Final = 100.0
"""Percent of the width."""
_MOST_BARS: Final = 32
_MOST_FINDINGS: Final = 50
_MOST_LISTED: Final = 64

_METHODS: Final = (
    "All times are integer nanoseconds of the trace's own clock. Each device op is linked to the call that "
    "enqueued it; a call counts as a wait where the records prove that it waited for device work. Idle time "
    "is split exactly: its causes sum to it. What a trace cannot tell is n/a or unknown, never a guess."
)


def where_time_goes(reports: Sequence[Named]) -> str:
    """A bar for each device, where some report has more than its card draws, on one scale."""
    rows: list[tuple[str, Numbers, Mapping[str, int]]] = []
    hidden = []
    for name, report in reports:
        numbers = Numbers(report)
        devices = numbers.devices()
        shown = most_idle(numbers, devices, _MOST_BARS)
        if len(shown) < len(devices):
            hidden.append(f"{name}: the {len(shown)} of {len(devices):,} devices that idle most are drawn.")
        for device in shown:
            label = name if len(devices) == 1 else f"{name}, {device_name(report, device.get('device'))}"
            rows.append((label, numbers, device))
    longest = max((numbers.count("device/window", device) for _, numbers, device in rows), default=0)
    most = max((len(Numbers(report).devices()) for _, report in reports), default=0)
    if not longest or most <= MOST_THIN_BARS:  # the cards have these bars
        return ""
    seen = {cause for _, numbers, device in rows for cause, _ in idle_causes(numbers, device)}
    keys = [("busy", COLOURS["kernel"]), *((_idle_word(c), CAUSE_COLOURS[c]) for c in Cause if c in seen)]
    bars = (
        element("div", text(label), class_="name") + _window_bar(numbers, device, longest)
        for label, numbers, device in rows
    )
    said = "".join(element("p", text(words), class_="soft") for words in hidden)
    heading = element("h2", "Where the window goes, device by device")
    return heading + element("div", *bars, class_="bars") + legend(keys) + said


def _window_bar(numbers: Numbers, device: Mapping[str, int], longest: int) -> str:
    window = numbers.count("device/window", device)
    parts = [("busy", numbers.count("device/busy", device), COLOURS["kernel"])]
    idle = dict(idle_causes(numbers, device))
    parts += [(_idle_word(cause), idle[cause], CAUSE_COLOURS[cause]) for cause in Cause if cause in idle]
    return stacked_bar(
        (
            (
                f"{word}: {format_value(ns, 'ns')}, {percent(ns, window)} of the window",
                _LONGEST_BAR * ns / longest,
                colour,
            )
            for word, ns, colour in parts
        ),
        total=f"{format_value(window, 'ns')}, {percent(parts[0][1], window)} of it busy",
    )


def _idle_word(cause: Cause) -> str:
    return f"idle: {CAUSE_WORDS[cause]}"


def together(reports: Sequence[Named]) -> str:
    """One table of all reports, where there is more than one."""
    if len(reports) < 2:
        return ""
    names = [name for name, _ in reports]
    return element("h2", "Side by side") + table(side_by_side(reports), right=names)


def changes(comparisons: Sequence[tuple[str, Comparison]]) -> str:
    """Each comparison: the window's difference explained, what is hard to compare, and the measures."""
    if not comparisons:
        return ""
    return element("h2", "What changed") + "".join(_change(heading, one) for heading, one in comparisons)


def _change(heading: str, comparison: Comparison) -> str:
    first = [headline_words(comparison), *attributed(comparison)] if comparison.headline else []
    lines = [element("p", text(words), class_="explained") for words in first]
    explanations, more = most_changed(comparison)
    lines += [element("p", text(explained(one)), class_="explained") for one in explanations]
    lines += [element("p", text(words), class_="soft") for words in more]
    lines += [element("p", text(f"Note: {note}")) for note in comparison.notes]
    lines.append(element("p", text(rests_on(comparison)), class_="soft"))
    shown = table(comparison_table(comparison, full=False), right=NUMBER_COLUMNS, row_class=_judgement)
    folded = element("details", element("summary", text(f"{heading}: measure by measure")), shown)
    return element("h3", text(heading)) + "".join(lines) + folded


def _judgement(row: tuple[Cell, ...]) -> str:
    word = str(row[VERDICT_AT]).partition(" ")[0]
    return word if word in ("better", "worse") else ""


def details(name: str, report: Report, *, is_open: bool) -> str:
    """Every table of a report, folded away unless it is the only one."""
    first = [shown for shown in (device_table(report), host_table(report)) if shown.rows]
    more = (*detail_tables(report), collectives_table(report), waits_table(report))
    tables = "".join(table(shown) for shown in (*first, *more) if shown.rows)
    findings = [finding.title for finding in report.findings]
    found = "".join(element("li", text(words)) for words in cut(findings, _MOST_FINDINGS, "findings"))
    listed = element("h3", "Findings") + element("ul", found) if found else ""
    if not quality_table(report).rows:
        listed += element("p", "Trace quality: no fault was found in the records.", class_="soft")
    return element(
        "details",
        element("summary", text(f"{name}: all numbers")),
        listed,
        tables,
        open="open" if is_open else "",
    )


def meanings() -> str:
    return (
        element("h2", "Methods: what the numbers mean")
        + element("p", _METHODS, class_="soft")
        + definitions(TERMS.items(), class_="notes")
    )


def provenance(reports: Sequence[Named]) -> str:
    """Where each trace came from, as far as its file says."""
    lines = []
    for name, report in reports:
        facts = (
            f"{key}: {_plain(value)}"
            for key, value in report.source.items()
            if value not in (None, "", [], {}, ())
        )
        lines.append(element("p", element("b", text(name)), " ", text("; ".join(facts))))
    return element("footer", *lines)


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        words = [f"{key} {_plain(one)}" for key, one in value.items()]
        return ", ".join(cut(words, _MOST_LISTED, "in the JSON"))
    if isinstance(value, (list, tuple)):
        return ", ".join(cut([_plain(one) for one in value], _MOST_LISTED, "in the JSON"))
    return str(value)
