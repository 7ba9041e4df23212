"""A check of a budget as Markdown for a review comment."""

from __future__ import annotations

from overlap_lab.compare.checked import Check
from overlap_lab.render.check_words import (
    allowed_words,
    compared_words,
    culprit_words,
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
    culprits = dict.fromkeys(culprit for one in check.failed for culprit in one.culprits)
    if culprits:
        lines.append("")
    for culprit in culprits:
        first, *rest = culprit_words(culprit)
        lines.append(f"- {escaped(first)}")
        lines += [f"  - {escaped(line.strip())}" for line in rest]
    allowed = list(allowed_words(check))
    if allowed:
        lines += ["", *(f"> allowed: {escaped(words)}  " for words in allowed)]
    return "\n".join(lines)
