"""A small part of `python scripts/calibrate_baselines.py`, whose table is in docs/regression-testing.md."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "calibrate_baselines.py"


@pytest.fixture(scope="module")
def calibration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibrate_baselines", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["calibrate_baselines"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["gpu", "host_sync", "host_async"])
def test_repeats_of_one_program_are_never_red(calibration: ModuleType, name: str) -> None:
    [noise] = [one for one in calibration._comparison().sources() if one.name == name]
    drawn = dict(calibration._drawn(noise.captures, 200, 11))
    assert {
        way: calibration._red(*drawn[way], slower=0, allowed=0) for way in ("5 repeats", "10 repeats")
    } == {
        "5 repeats": 0.0,
        "10 repeats": 0.0,
    }


def test_steps_of_a_gpu_that_take_half_as_long_again_are_mostly_red(calibration: ModuleType) -> None:
    [noise] = [one for one in calibration._comparison().sources() if one.name == "gpu"]
    steps = dict(calibration._drawn(noise.captures, 200, 11))["20 steps"]
    assert calibration._red(*steps, slower=0, allowed=0.1) == 0
    assert calibration._red(*steps, slower=0.5, allowed=0.1) > 0.6
