"""Real captures, where they lie beside the repository: each gives a report, three have pinned numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overlap_lab.schema import Fault
from tests.reference.command import ROOT, in_process, json_of, value

SAMPLES = ROOT.parent / "shared" / "samples"
US = 1_000
TRACE_FILES = ("kernel_trace", "memory_copy_trace", "hip_api_trace", "hip_runtime_trace", "hip_trace")
"""CSV files of host calls or device ops; the others hold counters, statistics, names, other APIs."""
FORMATS = ("kineto_amd", "kineto_nvidia", "nsys_sqlite", "rocpd_db", "rocprofv3_csv", "rocprofv3_json")

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no real captures beside the repository")


def files() -> list[Path]:
    return sorted(path for room in FORMATS for path in (SAMPLES / room).rglob("*") if path.is_file())


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_real_capture_gives_a_report_and_a_csv_without_a_trace_one_clear_error(path: Path) -> None:
    code, out, err = in_process("analyze", path, "--json", "-")
    if code == 2 and path.suffix == ".csv" and not any(word in path.name for word in TRACE_FILES):
        assert (out, len(err.splitlines())) == ("", 1), err
        return
    assert code == 0, err
    counted = {m["tag"] for m in json.loads(out)["measurements"] if m["value"] is not None}
    assert {f"quality/{fault}" for fault in Fault} <= counted


PINNED = {
    "kineto_amd/hta_mi250_minitoy_train_ROCm6_2.json.gz": {
        "device/busy": 149_042,
        "device/idle": 8_762_845,
        "host/blocked": 95_772,
    },
    "kineto_nvidia/hta_cuda_event_sync.json.gz": {
        "device/busy": 51 * US,
        "device/idle": 212 * US,
        "host/blocked/explicit": 34 * US,
    },
    "kineto_nvidia/hta_cuda_event_sync_multi_stream.json.gz": {
        "device/busy": 372 * US,
        "device/idle": 19_134 * US,
        "host/blocked": 20 * US,
    },
}


@pytest.mark.parametrize("name", PINNED)
def test_the_pinned_numbers_of_a_real_capture_hold(name: str) -> None:
    document = json_of(SAMPLES / name)
    assert {tag: value(document, tag) for tag in PINNED[name]} == PINNED[name]
