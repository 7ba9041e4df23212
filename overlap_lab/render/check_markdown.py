"""A check of a budget as Markdown for a review comment."""

from __future__ import annotations

from collections.abc import Iterator

from overlap_lab.compare.checked import Check, Checked
from overlap_lab.render.check_words import (
    allowed_words,
    compared_words,
    culprit_words,
    culprits_head,
    found_words,
    headline_of,
    subject_of,
)
from overlap_lab.render.compare_markdown import escaped

__all__ = ["check_to_markdown"]


def check_to_markdown(check: Check) -> str:
    """The outcome first, a table of the rules, and the waits behind the violated ones."""
    what = escaped(subject_of(check))
    lines = [f"**Overlap {what} {check.outcome.value.upper()}**: {headline_of(check)}", ""]
    lines += ["| rule | outcome | found |", "| --- | --- | --- |"]
    lines += [
        f"| {escaped(str(one.rule))} | {one.outcome.value.upper()} | {escaped(found_words(one))} |"
        for one in check.checked
    ]
    compared = list(compared_words(check))
    if compared:
        lines += ["", *(f"{escaped(words.strip())}  " for words in compared)]
    told = []
    for one in check.failed:
        if one.culprits and one.culprits not in told:
            told.append(one.culprits)
            lines += ["", *_culprits(one)]
    allowed = list(allowed_words(check))
    if allowed:
        lines += ["", *(f"> allowed: {escaped(words)}  " for words in allowed)]
    return "\n".join(lines)


def _culprits(one: Checked) -> Iterator[str]:
    """The places behind a rule; a line before them says how many there are in all."""
    if len(one.culprits) > 1:
        yield f"{escaped(str(one.rule))}: {culprits_head(one)}"
        yield ""
    for culprit in one.culprits:
        first, *rest = culprit_words(culprit)
        yield f"- {escaped(first)}"
        yield from (f"  - {escaped(line.strip())}" for line in rest)
