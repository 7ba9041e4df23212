"""Comparison -> plain text and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from overlap_lab.compare import Comparison, Difference, Explanation, Verdict
from overlap_lab.render.aligned import aligned
from overlap_lab.render.lines import Line, Style, printed, wrapped
from overlap_lab.render.names import printable
from overlap_lab.render.values import NOTHING, format_value, percent
from overlap_lab.report import Cell, Column, Table
from overlap_lab.units import format_ns

__all__ = ["NUMBER_COLUMNS", "VERDICT_AT", "comparison_table", "comparison_text", "explained"]


NUMBER_COLUMNS: Final = frozenset({"baseline", "candidate", "difference", "ratio"})
"""Columns of `comparison_table` that hold numbers of different units, and stand on the right."""

VERDICT_AT: Final = -2
"""Where a row of `comparison_table` says better or worse."""

_ORDER: Final = (
    "device/",
    "drain/",
    "overlap/",
    "host/",
    "run_ahead/",
    "launch/",
    "queue/",
    "run_ahead_from_end/",
)


def comparison_text(
    comparison: Comparison,
    *,
    verdicts: tuple[str, str] | None = None,
    width: int = 120,
    colour: bool = False,
    full: bool = False,
) -> str:
    """What changed: the window's difference explained first, then measure by measure.

    `verdicts`, those of the two reports, are said below their names. Measures that are the same on both sides
    are counted, not listed, unless `full`.
    """
    said_of_baseline, said_of_candidate = verdicts or ("", "")
    table = comparison_table(comparison, full=full)
    head, *rows = aligned(table, width=width, right=NUMBER_COLUMNS)
    hidden = len(comparison.differences) - len(table.rows)
    lines = [
        *_side("baseline ", comparison.baseline, said_of_baseline, width),
        *_side("candidate", comparison.candidate, said_of_candidate, width),
        *wrapped((Line(explained(one), Style.HEADING) for one in comparison.explanations), width),
        *wrapped((Line(f"note: {printable(note)}", Style.WARNING) for note in comparison.notes), width),
        Line(""),
        Line(f"One run a side ({comparison.sampling}): exact differences, no claim about chance."),
        Line(head, Style.DIM),
        *map(_judged_line, rows, table.rows),
    ]
    if hidden:
        lines.append(Line(f"{hidden} measures are the same or have no value on either side.", Style.DIM))
    return printed(lines, colour=colour)


def explained(explanation: Explanation) -> str:
    """The window's difference as the sum of busy and idle by cause, in one line."""
    where = ", ".join(f"{key} {number}" for key, number in explanation.scope.items())
    change = percent(explanation.window, explanation.baseline_ns)
    parts = [("busy", explanation.busy), *((f"idle {c.value}", ns) for c, ns in explanation.idle.items())]
    terms = ", ".join(f"{name.replace('_', ' ')} {_signed_ns(ns)}" for name, ns in parts if ns)
    return (
        f"{where + ': ' if where else ''}window {format_ns(explanation.baseline_ns)} -> "
        f"{format_ns(explanation.candidate_ns)}: {_signed_ns(explanation.window)} ({change})"
        + (f" = {terms}" if terms else "")
    )


def comparison_table(comparison: Comparison, *, full: bool = True) -> Table:
    """The differences as a table for people."""
    shown = sorted((d for d in comparison.differences if full or _says_something(d)), key=_rank)
    numbers = ("baseline", "candidate", "difference", "ratio")
    heads = ("measure", *numbers, f"({comparison.sampling})", "what it is")
    return Table(tuple(Column(name, "text") for name in heads), tuple(map(_row, shown)))


def _rank(difference: Difference) -> tuple[int, int]:
    """What people ask for first, device by device; the measures' own order within."""
    device = difference.scope.get("device", -1)
    return device, next(
        (at for at, head in enumerate(_ORDER) if difference.tag.startswith(head)), len(_ORDER)
    )


def _says_something(difference: Difference) -> bool:
    if difference.verdict is Verdict.INCOMPARABLE:
        return difference.baseline is not None or difference.candidate is not None
    return difference.verdict is not Verdict.SAME


def _row(difference: Difference) -> tuple[str, ...]:
    unit, device = difference.unit, difference.scope.get("device")
    return (
        difference.tag if device is None else f"{difference.tag} (device {device})",
        format_value(difference.baseline, unit),
        format_value(difference.candidate, unit),
        _signed(difference.difference, unit),
        NOTHING if difference.ratio is None else f"x {difference.ratio:.3f}",
        _judged(difference),
        printable(difference.title),
    )


def _judged(difference: Difference) -> str:
    if difference.reason:
        return f"{difference.verdict}: {printable(difference.reason)}"
    return difference.verdict.value


def _signed(value: int | float | None, unit: str) -> str:
    if value is None:
        return NOTHING
    return ("+" if value > 0 else "") + format_value(value, unit)


def _signed_ns(value: int) -> str:
    return ("+" if value > 0 else "") + format_ns(value)


def _judged_line(text: str, cells: tuple[Cell, ...]) -> Line:
    styles = {Verdict.BETTER.value: Style.GOOD, Verdict.WORSE.value: Style.BAD}
    return Line(text, styles.get(str(cells[VERDICT_AT]), Style.PLAIN))


def _side(word: str, source: Mapping[str, object], verdict: str, width: int) -> Iterator[Line]:
    yield Line(f"{word}  {_name(source)}")
    if verdict:
        yield from wrapped([Line(f"  {printable(verdict)}")], width)


def _name(source: Mapping[str, object]) -> str:
    files = source.get("files")
    names = [str(name) for name in files] if isinstance(files, (list, tuple)) else []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return printable(f"{names[0]}{more}" if names else str(source.get("format", "")))
