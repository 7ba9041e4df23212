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
from overlap_lab.render.compare_words import attributed, headline_words
from overlap_lab.render.detail_tables import detail_tables, waits_table
from overlap_lab.render.html_parts import definition, definitions, element, legend, stacked_bar, table, text
from overlap_lab.render.lines import Style
from overlap_lab.render.numbers import Numbers, blocked_split, cut, most_idle
from overlap_lab.render.side_by_side import side_by_side
from overlap_lab.render.summary import device_name, device_table, host_table, idle_causes, quality_table
from overlap_lab.render.values import NOTHING, format_value, percent
from overlap_lab.render.verdict import verdict, verdict_style
from overlap_lab.report import Cell, Report
from overlap_lab.schema import Cause

__all__ = ["changes", "details", "glance", "meanings", "provenance", "together", "where_time_goes"]

Named = tuple[str, Report]

_LONGEST_BAR: Final = 100.0
"""Percent of the width."""

_MOST_FACTS: Final = 8
_MOST_BARS: Final = 32
_MOST_FINDINGS: Final = 50
_MOST_LISTED: Final = 64
_FACTS: Final = (
    ("window", "device/window"),
    ("device idle", "device/idle"),
    ("drains (not final)", "drain/count"),
    ("overlap, of busy time", "overlap/ratio"),
    ("host blocked", "host/blocked"),
)
_CARD_CLASS: Final = {Style.GOOD: "good", Style.BAD: "bad", Style.WARNING: "warn"}

_METHODS: Final = (
    "All times are integer nanoseconds of the trace's own clock. Each device op is linked to the call that "
    "enqueued it; a call counts as a wait where the records prove that it waited for device work. Idle time "
    "is split exactly: its causes sum to it. What a trace cannot tell is n/a or unknown, never a guess."
)
_MEANINGS: Final = (
    ("window", "First device op's start to the last one's end; every share of the device divides by it."),
    (
        "busy, idle",
        "Time with at least one op on the device, and the rest of the window. They sum to the window.",
    ),
    (
        "blocked",
        "Time inside host calls that really waited for the device: evidence decides, not the name alone.",
    ),
    (
        "while the device did nothing",
        "Blocked time beside an empty device, also outside of its window: it can exceed the idle time.",
    ),
    (
        "final wait",
        "A wait with no device work after it. It has to come somewhere, so `overlap` leaves it out.",
    ),
    (
        "overlap",
        "Share of busy time while no thread that feeds the device was blocked; the final wait is left out.",
    ),
    (
        "drain",
        "A wait that returned on an empty device, which then idles until new work comes. Costs: the return "
        "of the call, the host's way to the next launch (refill), and that launch (launch).",
    ),
    ("host late", "Idle because the host had not launched the next op yet, with no wait involved."),
    ("launch", "Idle between the start of a launch call and its op."),
    (
        "in call",
        "Idle while a launch call was still busy with something else: module load, allocation, a lock.",
    ),
    ("host function", "Idle while the stream waited for a host function between two ops."),
    (
        "dependency",
        "Idle although the next op was queued: another stream, an event, a copy engine, the device itself.",
    ),
    ("unknown", "Idle that the records cannot explain."),
    (
        "run-ahead",
        "From a launch call's start to its op's: how far the host leads (near the launch floor: not at all).",
    ),
    ("launch floor", "What a launch onto an empty stream costs at best: the 10th percentile there."),
)


def glance(reports: Sequence[Named]) -> str:
    """A card for each report: its verdict and the numbers that it rests on."""
    return element("div", *(_card(name, report) for name, report in reports), class_="cards")


def _card(name: str, report: Report) -> str:
    numbers = Numbers(report)
    facts = [_fact(word, numbers, tag) for word, tag in _FACTS if numbers.measurement(tag, {}) is not None]
    if not numbers.value("device/window", {}):
        facts = [definition(*fact) for fact in _device_facts(numbers)] + facts
    split = blocked_split(report)
    if split is not None:
        facts.append(definition("before the final wait", format_value(split[0], "ns")))
    said = element("p", text(verdict(report)[0].text), class_="said")
    kind = _CARD_CLASS[verdict_style(report)]
    return element("div", element("h3", text(name)), said, element("dl", *facts), class_=f"card {kind}")


def _fact(word: str, numbers: Numbers, tag: str) -> str:
    """A number in words, with its tag and exact value for whoever checks it against the JSON."""
    return definition(word, _value(numbers, tag, {}), data_tag=tag, data_value=str(numbers.value(tag, {})))


def _device_facts(numbers: Numbers) -> list[tuple[str, str]]:
    """For a report of several devices: idle of window of each."""
    devices = numbers.scopes("device/window", "device")
    facts = [
        (f"device {device['device']} idle", f"{idle} of {window}")
        for device in devices[:_MOST_FACTS]
        for idle, window in [
            (_value(numbers, "device/idle", device), _value(numbers, "device/window", device))
        ]
    ]
    hidden = len(devices) - len(facts)
    return [*facts, ("other devices", f"{hidden:,}, in the tables")] if hidden else facts


def _value(numbers: Numbers, tag: str, scope: Mapping[str, int]) -> str:
    measurement = numbers.measurement(tag, scope)
    return NOTHING if measurement is None else format_value(measurement.value, measurement.unit)


def where_time_goes(reports: Sequence[Named]) -> str:
    """A bar for each device of each report, of many the most idle: busy, then idle by cause, on one scale."""
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
    if not longest:
        return ""
    seen = {cause for _, numbers, device in rows for cause, _ in idle_causes(numbers, device)}
    keys = [("busy", COLOURS["kernel"]), *((_idle_word(c), CAUSE_COLOURS[c]) for c in Cause if c in seen)]
    bars = (
        element("div", text(label), class_="name") + _window_bar(numbers, device, longest)
        for label, numbers, device in rows
    )
    said = "".join(element("p", text(words), class_="soft") for words in hidden)
    return element("h2", "Where the window goes") + element("div", *bars, class_="bars") + legend(keys) + said


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
    return f"idle: {cause.value.replace('_', ' ')}"


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
    lines += [element("p", text(explained(one)), class_="explained") for one in comparison.explanations]
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
    tables = "".join(
        table(shown) for shown in (*first, *detail_tables(report), waits_table(report)) if shown.rows
    )
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
        + definitions(_MEANINGS, class_="notes")
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
