"""How often `overlap-lab compare` raises a false alarm, and how often it finds a change of 5 %.

    python scripts/calibrate_comparison.py                  the tables of docs/comparison.md
    python scripts/calibrate_comparison.py --sources gpu --change 0.5 --comparisons 200
    python scripts/calibrate_comparison.py --ways "as recorded" --steps 20

The noise is that of recorded step times (tests/data/step_times, made by scripts/record_step_times.py) and of
the traces in traces/: runs of neighbours are drawn as they are, so that what steps share with their
neighbours, the heavy tails and the drift stay in. Both sides of a comparison are drawn from the same program;
for the second figure one side is made 5 % slower. The rules are the product's own (compare/statistics.py).

Ways to observe:
  steps, a run each     n successive steps of one capture against n of another capture
  repeats, in turn      n repeats, then n more; a repeat is 10 steps and counts with its fastest tenth
  repeats, interleaved  the same, A B A B, compared in pairs
  steps, interleaved    single steps A B A B, compared in pairs
Pairs are drawn in blocks of five with A first or B first, so that only chance decides between them. Those
"as recorded" stand in one run of neighbours with A always first, as in a real series of captures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu

from overlap_lab.compare.sampled import FEWEST_PAIRS
from overlap_lab.compare.samples import QUIET
from overlap_lab.compare.statistics import (
    ALPHA,
    OTHER_RUN,
    SAME_RUN,
    Evidence,
    Floats,
    evidence,
    paired_evidence,
)

ROOT = Path(__file__).parents[1]
COUNTS = (5, 10, 20, 50)
CHANGE = 0.05
STEPS_OF_REPEAT = 10
PAIRS_OF_BLOCK = 5


@dataclass(frozen=True)
class Source:
    """Step times of one program: captures of the same number of steps, in time order."""

    name: str
    captures: Floats
    recorded: bool = True
    """Whether neighbours are those of one run of the program, and not drawn together."""

    @property
    def series(self) -> Floats:
        return self.captures.ravel()


@dataclass(frozen=True)
class Way:
    """A way to observe: draws both sides, (comparisons, n) each, and weighs them."""

    name: str
    draw: Callable[[Source, int, int, np.random.Generator], tuple[Floats, Floats] | None]
    weigh: Callable[[Floats, Floats], Evidence]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comparisons", type=int, default=2_000)
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--change", type=float, default=CHANGE, help="share by which one side is slower")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sources", default="", help="names with commas between (default: all)")
    parser.add_argument("--steps", type=int, default=STEPS_OF_REPEAT, help="steps of a repeat")
    parser.add_argument("--ways", default="", help="only ways to observe whose name holds this")
    options = parser.parse_args()
    wanted = [name for name in options.sources.split(",") if name]
    began = time.monotonic()
    print(heading(options.change))
    for source in sources():
        if wanted and source.name not in wanted:
            continue
        for way in (one for one in ways(options.resamples, options.steps) if options.ways in one.name):
            found = [
                rates(source, way, (count, options.comparisons), change=options.change, seed=options.seed)
                for count in COUNTS
            ]
            if any(found):
                print(line(source.name, way.name, found), flush=True)
    print(f"\n{options.comparisons} comparisons a row, seed {options.seed}, {time.monotonic() - began:.0f} s")


Rates = tuple[float, float, float, float]
"""Shares of false alarms, those of Mann-Whitney alone, changes found, and changes called the same."""


def heading(change: float) -> str:
    """The head of the table, in Markdown; all numbers are per cent."""
    alarms = " | ".join(f"false alarms, n = {count}" for count in COUNTS)
    hits = " | ".join(f"{change:.0%} found, n = {count}" for count in COUNTS)
    return (
        f"| noise | observed | {alarms} | Mann-Whitney alone, {COUNTS[2]} | {hits} "
        f"| called the same, at most |\n| --- | --- |{' ---: |' * (2 * len(COUNTS) + 2)}"
    )


def line(noise: str, observed: str, found: list[Rates | None]) -> str:
    """One row of the table; n/a where too few steps were recorded."""
    alarms, plain, hits, same = ([None if one is None else 100 * one[at] for one in found] for at in range(4))
    most = max((rate for rate in same if rate is not None), default=None)
    cells = ["n/a" if rate is None else f"{rate:.1f}" for rate in (*alarms, plain[2], *hits, most)]
    return f"| {noise} | {observed} | {' | '.join(cells)} |"


def sources() -> list[Source]:
    """Every recorded noise, and normal draws of 2 % for reference."""
    found = [
        Source(path.stem, np.array(json.loads(path.read_text())["captures"], np.float64))
        for path in sorted((ROOT / "tests/data/step_times").glob("*.json"))
    ]
    normal = np.random.default_rng(0).normal(1, 0.02, (50, 200))
    return [*found, Source("traces", layers_of_traces(), False), Source("normal 2 %", normal, False)]


def layers_of_traces() -> Floats:
    """The longest kernel of each layer over the trace's median; three layers a trace, drawn together."""
    from overlap_lab.loaders import load
    from overlap_lab.schema import Kind

    captures = []
    for path in sorted((ROOT / "traces").glob("*.db")):
        trace = load(path)
        rows = [row for row in np.flatnonzero(trace.kind == Kind.KERNEL) if "dq_dk_dv" in trace.name_of(row)]
        times = np.array([trace.end_ns[row] - trace.start_ns[row] for row in rows], np.float64)
        captures.append(times / np.median(times))
    drawn = np.random.default_rng(0).integers(0, len(captures), (50, 60))
    return np.stack(captures)[drawn].reshape(50, -1)


