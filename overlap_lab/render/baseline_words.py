"""Stored baselines in words: what there is, and what one holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.compare.baseline import Baseline, StoredRun
from overlap_lab.compare.baseline_json import baseline_to_json
from overlap_lab.compare.baseline_store import Saved
from overlap_lab.compare.samples import HEADLINE
from overlap_lab.render.aligned import aligned
from overlap_lab.render.names import printable
from overlap_lab.report import Column, Table
from overlap_lab.units import format_ns

__all__ = ["listed_json", "listed_text", "shown_json", "shown_text"]

_WIDTH: Final = 160
_COMMIT: Final = 9

Read = Sequence[tuple[Saved, Baseline]]


def listed_text(read: Read, store: Path) -> str:
    """A table, a line for each baseline."""
    if not read:
        return f"{store} holds no baselines"
    heads = ("name", "number", "saved", "commit", "tags", "entries", "runs", "machine")
    rows = tuple(
        (
            saved.name,
            f"{saved.number:04}",
            baseline.created[:16].replace("T", " "),
            _short(baseline.commit),
            ", ".join(baseline.tags),
            str(len(baseline.entries)),
            str(sum(map(len, baseline.entries.values()))),
            saved.machine,
        )
        for saved, baseline in read
    )
    return "\n".join(aligned(Table(tuple(Column(one, "text") for one in heads), rows), width=_WIDTH))


def _short(commit: str) -> str:
    """The commit's first digits, with a + where files differed from it."""
    return commit.partition("+")[0][:_COMMIT] + ("+" if "+" in commit else "")


def listed_json(read: Read) -> str:
    """The same as JSON: a list."""
    return json.dumps([_plain_head(*one) for one in read], indent=1)


def _plain_head(saved: Saved, baseline: Baseline) -> dict[str, Any]:
    return {
        "name": saved.name,
        "number": saved.number,
        "machine": saved.machine,
        "facts": dict(baseline.machine.facts),
        "path": str(saved.path),
        "created": baseline.created,
        "commit": baseline.commit,
        "tags": list(baseline.tags),
        "tool": baseline.tool,
        "entries": {key: len(runs) for key, runs in baseline.entries.items()},
    }


def shown_text(saved: Saved, baseline: Baseline) -> str:
    """Where it is from, and for each entry how many samples there are and what they typically are."""
    facts = [f"  {key:8}  {value}" for key, value in baseline.machine.facts.items()]
    lines = [
        f"{saved}: {saved.path}",
        f"saved     {baseline.created}, {baseline.tool}",
        f"commit    {baseline.commit or 'unknown'}",
        *([f"tags      {', '.join(baseline.tags)}"] if baseline.tags else []),
        f"machine   {saved.machine}",
        *facts,
    ]
    for key, runs in baseline.entries.items():
        lines += [key, *(f"  {words}" for words in _entry_words(runs))]
    return "\n".join(map(printable, lines))


def _entry_words(runs: tuple[StoredRun, ...]) -> Iterator[str]:
    steps = [run.steps.size for run in runs]
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    yield f"{count}, {sum(steps)} steps" if any(steps) else f"{count} without steps"
    yield runs[0].report.verdict
    for words, found in (("window", _windows(runs)), ("step", _steps(runs))):
        if found:
            yield f"{words}: {format_ns(round(float(np.median(found))))} in the median of {len(found)}"
    names = {name: sum(run.ranges[name].size for run in runs if name in run.ranges) for name in _names(runs)}
    if names:
        yield "ranges: " + ", ".join(f"{name} ({size})" for name, size in names.items())


def _names(runs: tuple[StoredRun, ...]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.ranges))


def _windows(runs: tuple[StoredRun, ...]) -> list[float]:
    measured = [m for run in runs for m in run.report.measurements if m.tag == HEADLINE and not m.scope]
    return [float(m.value) for m in measured if m.value is not None]


def _steps(runs: tuple[StoredRun, ...]) -> list[float]:
    found = [run.steps.values.get((HEADLINE, ())) for run in runs]
    every = np.concatenate([values for values in found if values is not None] or [np.zeros(0)])
    return [float(value) for value in every[np.isfinite(every)]]


def shown_json(read: Read) -> str:
    """The baselines as they are stored, samples and all: a list of one for each machine."""
    return "[" + ",\n".join(baseline_to_json(baseline) for _, baseline in read) + "]"
