"""Limits given as arguments -> a budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from overlap_lab.compare.budget import Budget, parse_allowance, parse_rule, read_budget

__all__ = ["budget_of"]


def budget_of(
    *,
    drains: int | None = None,
    blocked: str | None = None,
    blocked_per_call: str | None = None,
    ratio: float | None = None,
    rules: Sequence[str] = (),
    allow: Sequence[tuple[str, str]] = (),
    budget: str | Path | None = None,
) -> Budget:
    """The budget that the arguments of `overlap.check` and of the marker mean.

    `drains`: at most so many device drains. `blocked`: the host is blocked for less than this in all, without
    the final wait; `blocked_per_call`: in each wait. `ratio`: of the device's busy time, at least this part
    does not block the host. `rules` as in a budget file, `allow` pairs of a wait and the reason why it is
    fine, `budget` a file whose rules count as well. Raises UsageError for what cannot be read.
    """
    texts = list(rules)
    if drains is not None:
        texts.append(f"drain/count <= {drains}")
    if blocked is not None:
        texts.append(f"host/blocked < {blocked}")
    if blocked_per_call is not None:
        texts.append(f"host/blocked per wait < {blocked_per_call}")
    if ratio is not None:
        texts.append(f"overlap/ratio >= {ratio}")
    given = Budget(()) if budget is None else read_budget(budget)
    return Budget(
        (*map(parse_rule, texts), *given.rules),
        (*(parse_allowance(wait, reason) for wait, reason in allow), *given.allowed),
        given.source,
    )
