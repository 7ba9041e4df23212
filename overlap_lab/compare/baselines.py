"""Baselines from Python: store traces under a name, and find what was stored for traces like this one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from overlap_lab.compare.baseline import TRACE, StoredRun, baseline_of
from overlap_lab.compare.baseline_commit import commit_of
from overlap_lab.compare.baseline_found import fitting, no_entry
from overlap_lab.compare.baseline_machine import machine_of
from overlap_lab.compare.baseline_store import STORE, named, nowhere, save
from overlap_lab.compare.samples import run_of
from overlap_lab.errors import UsageError
from overlap_lab.trace import Trace

__all__ = ["find_baseline", "save_baseline"]


def save_baseline(
    name: str,
    traces: Trace | Sequence[Trace],
    *,
    store: str | Path = STORE,
    tags: Sequence[str] = (),
    force_comparable: bool = False,
) -> Path:
    """The new file with the samples of these traces, which are repeats of one run.

    Never overwrites: the newest of a name counts. Raises UsageError for traces that were not made alike or
    are of different programs, unless `force_comparable`.
    """
    several = [traces] if isinstance(traces, Trace) else list(traces)
    commit = commit_of(Path.cwd())
    made = baseline_of(name, several, commit=commit, tags=tags, force_comparable=force_comparable)
    return save(Path(store), made).path


def find_baseline(
    name: str, like: Trace, *, store: str | Path = STORE, entry: str = TRACE
) -> tuple[StoredRun, ...]:
    """The runs stored under a name, a tag or a number on the kind of machine that this trace is of; a side
    for `overlap_lab.compare`.

    They are those that were saved from traces, or with the node id of a test as `entry` those of that test.
    Raises UsageError where there are none, and BrokenBaseline where a file cannot be read.
    """
    found = named(Path(store), name)
    if not found:
        raise nowhere(Path(store), name)
    best = fitting(found, machine_of(run_of(like).report.source), entry)
    if best is None:
        raise UsageError(no_entry(found, entry))
    if not best.runs:
        raise UsageError(best.reason)
    return best.runs
