"""Which baselines of a store may go: never one that a later comparison would still read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from overlap_lab.compare.baseline import Baseline
from overlap_lab.compare.baseline_store import Saved
from overlap_lab.errors import BrokenBaseline

__all__ = ["Pruned", "prunable"]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What may go, and what stays though `keep` newer files have its name; the oldest first."""

    gone: tuple[Saved, ...]
    needed: tuple[tuple[Saved, tuple[str, ...]], ...]
    """With the entries for which it is among the newest: node ids of tests, or `trace`."""


def prunable(
    saved: Sequence[Saved], *, keep: int | None = None, older_than: timedelta | None = None
) -> Pruned:
    """What may go of these: files that are not among the `keep` newest with any test, or with the traces,
    that they hold, under their name and on their kind of machine.

    One is kept without `keep`, and none with 0. `older_than` leaves what was saved less long ago. Raises
    BrokenBaseline for a file that cannot be read: nobody knows what it holds.
    """
    most = 1 if keep is None else keep
    newer: Counter[tuple[str, str, str]] = Counter()
    newer_files: Counter[tuple[str, str]] = Counter()
    gone, needed = [], []
    for one in sorted(saved, reverse=True):
        baseline = one.read()
        rare = tuple(entry for entry in baseline.entries if newer[one.machine, one.name, entry] < most)
        is_old = older_than is None or _created(one, baseline) < datetime.now(UTC) - older_than
        if is_old and not rare:
            gone.append(one)
        elif is_old and newer_files[one.machine, one.name] >= most:
            needed.append((one, rare))
        newer_files[one.machine, one.name] += 1
        newer.update((one.machine, one.name, entry) for entry in baseline.entries)
    return Pruned(tuple(gone[::-1]), tuple(needed[::-1]))


def _created(one: Saved, baseline: Baseline) -> datetime:
    try:
        when = datetime.fromisoformat(baseline.created)
    except ValueError:
        created = baseline.created[:40]
        raise BrokenBaseline(f"{one.path}: {created!r} is no date; remove the file by hand") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
