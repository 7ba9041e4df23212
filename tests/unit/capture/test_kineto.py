"""Captures with torch.profiler on the CPU; with a GPU they are run by hand (docs/capture.md)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch.profiler needs torch")

from overlap_lab import analyze, load  # noqa: E402
from overlap_lab.capture import Schedule, annotate, kineto  # noqa: E402
from overlap_lab.errors import CaptureError, MissingDependency, UsageError  # noqa: E402
from overlap_lab.schema import Fault, Kind  # noqa: E402
from overlap_lab.trace import Trace  # noqa: E402


def step() -> None:
    torch.ones(8, 8).sum().item()


def names(trace: Trace, kind: Kind) -> list[str]:
    return [trace.name_of(i) for i in range(len(trace)) if trace.kind[i] == kind]


def test_the_block_becomes_one_trace_with_its_ops_and_ranges(tmp_path: Path) -> None:
    with kineto(tmp_path) as captured, annotate("inner <b>"):
        step()
    assert captured.path.name.endswith(".pt.trace.json.gz")
    assert [path.name for path in tmp_path.iterdir()] == [captured.path.name]
    trace = load(captured.path)
    assert "aten::item" in names(trace, Kind.CPU_OP)
    assert "inner <b>" in names(trace, Kind.RANGE)
    assert not names(trace, Kind.PYTHON)


def test_the_origin_is_in_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("MY_API_TOKEN", "swordfish")
    with kineto(tmp_path) as captured:
        step()
    facts = load(captured.path).source.metadata
    assert facts["captured with"] == "kineto"
    assert facts["tool"] == f"torch.profiler {torch.__version__}"
    assert facts["environment OMP_NUM_THREADS"] == "2"
    assert not any("swordfish" in value for value in facts.values())


def test_without_a_device_capture_and_report_say_so_and_nothing_passes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with kineto(tmp_path) as captured:
        step()
    [warning] = [record for record in caplog.records if record.name == "overlap_lab.capture.kineto"]
    assert warning.levelname == "WARNING"
    assert "torch has no CUDA or ROCm device here" in warning.getMessage()
    report = analyze(load(captured.path))
    assert report.verdict.startswith("no device records and no calls that could wait for a device, only")
    assert report.value(f"quality/{Fault.NO_DEVICE_RECORDS}") == 1
    assert report.value("drain/count") is None


def test_stacks_are_recorded_when_asked_for(tmp_path: Path) -> None:
    with kineto(tmp_path, stacks=True) as captured:
        step()
    assert any("step" in name for name in names(load(captured.path), Kind.PYTHON))


def test_a_schedule_gives_a_trace_for_each_cycle(tmp_path: Path) -> None:
    schedule = Schedule(wait=1, warmup=1, active=2, repeat=2)
    with kineto(tmp_path, schedule=schedule) as captured:
        for _ in range(schedule.steps):
            step()
            captured.step()
    assert len(captured.paths) == 2
    for path in captured.paths:
        assert len([n for n in names(load(path), Kind.RANGE) if n.startswith("ProfilerStep#")]) == 2
    with pytest.raises(CaptureError, match="2 files: ask for `paths`"):
        captured.path  # noqa: B018


def test_too_few_steps_for_the_schedule_are_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(CaptureError, match=r"fewer steps than Schedule\(wait=1"),
        kineto(tmp_path, schedule=Schedule(wait=1, warmup=1, active=1)),
    ):
        step()


def test_ranks_get_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    with kineto(tmp_path) as captured:
        step()
    assert f"_rank3_{os.getpid()}_" in captured.path.name


def test_the_path_is_not_known_inside_of_the_block_nor_a_step_behind_it(tmp_path: Path) -> None:
    with kineto(tmp_path) as captured:
        step()
        with pytest.raises(CaptureError, match="its block has not ended"):
            captured.path  # noqa: B018
    with pytest.raises(CaptureError, match=r"step\(\) outside"):
        captured.step()


def test_a_profiler_that_is_at_work_already_is_one_error(tmp_path: Path) -> None:
    with torch.profiler.profile(), pytest.raises(CaptureError, match="one at a time"), kineto(tmp_path):
        pass


def test_an_error_in_the_block_is_the_blocks_own_and_the_trace_is_kept(tmp_path: Path) -> None:
    def block() -> None:
        with kineto(tmp_path):
            step()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    [path] = tmp_path.iterdir()
    assert len(load(path)) > 0


@pytest.mark.parametrize("wrong", [{"active": 0}, {"repeat": 0}, {"wait": -1}, {"warmup": -1}])
def test_an_impossible_schedule_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        Schedule(**wrong)


def test_without_torch_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency, match=r"pip install 'overlap_lab\[torch\]'"), kineto(tmp_path):
        pass
