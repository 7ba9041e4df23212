"""What a comparison says, in sentences that text and Markdown share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from overlap_lab.compare import Comparison, Difference, Explanation, Verdict
from overlap_lab.render.names import printable
from overlap_lab.render.values import format_value, percent
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["attributed", "explained", "headline_words", "most_changed", "signed_ns", "source_name"]

_MOST_SITES: Final = 3
_MOST_EXPLAINED: Final = 8
_SMALLEST_SHARE: Final = 0.0005
"""A part below 0.05 % of the window is left to the rest."""


def headline_words(comparison: Comparison) -> str:
    """The verdict, the change of the window, and what it rests on; empty for one run a side."""
    headline = comparison.headline
    if headline is None:
        return ""
    one = comparison.sampling.unit.removesuffix("s")
    counts = headline.statistics.observations if headline.statistics else None
    if headline.verdict is Verdict.INCOMPARABLE:
        values = [format_value(value, "ns") for value in (headline.baseline, headline.candidate)]
        return f"INCOMPARABLE: {values[0]} against {values[1]} per {one}"
    sides = f"{format_value(headline.baseline, 'ns')} -> {format_value(headline.candidate, 'ns')}"
    change = f"{headline.verdict.upper()}: {_change(headline, one)}"
    if counts and comparison.sampling.is_paired:  # the median of the pairs is not what the medians differ by
        return f"{change}, in the median of {counts[0]} pairs; medians of the sides: {sides}"
    rests = f" ({counts[0]} {comparison.sampling.unit} against {counts[1]})" if counts else ""
    return f"{change}: medians {sides}{rests}"


def _change(headline: Difference, one: str) -> str:
    if headline.difference is None or not headline.baseline:
        return f"no change per {one} that can be told"
    if headline.difference == 0:
        return f"no difference per {one}"
    share = percent(abs(headline.difference), headline.baseline)
    return f"{share} {'slower' if headline.difference > 0 else 'faster'} per {one} than the baseline"


def attributed(comparison: Comparison) -> Iterator[str]:
    """For each device where the change comes from, as shares of the baseline's window, the largest first.

    Nothing where chance may be all there is.
    """
    if comparison.headline and comparison.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return
    for explanation in most_changed(comparison)[0]:
        terms = _terms(explanation)
        if not terms:
            continue
        whole = _headline_ns(comparison, explanation) or explanation.baseline_ns
        shown = [(words, ns) for words, ns in terms if abs(ns) >= _SMALLEST_SHARE * whole]
        rest = explanation.window + explanation.remainder - sum(ns for _, ns in shown)
        if abs(rest) >= _SMALLEST_SHARE * whole:
            shown.append(("the rest", rest))
        parts = ", ".join(f"{_signed_share(ns, whole)} {words}" for words, ns in shown)
        where = _scope_words(explanation.scope)
        if parts:
            yield f"{where}{parts} (of the baseline's window)"


def most_changed(comparison: Comparison) -> tuple[list[Explanation], list[str]]:
    """The devices that are explained, those whose windows changed most, and how many more there are."""
    every = comparison.explanations
    ranked = sorted(range(len(every)), key=lambda at: -abs(every[at].window))[:_MOST_EXPLAINED]
    hidden = len(every) - len(ranked)
    more = [f"... and {hidden:,} more devices, whose windows changed no more"] if hidden else []
    return [every[at] for at in sorted(ranked)], more


def _headline_ns(comparison: Comparison, explanation: Explanation) -> float:
    found = comparison.difference("device/window", **explanation.scope)
    return float(found.baseline or 0) if found else 0.0


def _terms(explanation: Explanation) -> list[tuple[str, int]]:
    """Every part of the window's difference in words; drains by the place that waits."""
    terms = [("device busy", explanation.busy)]
    terms += [
        (f"{cause.value.replace('_', ' ')}", ns)
        for cause, ns in explanation.idle.items()
        if cause is not Cause.DRAIN
    ]
    sites = list(explanation.drained.items())
    terms += [(f"drain after {printable(name)}", ns) for name, ns in sites[:_MOST_SITES]]
    left = explanation.idle.get(Cause.DRAIN, 0) - sum(ns for _, ns in sites[:_MOST_SITES])
    others = len(sites) - _MOST_SITES
    rest = f"drain after {others} other places" if others > 0 else "drain after other waits"
    terms.append((rest if sites else "drain", left))
    return sorted((term for term in terms if term[1]), key=lambda term: -abs(term[1]))


def explained(explanation: Explanation) -> str:
    """The window's difference as the sum of busy and idle by cause, in one line."""
    change = _signed_share(explanation.window, explanation.baseline_ns)
    parts = [("busy", explanation.busy), *((f"idle {c.value}", ns) for c, ns in explanation.idle.items())]
    terms = ", ".join(f"{name.replace('_', ' ')} {signed_ns(ns)}" for name, ns in parts if ns)
    return (
        f"{_scope_words(explanation.scope)}window {format_ns(explanation.baseline_ns)} -> "
        f"{format_ns(explanation.candidate_ns)}: {signed_ns(explanation.window)} ({change} of the baseline)"
        + (f" = {terms}" if terms else "")
    )


def _scope_words(scope: Mapping[str, int]) -> str:
    where = ", ".join(f"{key} {number}" for key, number in scope.items())
    return where + ": " if where else ""


def _signed_share(ns: float, whole: float) -> str:
    return ("+" if ns > 0 and whole else "") + percent(ns, whole)


def signed_ns(value: int) -> str:
    """The time with its sign.

    >>> signed_ns(1500), signed_ns(-20), signed_ns(0)
    ('+1.50 us', '-20 ns', '0 ns')
    """
    return ("+" if value > 0 else "") + format_ns(value)


def source_name(source: Mapping[str, object]) -> str:
    """The file behind a side."""
    files = source.get("files")
    names = [str(name) for name in files] if isinstance(files, (list, tuple)) else []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return printable(f"{names[0]}{more}" if names else str(source.get("format", "")))
