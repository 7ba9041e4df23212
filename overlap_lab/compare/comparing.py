"""`compare`: runs on both sides, one or several, to a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from overlap_lab.compare.baseline import StoredRun
from overlap_lab.compare.comparable import differences_of_setup
from overlap_lab.compare.comparison import Comparison, Sampling
from overlap_lab.compare.pairing import in_time_order, paired_by_time, require_pairs
from overlap_lab.compare.programs import differences_of_programs
from overlap_lab.compare.sampled import Rules, compare_samples
from overlap_lab.compare.samples import (
    FEWEST_STEPS,
    QUIET,
    Per,
    Run,
    Samples,
    count_steps,
    of_repeats,
    of_windows,
    run_of,
)
from overlap_lab.compare.single_run import compare_runs
from overlap_lab.compare.statistics import FEWEST
from overlap_lab.errors import UsageError
from overlap_lab.progress import each, waiting_for
from overlap_lab.report import Report
from overlap_lab.trace import Trace

__all__ = ["Side", "compare"]

Side = Report | Trace | StoredRun | Run | Sequence[Report | Trace | StoredRun | Run]

_SAMPLING: Final = {
    (Per.STEP, False): Sampling.STEPS,
    (Per.STEP, True): Sampling.PAIRED_STEPS,
    (Per.RANGE, False): Sampling.RANGES,
    (Per.RANGE, True): Sampling.PAIRED_RANGES,
    (Per.REPEAT, False): Sampling.REPEATS,
    (Per.REPEAT, True): Sampling.PAIRED_REPEATS,
}


@waiting_for("comparing")
def compare(
    baseline: Side,
    candidate: Side,
    *,
    per: Per | str = Per.AUTO,
    range_name: str | None = None,
    paired: bool | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    force_comparable: bool = False,
) -> Comparison:
    """A candidate against a baseline: one run a side exactly, more with verdicts about chance.

    A side is a trace, a report or a run of a baseline, or several of them: its repeats. `per` is the unit of
    observation; "auto" takes repeats where a side has several runs, steps where both runs have 5 or more,
    else the whole run, whose differences are exact and say nothing about chance. `range_name` takes the
    ranges of that name.

    `paired` holds observation i of one side against observation i of the other, which cancels what the
    machine did to both; None pairs repeats that took turns by their start times. `seed` is the bootstrap's.
    Sides of other machines, drivers, tools or kinds of window are INCOMPARABLE unless `force_comparable`, and
    so are traces of different programs as repeats of one side.
    """
    left, right = _runs(baseline, "baseline"), _runs(candidate, "candidate")
    if not 0.5 < confidence < 1:
        raise UsageError(f"compare: confidence {confidence} is not between 0.5 and 1")
    if seed < 0:
        raise UsageError(f"compare: seed {seed} is negative")
    unit = _unit(per, range_name, left, right)
    if unit is Per.RUN:
        if len(left) > 1 or len(right) > 1:
            raise UsageError(f"compare per run takes one run a side, not {len(left)} and {len(right)}")
        return _with_steps_told(compare_runs(left[0].report, right[0].report), left[0], right[0])
    sides, paired, notes = _observed(unit, left, right, range_name, paired=paired)
    sources = [[run.report.source for run in side] for side in (left, right)]
    setup = differences_of_setup(*sources)
    for name, side in (("baseline", left), ("candidate", right)):
        setup += [f"of the {name}, {one}" for one in differences_of_programs(side)]
    if force_comparable:
        notes += [f"compared all the same: {one}" for one in setup]
    rules = Rules(
        _SAMPLING[unit, paired],
        seed=seed,
        confidence=confidence,
        incomparable=() if force_comparable else tuple(setup),
        other_session=any(run.stored is not None for run in (*left, *right)),
    )
    return compare_samples((left[0].report, right[0].report), sides, rules, notes)


def _with_steps_told(comparison: Comparison, left: Run, right: Run) -> Comparison:
    """A note where the traces have steps, yet too few for a verdict about chance."""
    counts = count_steps(left), count_steps(right)
    if not all(counts) or min(counts) >= FEWEST:
        return comparison
    told = f"the traces have {counts[0]} and {counts[1]} steps"
    note = f"{told}; a verdict about chance takes {FEWEST} on each side"
    return replace(comparison, notes=(*comparison.notes, note))


def _runs(side: Side, name: str) -> list[Run]:
    several = [side] if isinstance(side, Report | Trace | StoredRun | Run) else list(side)
    if not several:
        raise UsageError(f"compare: the {name} has no run")
    return [run_of(one) for one in each(several)]


def _unit(per: Per | str, range_name: str | None, left: list[Run], right: list[Run]) -> Per:
    try:
        unit = Per(per)
    except ValueError:
        raise UsageError(f"compare per {per!r}: choose from {', '.join(Per)}") from None
    if unit is Per.RANGE and not range_name:
        raise UsageError("compare per range: name the range")
    if range_name and unit not in (Per.RANGE, Per.AUTO):
        raise UsageError(f"compare per {unit}: a range's name ({range_name!r}) goes with per range")
    if unit is not Per.AUTO:
        return unit
    if range_name:
        return Per.RANGE
    if len(left) > 1 or len(right) > 1:
        return Per.REPEAT
    return Per.STEP if min(count_steps(left[0]), count_steps(right[0])) >= FEWEST else Per.RUN


def _observed(
    unit: Per, left: list[Run], right: list[Run], range_name: str | None, *, paired: bool | None
) -> tuple[tuple[Samples, Samples], bool, list[str]]:
    """Both sides' observations, whether they are pairs, and what to say about them."""
    notes = []
    if paired is None and unit is Per.REPEAT:
        order = paired_by_time(*([run.report.source for run in side] for side in (left, right)))
        paired = order is not None
        notes += (
            [f"the repeats took turns by their start times ({order}) and are compared in pairs"]
            if order
            else []
        )
    if unit is not Per.REPEAT:
        samples = [of_windows(side, unit, range_name) for side in (left, right)]
        if not paired:
            notes.append(
                f"{unit}s of one run a side show how these two runs differ, not how runs differ: only large "
                "differences count; interleaved repeats (A B A B) find small ones"
            )
    else:
        left, right = (_by_time(side) for side in (left, right))
        by_steps = all(map(count_steps, (*left, *right)))
        samples = [of_repeats(side, by_steps=by_steps) for side in (left, right)]
        if by_steps:
            notes.append(
                f"a repeat counts with the fastest tenth of its steps (quantile {QUIET}; their median below "
                f"{FEWEST_STEPS} steps), and with the median of its steps for other times"
            )
        if not paired:
            notes.append(
                "the repeats did not take turns: interleaved ones (A B A B) find smaller differences"
            )
    if paired:
        require_pairs(samples[0].size, samples[1].size, "repeats" if unit is Per.REPEAT else f"{unit}s")
    return (samples[0], samples[1]), bool(paired), notes


def _by_time(side: list[Run]) -> list[Run]:
    """The repeats as they ran, so that drift shows; as they were given where no clock tells."""
    return [side[at] for at in in_time_order([run.report.source for run in side])]
