"""What a comparison of repeats that took turns says, as JSON, Markdown and text.

Rewritten by `python -m tests.golden.test_comparison`; the difference is read in review.
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest

from overlap_lab.compare import Comparison, compare
from overlap_lab.loaders import load
from overlap_lab.render.compare_json import comparison_to_json
from overlap_lab.render.compare_markdown import comparison_to_markdown
from overlap_lab.render.compare_text import comparison_text
from tests.end_to_end.step_traces import write_steps

GOLDEN = Path(__file__).parent / "comparison"
REPEATS = 10


def compared(folder: Path) -> Comparison:
    """Ten repeats a side in turn; the candidate thinks 60 us longer behind every wait."""
    sides: list[list[Any]] = [[], []]
    for number in range(REPEATS):
        for side, late in enumerate((30, 90)):
            path = folder / f"{('before', 'after')[side]}_{number}.json"
            start = 1_000_000 * (2 * number + side)
            write_steps(path, kernel_us=900 + 7 * (number % 4), late_us=late + number % 3, start_us=start)
            sides[side].append(load(path))
    return compare(*sides)


def texts(folder: Path) -> dict[str, str]:
    comparison = compared(folder)
    said = {
        "comparison.json": comparison_to_json(comparison),
        "comparison.md": comparison_to_markdown(comparison),
        "comparison.txt": comparison_text(comparison, width=150),
    }
    return {name: text.replace(f"{folder}/", "") + "\n" for name, text in said.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return texts(tmp_path_factory.mktemp("repeats"))


def test_the_json_is_the_golden_one(made: dict[str, str]) -> None:
    assert_alike(json.loads(made["comparison.json"]), json.loads((GOLDEN / "comparison.json").read_text()))


@pytest.mark.parametrize("name", ["comparison.md", "comparison.txt"])
def test_what_people_read_is_the_golden_text(made: dict[str, str], name: str) -> None:
    assert made[name] == (GOLDEN / name).read_text()


def assert_alike(found: Any, golden: Any) -> None:
    """Equal, but for the last digits of what SciPy's functions return."""
    if isinstance(golden, float) or isinstance(found, float):
        assert math.isclose(found, golden, rel_tol=1e-6, abs_tol=1e-12)
    elif isinstance(golden, dict):
        assert found.keys() == golden.keys()
        for key, value in golden.items():
            assert_alike(found[key], value)
    elif isinstance(golden, list):
        assert len(found) == len(golden)
        for one, other in zip(found, golden, strict=True):
            assert_alike(one, other)
    else:
        assert found == golden


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in texts(Path(scratch)).items():
            (GOLDEN / name).write_text(text)
