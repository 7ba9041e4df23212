"""Whether the repeats of two sides took turns, and in which pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from overlap_lab.errors import UsageError

__all__ = ["in_time_order", "paired_by_time", "require_pairs"]

Source = Mapping[str, object]

_SHOWN: Final = 6


def paired_by_time(baseline: Sequence[Source], candidate: Sequence[Source]) -> str | None:
    """The order in which the sides took turns, as "A B A B"; None where they did not, or no clock tells."""
    if len(baseline) != len(candidate) or len(baseline) < 2:
        return None
    starts = [(_start(one), side) for side, several in (("A", baseline), ("B", candidate)) for one in several]
    clocks = {str(one.get("clock", "unknown")) for one in (*baseline, *candidate)}
    if len(clocks) != 1 or "unknown" in clocks or any(start is None for start, _ in starts):
        return None
    order = [side for _, side in sorted((start, side) for start, side in starts if start is not None)]
    pairs = zip(order[0::2], order[1::2], strict=True)
    if any(one == other for one, other in pairs):
        return None
    return " ".join(order[:_SHOWN]) + (" ..." if len(order) > _SHOWN else "")


def in_time_order(sources: Sequence[Source]) -> list[int]:
    """Positions of the runs by start, as they were given where the clocks do not tell."""
    starts = [_start(one) for one in sources]
    clocks = {str(one.get("clock", "unknown")) for one in sources}
    if len(clocks) != 1 or "unknown" in clocks or None in starts:
        return list(range(len(sources)))
    return sorted(range(len(sources)), key=lambda at: starts[at] or 0)


def require_pairs(baseline: int, candidate: int, unit: str) -> None:
    """Raise where observations cannot be paired one by one."""
    if baseline != candidate:
        raise UsageError(f"compare: pairs need as many {unit} on each side, not {baseline} and {candidate}")


def _start(source: Source) -> int | None:
    start = source.get("trace_start_ns")
    return start if isinstance(start, int) else None
