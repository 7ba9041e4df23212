"""`overlap-lab demo` as a real process: what its three traces must show, and that all its numbers agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

hip_ext = pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")

from overlap_lab.analyze import analyze  # noqa: E402
from overlap_lab.cli.demo_results import blocked_but_terminal_ns  # noqa: E402
from overlap_lab.cli.demo_workload import BackwardLoop, Mode, Shape  # noqa: E402
from overlap_lab.loaders import load  # noqa: E402
from overlap_lab.report import Report  # noqa: E402
from overlap_lab.schema import Api, Kind  # noqa: E402
from overlap_lab.trace import Trace  # noqa: E402

LAYERS = 4
SMALL = Shape(seqlens=(512, 256), heads=2, head_dim=64)
MODES = ("sync", "async", "device")


def overlap_lab(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "overlap_lab", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("demo")
    done = overlap_lab("demo", "--layers", "2", "--repeats", "3", "--out", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out", done


def test_it_writes_a_trace_a_mode_and_both_reports(demo: tuple[Path, Any]) -> None:
    folder, done = demo
    written = {"trace_sync.db", "trace_async.db", "trace_device.db", "report.html", "report.json"}
    assert {path.name for path in folder.iterdir()} == written
    assert all(name in done.stdout.splitlines()[-1] for name in written)


def test_its_numbers_are_those_of_analyze_on_the_files_it_wrote(demo: tuple[Path, Any]) -> None:
    folder, _ = demo
    paths = [str(folder / f"trace_{mode}.db") for mode in MODES]
    shown = json.loads(overlap_lab("analyze", *paths, "--json", "-", folder=folder.parent).stdout)
    told = json.loads((folder / "report.json").read_text())
    assert told["modes"] == list(MODES)
    for ours, analyzed in zip(told["reports"], shown["reports"], strict=True):
        for report in (ours, analyzed):
            report["source"].pop("files")  # the demo names them as it was told its folder
        assert ours == analyzed


def test_every_run_is_in_the_table_of_repeats(demo: tuple[Path, Any]) -> None:
    repeats = json.loads((demo[0] / "report.json").read_text())["repeats"]
    assert [row[:2] for row in repeats["rows"]] == [[mode, n] for mode in MODES for n in (1, 2, 3)]


def test_the_comparison_says_what_sync_costs(demo: tuple[Path, Any]) -> None:
    comparisons = json.loads((demo[0] / "report.json").read_text())["comparisons"]
    assert [one["title"] for one in comparisons] == ["sync -> async", "sync -> device", "async -> device"]


def test_it_never_overwrites_without_being_told(demo: tuple[Path, Any]) -> None:
    folder, _ = demo
    before = (folder / "report.json").read_bytes()
    done = overlap_lab("demo", "--out", "out", folder=folder.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--force" in done.stderr
    assert (folder / "report.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--modes", "sync,fast"], "'fast' is no mode"),
        (["--modes", ","], "no mode given"),
        (["--layers", "0"], "from 1 to"),
        (["--repeats", "many"], "invalid int value"),
        (["--target", "cuda"], "hip_ext is built for host; build it with HIP_EXT_TARGET=cuda"),
    ],
)
def test_bad_options_are_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = overlap_lab("demo", *arguments, "--out", "out", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def loop() -> BackwardLoop:
    return warm(BackwardLoop(LAYERS, SMALL))


@pytest.fixture(scope="module")
def full_size_loop() -> BackwardLoop:
    """The demo's own layers: long enough that a few ms in which the host gets no core do not matter."""
    return warm(BackwardLoop(LAYERS, Shape()))


def warm(made: BackwardLoop) -> BackwardLoop:
    made.warm_up(tuple(Mode))
    return made


@contextmanager
def busy_core() -> Iterator[None]:
    """Another process that never sleeps, so that the two threads of interest share what is left."""
    hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        hog.kill()
        hog.wait()


def measured(loop: BackwardLoop, mode: Mode, path: Path) -> tuple[Trace, Report]:
    trace = load(loop.record(mode).write(path, force=True))
    return trace, analyze(trace)


def device_time_of_all_layers_but_the_last_ns(trace: Trace) -> int:
    """Op time but for the ops of the calls inside the last layer's range."""
    ranges = [
        i
        for i in range(len(trace))
        if trace.kind[i] == Kind.RANGE and trace.name_of(i).startswith("backward layer")
    ]
    last = max(ranges, key=lambda i: int(trace.start_ns[i]))
    calls = trace.where(trace.kind == Kind.API)
    inside = (calls.start_ns >= trace.start_ns[last]) & (calls.end_ns <= trace.end_ns[last])
    of_last = set(calls.correlation[inside].tolist())
    ops = trace.where(trace.is_device)
    return sum(
        int(end - start)
        for start, end, correlation in zip(ops.start_ns, ops.end_ns, ops.correlation.tolist(), strict=True)
        if correlation not in of_last
    )


@pytest.mark.alone
@pytest.mark.parametrize("attempt", range(10))
def test_with_the_second_core_busy_sync_drains_and_async_and_device_never_wait(
    full_size_loop: BackwardLoop, attempt: int, tmp_path: Path
) -> None:
    with busy_core():
        trace, sync = measured(full_size_loop, Mode.SYNC, tmp_path / "sync.db")
        _, in_order = measured(full_size_loop, Mode.ASYNC, tmp_path / "async.db")
        _, on_device = measured(full_size_loop, Mode.DEVICE, tmp_path / "device.db")
    assert sync.value("drain/count") >= LAYERS
    assert blocked_but_terminal_ns(sync) >= 0.9 * device_time_of_all_layers_but_the_last_ns(trace)
    for report in (in_order, on_device):
        assert report.value("drain/count") == 0
        assert blocked_but_terminal_ns(report) == 0
        assert report.value("drain/terminal") == 1
        assert report.value("overlap/ratio") == 1.0


def test_device_mode_has_a_metadata_kernel_no_copy_and_no_host_function(
    loop: BackwardLoop, tmp_path: Path
) -> None:
    trace, _ = measured(loop, Mode.DEVICE, tmp_path / "device.db")
    names = [trace.name_of(i) for i in range(len(trace))]
    assert names.count("fmha_bwd_write_metadata") == LAYERS
    assert not (trace.kind == Kind.MEMCPY).any()
    assert not (trace.api == Api.HOST_FUNC).any()
    assert "host function" not in names


def test_async_mode_prepares_with_two_reads_a_host_function_and_one_write(
    loop: BackwardLoop, tmp_path: Path
) -> None:
    trace, report = measured(loop, Mode.ASYNC, tmp_path / "async.db")
    assert int((trace.kind == Kind.MEMCPY).sum()) == 3 * LAYERS
    assert int((trace.api == Api.HOST_FUNC).sum()) == 2 * LAYERS
    assert int(report.value("device/idle/host_function") or 0) > 0
