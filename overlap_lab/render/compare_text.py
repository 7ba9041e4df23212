"""Comparison -> plain text and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from overlap_lab.compare import Comparison, Difference, Sampling, Verdict
from overlap_lab.render.aligned import aligned
from overlap_lab.render.compare_words import attributed, explained, headline_words, most_changed, source_name
from overlap_lab.render.lines import Line, Style, printed, wrapped
from overlap_lab.render.names import printable
from overlap_lab.render.values import NOTHING, format_value
from overlap_lab.report import Cell, Column, Table

__all__ = [
    "NUMBER_COLUMNS",
    "VERDICT_AT",
    "comparison_table",
    "comparison_text",
    "explained",
    "rank",
    "rests_on",
    "says_something",
    "signed",
]


NUMBER_COLUMNS: Final = frozenset({"baseline", "candidate", "difference", "ratio"})
"""Columns of `comparison_table` that hold numbers of different units, and stand on the right."""

VERDICT_AT: Final = -2
"""Where a row of `comparison_table` says better or worse."""

_STYLES: Final = {Verdict.BETTER: Style.GOOD, Verdict.WORSE: Style.BAD, Verdict.INCOMPARABLE: Style.WARNING}

_MOST_ROWS: Final = 200
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
    width: int = 120,
    colour: bool = False,
    full: bool = False,
) -> str:
    """What changed: the verdict or the window's difference explained first, then measure by measure.

    Measures that are the same on both sides are counted, not listed, unless `full`.
    """
    said_of_baseline, said_of_candidate = comparison.said
    table = comparison_table(comparison, full=full)
    shown = table if full else Table(table.columns, table.rows[:_MOST_ROWS])
    head, *rows = aligned(shown, width=width, right=NUMBER_COLUMNS)
    hidden = len(comparison.differences) - len(table.rows)
    cut = len(table.rows) - len(shown.rows)
    lines = [
        *_side("baseline ", comparison.baseline, said_of_baseline, width),
        *_side("candidate", comparison.candidate, said_of_candidate, width),
        *_first(comparison, width),
        *wrapped((Line(f"note: {printable(note)}", Style.WARNING) for note in comparison.notes), width),
        Line(""),
        *wrapped([Line(rests_on(comparison))], width),
        Line(head, Style.DIM),
        *map(_judged_line, rows, shown.rows),
    ]
    if cut:
        lines.append(Line(f"... and {cut:,} more that differ (all of them with --full)", Style.DIM))
    if hidden:
        lines.append(Line(f"{hidden} measures are the same or have no value on either side.", Style.DIM))
    return printed(lines, colour=colour)


def _first(comparison: Comparison, width: int) -> Iterator[Line]:
    """The verdict and where the change comes from; of one run a side, the window as a sum."""
    headline = comparison.headline
    if headline is not None:
        yield from wrapped(
            [Line(headline_words(comparison), _STYLES.get(headline.verdict, Style.HEADING))], width
        )
        yield from wrapped((Line(f"  {words}") for words in attributed(comparison)), width)
        if headline.reason:
            yield from wrapped([Line(f"  {printable(headline.reason)}")], width)
    explanations, more = most_changed(comparison)
    for one in explanations:
        typical = "" if headline is None else "typical "
        yield from wrapped(
            [Line(typical + explained(one), Style.PLAIN if headline else Style.HEADING)], width
        )
    yield from (Line(words, Style.DIM) for words in more)
    if headline is None:
        yield from wrapped((Line(f"  {words}") for words in attributed(comparison)), width)


def rests_on(comparison: Comparison) -> str:
    """What the numbers of the table are, and what they can say."""
    if comparison.sampling is Sampling.SINGLE_RUN:
        return f"One run a side ({comparison.sampling}): exact differences, no claim about chance."
    what = f"Medians of {comparison.sampling}"
    if comparison.sampling.is_paired:
        what = (
            f"{comparison.sampling.capitalize()}: baseline, candidate and ratio are of each side's median, "
            "the difference is the median of the pairs' differences"
        )
    return f"{what}, {100 * comparison.confidence:g} % intervals of it; counts that never vary are exact."


def comparison_table(comparison: Comparison, *, full: bool = True) -> Table:
    """The differences as a table for people."""
    shown = sorted((d for d in comparison.differences if full or says_something(d)), key=rank)
    numbers = ("baseline", "candidate", "difference", "ratio")
    heads = ("measure", *numbers, f"({comparison.sampling})", "what it is")
    return Table(tuple(Column(name, "text") for name in heads), tuple(map(_row, shown)))


def rank(difference: Difference) -> tuple[int, int]:
    """What people ask for first, device by device; the measures' own order within."""
    device = difference.scope.get("device", -1)
    return device, next(
        (at for at, head in enumerate(_ORDER) if difference.tag.startswith(head)), len(_ORDER)
    )


def says_something(difference: Difference) -> bool:
    """Whether a person wants to see it: it differs, or one side has it and the other does not."""
    if difference.verdict is Verdict.UNDECIDED:
        return difference.statistics is None or difference.difference != 0
    if difference.verdict is Verdict.INCOMPARABLE:
        return difference.baseline is not None or difference.candidate is not None
    return difference.verdict is not Verdict.SAME


def _row(difference: Difference) -> tuple[str, ...]:
    unit, device = difference.unit, difference.scope.get("device")
    return (
        difference.tag if device is None else f"{difference.tag} (device {device})",
        format_value(difference.baseline, unit),
        format_value(difference.candidate, unit),
        signed(difference.difference, unit),
        NOTHING if difference.ratio is None else f"x {difference.ratio:.3f}",
        _judged(difference),
        printable(difference.title),
    )


def _judged(difference: Difference) -> str:
    """The verdict with its interval, or with the reason why there is none."""
    found = difference.statistics
    if found is not None and difference.verdict is not Verdict.INCOMPARABLE:
        low, high = (
            signed(_whole(edge, difference.unit), difference.unit) for edge in (found.low, found.high)
        )
        return f"{difference.verdict} ({low} to {high})"
    if difference.reason:
        return f"{difference.verdict}: {printable(difference.reason)}"
    return difference.verdict.value


def _whole(value: float, unit: str) -> int | float:
    return round(value) if unit == "ns" else value


def signed(value: int | float | None, unit: str) -> str:
    """The value with its sign, "n/a" where there is none."""
    if value is None:
        return NOTHING
    return ("+" if value > 0 else "") + format_value(value, unit)


def _judged_line(text: str, cells: tuple[Cell, ...]) -> Line:
    word = str(cells[VERDICT_AT]).partition(" ")[0].rstrip(":")
    return Line(text, next((style for one, style in _STYLES.items() if one.value == word), Style.PLAIN))


def _side(word: str, source: Mapping[str, object], verdict: str, width: int) -> Iterator[Line]:
    yield Line(f"{word}  {source_name(source)}")
    if verdict:
        yield from wrapped([Line(f"  {printable(verdict)}")], width)
