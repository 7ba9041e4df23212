"""Captures of the CPU host target: what the analysis concludes against what the runtime itself knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

hip_ext = pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")

from overlap_lab.analyze import analyze  # noqa: E402
from overlap_lab.capture.annotate import annotate  # noqa: E402
from overlap_lab.capture.host import HostCapture, capture, record  # noqa: E402
from overlap_lab.cli.demo_workload import BackwardLoop, Mode, Shape  # noqa: E402
from overlap_lab.errors import CaptureError, UsageError  # noqa: E402
from overlap_lab.loaders import load  # noqa: E402
from overlap_lab.report import Report  # noqa: E402
from overlap_lab.schema import Kind  # noqa: E402
from overlap_lab.trace import Trace  # noqa: E402

SMALL = Shape(seqlens=(256, 128), heads=2, head_dim=64)


@pytest.fixture(scope="module")
def loop() -> BackwardLoop:
    made = BackwardLoop(3, SMALL)
    made.warm_up(tuple(Mode))
    return made


def waits_of(report: Report) -> list[dict[str, object]]:
    table = report.tables["waits"]
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def correlations_that_waited(trace: Trace, report: Report) -> set[int]:
    """Ids of the calls in the waits table, found by thread and start."""
    calls = trace.where(trace.kind == Kind.API)
    by_place = dict(
        zip(
            zip(calls.thread.tolist(), calls.start_ns.tolist(), strict=True),
            calls.correlation.tolist(),
            strict=True,
        )
    )
    return {by_place[wait["thread"], wait["start_absolute"]] for wait in waits_of(report)}


def test_the_classifier_finds_the_waits_that_the_runtime_knows_of(
    loop: BackwardLoop, mode: Mode, tmp_path: Path
) -> None:
    captured = loop.record(mode)
    trace = load(captured.write(tmp_path / "trace.db"))
    report = analyze(trace)
    assert correlations_that_waited(trace, report) == set(captured.waited)


@pytest.fixture(params=list(Mode))
def mode(request: pytest.FixtureRequest) -> Mode:
    return request.param


def without_host_functions(captured: HostCapture) -> HostCapture:
    import dataclasses

    kept = tuple(r for r in captured.recording.ranges if r.message != "host function")
    assert len(kept) < len(captured.recording.ranges)
    return HostCapture(dataclasses.replace(captured.recording, ranges=kept), captured.waited)


def test_numbers_are_the_same_with_host_functions_removed(loop: BackwardLoop, tmp_path: Path) -> None:
    captured = loop.record(Mode.ASYNC)
    whole = analyze(load(captured.write(tmp_path / "whole.db")))
    removed = analyze(load(without_host_functions(captured).write(tmp_path / "removed.db")))
    process = captured.recording.process
    main_thread = {c.thread for c in captured.recording.calls}

    def numbers(report: Report) -> list[tuple[object, ...]]:
        return [
            (m.tag, tuple(m.scope.items()), m.value)
            for m in report.measurements
            if "thread" not in m.scope or m.scope["thread"] in main_thread
        ]

    assert process in {m.scope.get("process") for m in whole.measurements}
    assert numbers(whole) == numbers(removed)


def test_ranges_of_the_work_are_in_the_trace(tmp_path: Path) -> None:
    def work() -> None:
        stream = hip_ext.Stream()
        with annotate("mine <&>"):
            stream.synchronize()

    trace = load(capture(work, tmp_path / "trace.db"))
    names = [trace.name_of(i) for i in range(len(trace)) if trace.kind[i] == Kind.RANGE]
    assert names == ["mine <&>"]


def test_the_preparation_and_the_pack_function_are_visible(loop: BackwardLoop, mode: Mode) -> None:
    recording = loop.record(mode).recording
    [main_thread] = {call.thread for call in recording.calls}
    prepared = [one for one in recording.ranges if one.message == f"hip_ext prepare {mode}"]
    packed = [one for one in recording.ranges if one.message == "hip_ext pack"]
    assert [one.thread for one in prepared] == [main_thread] * 3
    assert len(packed) == (3 if mode is Mode.ASYNC else 0)
    assert main_thread not in {one.thread for one in packed}


def test_a_range_outside_of_a_recording_does_nothing() -> None:
    with annotate("nobody looks"):
        pass


def test_an_existing_file_is_not_overwritten_and_the_work_not_run(tmp_path: Path) -> None:
    target = tmp_path / "trace.db"
    target.touch()
    with pytest.raises(UsageError, match="exists already"):
        capture(lambda: pytest.fail("ran"), target)


def test_work_without_calls_is_an_error() -> None:
    with pytest.raises(CaptureError, match="nothing to trace"):
        record(lambda: None)


def test_recording_ends_when_the_work_raises() -> None:
    def work() -> None:
        raise ValueError("mine")

    for _ in range(2):
        with pytest.raises(ValueError, match="mine"):
            record(work)


def test_one_recording_at_a_time() -> None:
    with pytest.raises(CaptureError, match="one at a time"):
        record(lambda: record(lambda: None))


def test_a_host_capture_needs_no_plotly(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from overlap_lab.capture.host import capture\n"
        "import hip_ext\n"
        f"capture(lambda: hip_ext.Stream().synchronize(), {str(tmp_path / 't.db')!r})\n"
        "assert 'plotly' not in sys.modules and 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