def ways(resamples: int, steps: int = STEPS_OF_REPEAT) -> list[Way]:
    """Every way to observe, with the rule that the product applies to it."""

    def apart(floors: float) -> Callable[[Floats, Floats], Evidence]:
        return lambda a, b: evidence(a, b, floors=floors, seed=0, resamples=resamples)

    def pairs(a: Floats, b: Floats) -> Evidence:
        return paired_evidence(a, b, seed=0, resamples=resamples)

    return [
        Way("steps, a run each", steps_of_two_captures, apart(OTHER_RUN)),
        Way("repeats, in turn", lambda *a: repeats_in_turn(*a, steps=steps), apart(SAME_RUN)),
        Way("repeats, interleaved", lambda *a: interleaved(*a, steps=steps), pairs),
        Way("steps, interleaved", lambda *a: interleaved(*a, steps=1), pairs),
        Way("repeats, interleaved as recorded", lambda *a: in_one_run(*a, steps=steps), pairs),
        Way("steps, interleaved as recorded", lambda *a: in_one_run(*a, steps=1), pairs),
    ]


def rates(
    source: Source, way: Way, size: tuple[int, int], *, seed: int, change: float = CHANGE
) -> Rates | None:
    """The shares at a number of (observations a side, comparisons); None where too little was recorded."""
    count, comparisons = size
    random = np.random.default_rng([seed, count])
    drawn = way.draw(source, count, comparisons, random)
    if drawn is None:
        return None
    baseline, candidate = drawn
    plain = float((mannwhitneyu(baseline, candidate, axis=-1, method="asymptotic").pvalue < ALPHA).mean())
    if "interleaved" in way.name and count < FEWEST_PAIRS:
        return 0.0, plain, 0.0, 0.0  # always UNDECIDED
    null, changed = way.weigh(baseline, candidate), way.weigh(baseline, candidate * (1 + change))
    found = changed.differs & (changed.difference > 0)
    same = changed.is_narrow & ~changed.differs
    return float(null.differs.mean()), plain, float(found.mean()), float(same.mean())


def steps_of_two_captures(
    source: Source, count: int, comparisons: int, random: np.random.Generator
) -> tuple[Floats, Floats] | None:
    captures, steps = source.captures.shape
    if count > steps:
        return None
    one = random.integers(0, captures, comparisons)
    other = (one + random.integers(1, captures, comparisons)) % captures
    at = random.integers(0, steps - count + 1, (2, comparisons, 1)) + np.arange(count)
    return source.captures[one[:, None], at[0]], source.captures[other[:, None], at[1]]


def repeats_in_turn(
    source: Source, count: int, comparisons: int, random: np.random.Generator, *, steps: int
) -> tuple[Floats, Floats] | None:
    long = 2 * count * steps
    if 5 * long > source.series.size:
        return None
    start = random.integers(0, source.series.size - long + 1, (comparisons, 1))
    times = source.series[start + np.arange(long)].reshape(comparisons, 2 * count, steps)
    repeats = np.quantile(times, QUIET, axis=-1)
    return repeats[:, :count], repeats[:, count:]


def interleaved(
    source: Source, count: int, comparisons: int, random: np.random.Generator, *, steps: int
) -> tuple[Floats, Floats] | None:
    blocks = -(-count // PAIRS_OF_BLOCK)
    long = 2 * PAIRS_OF_BLOCK * steps
    if 5 * long > source.series.size:
        return None
    start = random.integers(0, source.series.size - long + 1, (comparisons, blocks, 1))
    times = source.series[start + np.arange(long)].reshape(comparisons, blocks, PAIRS_OF_BLOCK, 2, steps)
    values = np.quantile(times, QUIET, axis=-1) if steps > 1 else times[..., 0]
    swap = random.integers(0, 2, (comparisons, blocks, 1)).astype(bool)
    first = np.where(swap, values[..., 1], values[..., 0])
    second = np.where(swap, values[..., 0], values[..., 1])
    return first.reshape(comparisons, -1)[:, :count], second.reshape(comparisons, -1)[:, :count]


def in_one_run(
    source: Source, count: int, comparisons: int, random: np.random.Generator, *, steps: int
) -> tuple[Floats, Floats] | None:
    long = 2 * count * steps
    if not source.recorded or 5 * long > source.series.size:
        return None
    start = random.integers(0, source.series.size - long + 1, (comparisons, 1))
    times = source.series[start + np.arange(long)].reshape(comparisons, count, 2, steps)
    values = np.quantile(times, QUIET, axis=-1) if steps > 1 else times[..., 0]
    return values[..., 0], values[..., 1]


if __name__ == "__main__":
    main()
