"""Works on a file as rows: one that fails makes its own rows "not run", and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.pairs import Failed, Rounds, timed_rounds
from scripts.bench.processes import Process, own_process
from scripts.bench.rows import Goal, Row, not_run, row_of

__all__ = ["Contestant", "compared", "memory_row", "ratio_row", "size_of"]


@dataclass(frozen=True)
class Contestant:
    """A work in a process, on a file; `small` is a file of the same format for the run before the first."""

    process: Process
    work: str
    path: Path
    small: Path

    def warm_up(self) -> None:
        """Import what the work needs."""
        try:
            self.process.seconds(self.work, self.small)
        except Failed:
            return  # the first round says what failed

    def seconds(self) -> float:
        """How long one run takes."""
        return self.process.seconds(self.work, self.path)


def compared(contestants: Mapping[str, Contestant], rounds: int) -> Rounds:
    """Time all of them in rounds, after a run each on a small file."""
    for contestant in contestants.values():
        contestant.warm_up()
    return timed_rounds({name: each.seconds for name, each in contestants.items()}, rounds)


def ratio_row(title: str, file: str, goal: Goal, rounds: Rounds, *, work: str, other: str) -> Row:
    """How many runs of `work` fit into one of `other`."""
    for name in (work, other):
        if name not in rounds.seconds:
            return not_run(title, file, goal, f"{name}: {rounds.failures.get(name, 'is missing')}")
    times = f"{work} {rounds.median(work):.3g}, {other} {rounds.median(other):.3g}"
    return row_of(title, file, goal, rounds.ratio(work, other), times)


def memory_row(title: str, file: str, goal: Goal, work: str, *, path: Path, small: Path) -> Row:
    """Growth of the peak of RssAnon over its value after imports, in a process of its own, over the file."""
    size = size_of(path)
    try:
        with own_process() as process:
            process.seconds(work, small)
            growth = process.peak_growth(work, path)
    except Failed as failed:
        return not_run(title, file, goal, failed)
    return row_of(title, file, goal, growth / size, f"{growth / 1e6:.0f} MB")


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size
