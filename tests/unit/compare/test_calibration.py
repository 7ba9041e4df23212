"""A small part of `python scripts/calibrate_comparison.py`, whose full tables are in docs/comparison.md."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "calibrate_comparison.py"
WAYS = ("steps, a run each", "repeats, in turn", "repeats, interleaved", "steps, interleaved")


@pytest.fixture(scope="module")
def calibration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibrate_comparison", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["calibrate_comparison"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def rates(calibration: ModuleType, source: str, way: str, count: int) -> tuple[float, float, float, float]:
    [noise] = [one for one in calibration.sources() if one.name == source]
    [observed] = [one for one in calibration.ways(200) if one.name == way]
    found = calibration.rates(noise, observed, (count, 200), seed=11)
    assert found is not None
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", ["gpu", "host_sync", "host_async"])
def test_a_program_against_itself_raises_few_alarms(calibration: ModuleType, source: str, way: str) -> None:
    false_alarms, _, _, _ = rates(calibration, source, way, 10)
    assert false_alarms <= 0.05


@pytest.mark.parametrize("source", ["gpu", "host_sync", "host_async", "traces"])
def test_five_percent_are_found_in_twenty_interleaved_repeats(calibration: ModuleType, source: str) -> None:
    false_alarms, _, found, same = rates(calibration, source, "repeats, interleaved", 20)
    assert false_alarms <= 0.05
    assert found >= 0.86  # 90 %, less two standard errors of so few comparisons
    assert same <= 0.02


def test_the_textbook_test_alone_would_cry_wolf(calibration: ModuleType) -> None:
    """Why the noise floor is there: Mann-Whitney takes neighbouring steps for independent."""
    _, plain, _, _ = rates(calibration, "gpu", "steps, a run each", 20)
    assert plain > 0.4
