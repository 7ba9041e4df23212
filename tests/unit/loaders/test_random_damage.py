"""Files of every format with random damage: each is analysed, or refused in the package's own words."""

from __future__ import annotations

import json
import os
import random
import resource
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.analyze import analyze
from overlap_lab.errors import OverlapLabError
from overlap_lab.loaders import load
from tests.unit.loaders import sdk_json

EXAMPLES = int(os.environ.get("DAMAGED_FILES", "200"))
CASES = Path(__file__).parents[2] / "cases" / "data"
MOST_KILOBYTES = 400_000
"""A file of some kilobytes never takes more, whatever its bytes say of sizes and counts."""

SAMPLES = {
    "kineto": (CASES / "01_item_sync_loop" / "trace.json", "trace.json"),
    "csv": (CASES / "23_csv_headers" / "7.0" / "run_kernel_trace.csv", "run_kernel_trace.csv"),
    "rocpd": (CASES / "22_rocpd_one_process" / "one_results.db", "one_results.db"),
    "nsys": (CASES / "08_first_launch_not_a_wait" / "report.sqlite", "report.sqlite"),
}


def original(name: str) -> tuple[bytes, str]:
    """A sound file and what it is called."""
    if name == "rocprofv3 json":
        return json.dumps(sdk_json.document(sdk_json.one_process())).encode(), "run_results.json"
    path, called = SAMPLES[name]
    return path.read_bytes(), called


def flipped(data: bytearray, at: int, chance: random.Random) -> None:
    data[at] ^= 1 << chance.randrange(8)


def overwritten(data: bytearray, at: int, chance: random.Random) -> None:
    size = chance.randrange(1, 9)
    data[at : at + size] = bytes(chance.choice((0, 0xFF, chance.randrange(256))) for _ in range(size))


def moved(data: bytearray, at: int, chance: random.Random) -> None:
    """A stretch of the file stands here too."""
    begin, size = chance.randrange(len(data)), chance.randrange(1, 600)
    data[at : at + size] = data[begin : begin + size]


def inserted(data: bytearray, at: int, chance: random.Random) -> None:
    data[at:at] = chance.choice((b"\0", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"\n", b"9" * 30, b"-"))


def dropped(data: bytearray, at: int, chance: random.Random) -> None:
    del data[at : at + chance.randrange(1, 40)]


def cut(data: bytearray, at: int, chance: random.Random) -> None:
    del data[at + chance.randrange(40) :]


DAMAGES: list[Callable[[bytearray, int, random.Random], None]] = [
    flipped, overwritten, moved, inserted, dropped, cut,
]  # fmt: skip


def analyzed(path: Path) -> None:
    """Any exception but the package's own fails the test."""
    with suppress(OverlapLabError):
        analyze(load(path))


@pytest.mark.parametrize("name", [*SAMPLES, "rocprofv3 json"])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=EXAMPLES,
    deadline=None,
)
@given(st.lists(st.sampled_from(DAMAGES), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_damage_ends_in_an_analysis_or_in_a_clear_error(
    tmp_path: Path,
    name: str,
    damages: list[Callable[[bytearray, int, random.Random], None]],
    chance: random.Random,
) -> None:
    content, called = original(name)
    data = bytearray(content)
    for damage in damages:
        if data:
            damage(data, chance.randrange(len(data)), chance)
    path = tmp_path / called
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    analyzed(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_KILOBYTES
