"""How often a time is red against a stored baseline of the same program, and how often a slower one is.

    python scripts/calibrate_baselines.py        the table of docs/regression-testing.md

The noise is that of the recorded step times of calibrate_comparison.py. The baseline is drawn from the first
third of a recording and the candidate from the last, so that the machine had time to drift; days between them
are not in the recordings. `steps`: 20 successive steps of one capture a side. `repeats`: 5 or 10 successive
captures a side, each with 20 steps, of which the fastest tenth counts. The rules are the product's own; steps
of the CPU host target are left out, as they are never red.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from overlap_lab.compare.baseline_check import is_beyond
from overlap_lab.compare.samples import QUIET
from overlap_lab.compare.statistics import OTHER_RUN, Floats, evidence

ALLOWED = (0.0, 0.1, 0.2)
SLOWER = (0.0, 0.25, 0.5, 1.0)
STEPS = 20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--comparisons", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    heads = [
        f"{f'{slower:.0%} slower' if slower else 'same'}, {allowed:.0%}"
        for slower in SLOWER
        for allowed in ALLOWED
    ]
    print(f"| noise | observed | {' | '.join(heads)} |\n| --- | --- |{' ---: |' * len(heads)}")
    for source in _comparison().sources():
        if source.name in ("traces", "normal 2 %"):
            continue
        for name, sides in _drawn(source.captures, options.comparisons, options.seed):
            if source.name.startswith("host") and "steps" in name:
                continue
            cells = [
                f"{100 * _red(*sides, slower=slower, allowed=allowed):.1f}"
                for slower in SLOWER
                for allowed in ALLOWED
            ]
            print(f"| {source.name} | {name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{options.comparisons} comparisons a row, seed {options.seed}")


def _comparison() -> ModuleType:
    """The script beside this one, which has the recordings."""
    path = Path(__file__).with_name("calibrate_comparison.py")
    spec = importlib.util.spec_from_file_location("calibrate_comparison", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _drawn(captures: Floats, comparisons: int, seed: int) -> list[tuple[str, tuple[Floats, Floats]]]:
    """Both sides of every way to observe, (comparisons, observations) each."""
    third = captures.shape[0] // 3
    ends = captures[:third], captures[-third:]
    found = []
    random = np.random.default_rng(seed)
    found.append(
        (f"{STEPS} steps", (_steps(ends[0], comparisons, random), _steps(ends[1], comparisons, random)))
    )
    for count in (5, 10):
        if count < third:
            sides = (
                _repeats(ends[0], count, comparisons, random),
                _repeats(ends[1], count, comparisons, random),
            )
            found.append((f"{count} repeats", sides))
    return found


def _steps(captures: Floats, comparisons: int, random: np.random.Generator) -> Floats:
    one = random.integers(0, captures.shape[0], (comparisons, 1))
    at = random.integers(0, captures.shape[1] - STEPS + 1, (comparisons, 1)) + np.arange(STEPS)
    return np.asarray(captures[one, at])


def _repeats(captures: Floats, count: int, comparisons: int, random: np.random.Generator) -> Floats:
    first = random.integers(0, captures.shape[0] - count + 1, (comparisons, 1, 1)) + np.arange(count)[:, None]
    at = random.integers(0, captures.shape[1] - STEPS + 1, (comparisons, count, 1)) + np.arange(STEPS)
    return np.asarray(np.quantile(captures[first, at], QUIET, axis=-1))


def _red(baseline: Floats, candidate: Floats, *, slower: float, allowed: float) -> float:
    """Which share of the comparisons is violated."""
    found = evidence(baseline, candidate * (1 + slower), floors=OTHER_RUN, seed=0, resamples=400)
    limits = allowed * found.baseline
    rows = zip(found.differs, found.difference, found.low, found.floor, limits, strict=True)
    return float(np.mean([bool(differs) and is_beyond(*row) for differs, *row in rows]))


if __name__ == "__main__":
    main()
