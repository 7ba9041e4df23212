"""Captures on a real GPU: `python -m pytest tests/gpu` on a machine that has one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA or ROCm device here", allow_module_level=True)

from overlap_lab import analyze, annotate, load  # noqa: E402
from overlap_lab.capture import Backend, Captured, cupti, in_process, kineto  # noqa: E402
from overlap_lab.capture.in_process import available  # noqa: E402
from overlap_lab.schema import Kind  # noqa: E402

Capture = Callable[[Path], AbstractContextManager[Captured]]
has_cupti = pytest.mark.skipif(find_spec("cupti") is None, reason="cupti-python is not installed")
BOTH = [pytest.param(kineto, id="kineto"), pytest.param(cupti, id="cupti", marks=has_cupti)]
STEPS = 5


@pytest.fixture(scope="module")
def matrix() -> torch.Tensor:
    made = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    (made @ made).sum().item()  # libraries are loaded here and not inside a capture
    return made


@pytest.mark.parametrize("capture", BOTH)
def test_item_in_a_loop_drains_the_device_every_time(
    capture: Capture, matrix: torch.Tensor, tmp_path: Path
) -> None:
    with capture(tmp_path) as captured:
        for _ in range(STEPS):
            (matrix @ matrix).sum().item()
    report = analyze(load(captured.path))
    assert report.value("drain/count") == STEPS - 1
    assert report.value("drain/terminal") == 1
    assert report.value("quality/unlinked_ops") == 0


@pytest.mark.parametrize("capture", BOTH)
def test_work_that_is_only_enqueued_drains_nothing(
    capture: Capture, matrix: torch.Tensor, tmp_path: Path
) -> None:
    with capture(tmp_path) as captured:
        for _ in range(STEPS):
            torch.relu(matrix @ matrix)
    report = analyze(load(captured.path))
    assert report.value("drain/count") == 0
    assert report.value("overlap/ratio") == 1.0


@pytest.mark.parametrize("capture", BOTH)
def test_ranges_and_the_device_are_in_the_trace(
    capture: Capture, matrix: torch.Tensor, tmp_path: Path
) -> None:
    with capture(tmp_path) as captured, annotate("product"):
        (matrix @ matrix).sum().item()
    trace = load(captured.path)
    assert "product" in [trace.name_of(i) for i in range(len(trace)) if trace.kind[i] == Kind.RANGE]
    assert torch.cuda.get_device_name() in trace.source.devices.values()


@has_cupti
def test_a_wait_for_an_event_is_linked_to_its_record(matrix: torch.Tensor, tmp_path: Path) -> None:
    """Kineto writes -1 where CUPTI names the call."""
    with cupti(tmp_path) as captured:
        product = matrix @ matrix
        event = torch.cuda.Event()
        event.record()
        event.synchronize()
        torch.relu(product)
    trace = load(captured.path)
    waits = [i for i in range(len(trace)) if trace.name_of(i) == "Event Sync"]
    assert len(waits) == 1
    [recorded] = [i for i in range(len(trace)) if trace.name_of(i).startswith("cudaEventRecord")]
    assert trace.wait_correlation[waits[0]] == trace.correlation[recorded]


def test_the_device_is_what_is_recorded_by_default(matrix: torch.Tensor, tmp_path: Path) -> None:
    assert available() is Backend.KINETO
    with in_process(tmp_path) as captured:
        (matrix @ matrix).sum().item()
    assert analyze(load(captured.path)).value("quality/no_device_records") == 0
