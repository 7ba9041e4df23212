"""Comparison -> Markdown for a review comment: the verdict first, then what moved, short."""

from __future__ import annotations

import re
from typing import Final

from overlap_lab.compare import Comparison, Difference, Verdict
from overlap_lab.render.compare_text import rank, says_something, signed
from overlap_lab.render.compare_words import attributed, explained, headline_words, most_changed, source_name
from overlap_lab.render.names import printable, shorten
from overlap_lab.render.values import format_value

__all__ = ["comparison_to_markdown", "escaped"]

_MOST_ROWS: Final = 12
_LONGEST: Final = 90
_SPECIAL: Final = frozenset("\\`*_[]<>|~&$")
_MENTION: Final = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_JOINER: Final = "\N{ZERO WIDTH SPACE}"


def comparison_to_markdown(comparison: Comparison) -> str:
    """A heading line with the verdict, where the change comes from, and a table of what differs.

    Texts out of a trace are escaped: they cannot format, link, mention anyone or leave their cell.
    """
    lines = [f"**{_first(comparison)}**", ""]
    lines += [f"- {escaped(words)}" for words in attributed(comparison)]
    headline = comparison.headline
    if headline and headline.reason:
        lines.append(f"- {escaped(headline.reason)}")
    lines += ["", *_table(comparison), ""]
    lines += [f"> {escaped(note)}  " for note in comparison.notes]
    sides = [
        escaped(shorten(source_name(one), _LONGEST)) for one in (comparison.baseline, comparison.candidate)
    ]
    lines.append(f"> baseline {sides[0]}, candidate {sides[1]}")
    return "\n".join(lines)


def _first(comparison: Comparison) -> str:
    words = headline_words(comparison)
    if words:
        return escaped(words)
    explanations, more = most_changed(comparison)
    windows = "; ".join([*map(explained, explanations), *more])
    return escaped(f"One run a side, exact differences: {windows or 'no window on both sides'}")


def _table(comparison: Comparison) -> list[str]:
    shown = sorted((d for d in comparison.differences if _matters(d)), key=rank)
    others = len(comparison.differences) - len(shown)
    alike = f"{others} measures are the same, undecided or without a value."
    if not shown:
        return [alike]
    of_pairs = " (median of the pairs')" if comparison.sampling.is_paired else ""
    lines = [
        f"| measure | baseline | candidate | difference{of_pairs} | verdict |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for one in shown[:_MOST_ROWS]:
        device = one.scope.get("device")
        cells = (
            one.tag if device is None else f"{one.tag} (device {device})",
            format_value(one.baseline, one.unit),
            format_value(one.candidate, one.unit),
            signed(one.difference, one.unit),
            one.verdict.value.upper(),
        )
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    first = (
        f"The first {_MOST_ROWS} of {len(shown)} measures that differ. " if len(shown) > _MOST_ROWS else ""
    )
    rest = f"{first}{alike if others else ''}".strip()
    return [*lines, "", rest] if rest else lines


def _matters(difference: Difference) -> bool:
    return says_something(difference) and difference.verdict not in (Verdict.UNDECIDED, Verdict.INCOMPARABLE)


def escaped(text: str) -> str:
    r"""The text as Markdown that shows it as it is, on one line.

    A space of no width keeps names and numbers from becoming mentions and links of the review tool.

    >>> escaped("a|b <img> `x`")
    'a\\|b \\<img\\> \\`x\\`'
    """
    plain = "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in printable(text))
    return _MENTION.sub(_JOINER, plain)
