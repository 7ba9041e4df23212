"""The baseline that fits traces: of their kind of machine, the newest that has what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from overlap_lab.compare.baseline import TRACE, Baseline, StoredRun
from overlap_lab.compare.baseline_check import held_against, incomparable
from overlap_lab.compare.baseline_machine import Machine, machine_of
from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.baseline_store import Saved
from overlap_lab.compare.checked import Check, Compared
from overlap_lab.compare.programs import differences_of_programs
from overlap_lab.compare.samples import Run, run_of
from overlap_lab.errors import UsageError
from overlap_lab.trace import Trace

__all__ = ["Fitting", "check_baseline", "check_fitting", "fitting", "no_entry"]

_SHOWN: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Fitting:
    """One entry of a baseline; `runs` is empty where it cannot be compared with, as the reason says."""

    saved: Saved
    baseline: Baseline
    runs: tuple[StoredRun, ...]
    reason: str = ""


def check_baseline(
    check: Check,
    traces: Sequence[Trace | Run],
    named: Sequence[Saved],
    rules: Sequence[BaselineRule] = (),
    *,
    entry: str = TRACE,
    force_comparable: bool = False,
) -> Check:
    """The check with one more result for each rule about the baseline.

    `named` are the baselines that the name means, the newest first. Those of another kind of machine make
    every rule INCOMPARABLE with the reason, unless `force_comparable`, and so do traces of other programs.
    Raises UsageError where none of them has the entry.
    """
    runs = [run_of(trace) for trace in traces]
    machine = machine_of(runs[0].report.source)
    found = fitting(named, machine, entry, force_comparable=force_comparable)
    if found is None:
        raise UsageError(no_entry(named, entry))
    unlike = [] if force_comparable else differences_of_programs(runs)
    if unlike:
        found = replace(found, runs=(), reason="; ".join(unlike))
    return check_fitting(check, runs, found, rules, force_comparable=force_comparable)


def check_fitting(
    check: Check,
    runs: Sequence[Run],
    found: Fitting,
    rules: Sequence[BaselineRule] = (),
    *,
    force_comparable: bool = False,
) -> Check:
    """The same with the baseline at hand."""
    comparison = None
    if found.runs:
        checked, comparison = held_against(found.runs, runs, rules, force_comparable=force_comparable)
    else:
        checked = incomparable(rules, found.reason)
    compared = Compared(
        str(found.saved), found.saved.machine, found.baseline.created, found.baseline.commit, comparison
    )
    return replace(check, checked=(*check.checked, *checked), compared=compared)


def fitting(
    named: Sequence[Saved],
    machine: Machine,
    entry: str,
    *,
    force_comparable: bool = False,
    read: Callable[[Saved], Baseline] = Saved.read,
) -> Fitting | None:
    """The newest baseline of this kind of machine that has the entry, else one of another kind; None where
    none has it."""
    mine = [one for one in named if one.machine == machine.id]
    others = [one for one in named if one.machine != machine.id]
    for one in mine:
        baseline = read(one)
        if entry in baseline.entries:
            return Fitting(one, baseline, baseline.entries[entry])
    for one in others:
        baseline = read(one)
        if entry in baseline.entries:
            return _of_other_machine(
                one, baseline, machine, baseline.entries[entry] if force_comparable else ()
            )
    return None


def _of_other_machine(
    saved: Saved, baseline: Baseline, machine: Machine, runs: tuple[StoredRun, ...]
) -> Fitting:
    differences = "; ".join(baseline.machine.differences(machine)) or f"{saved.machine} against {machine.id}"
    reason = f"baseline {saved} is of another kind of machine: {differences}"
    return Fitting(saved, baseline, runs, reason)


def no_entry(named: Sequence[Saved], entry: str) -> str:
    """Why none of these baselines can be compared with, and what to do."""
    first = named[0]
    entries = list(first.read().entries)
    more = f" and {len(entries) - _SHOWN:,} more" if len(entries) > _SHOWN else ""
    there = ", ".join(entries[:_SHOWN]) + more
    if entry == TRACE:
        return (
            f"baseline {first} holds tests ({there}), not a trace: name one with --entry TEST, or save one "
            "of a trace with: overlap-lab baseline save TRACE --name NAME"
        )
    return f"baseline {first} has nothing about {entry}; it has {there}"
