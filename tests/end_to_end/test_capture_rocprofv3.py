"""`overlap-lab capture` with rocprofv3, played by a stand-in: no AMD GPU was ever in these tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlap_lab.loaders import find_inputs, load
from overlap_lab.schema import Kind
from tests.end_to_end.command import overlap_lab
from tests.stand_ins.install import put_on_path

SDKS = ("0.4.0", "0.5.0", "0.6.0", "1.0.0", "1.1.0", "1.3.2", "1.4.1")
PROGRAM = ("--", sys.executable, "-c", "import sys; sys.exit(int('{code}'))")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_on_path(monkeypatch, tmp_path / "bin", "rocprofv3")
    monkeypatch.setenv("STAND_IN_SDK", "1.0.0")


def captured(*options: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    return overlap_lab("capture", *options, *(part.format(code=code) for part in PROGRAM))


@pytest.mark.parametrize("sdk", SDKS)
def test_a_capture_of_every_version_loads(sdk: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STAND_IN_SDK", sdk)
    done = captured("-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote " in done.stdout
    trace = load(tmp_path / "out")
    assert sorted(map(Kind, trace.kind)) == [Kind.API, Kind.API, Kind.KERNEL]
    assert trace.source.format == ("rocpd" if sdk >= "1" else "rocprofv3-csv")


@pytest.mark.parametrize(
    ("sdk", "asked"), [("0.6.0", "csv"), ("0.6.0", "json"), ("1.0.0", "json"), ("1.0.0", "rocpd")]
)
def test_a_format_can_be_asked_for(
    sdk: str, asked: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAND_IN_SDK", sdk)
    assert captured("-o", tmp_path, "--format", asked).returncode == 0
    assert asked in load(tmp_path).source.format


def test_how_it_was_captured_is_in_the_trace_and_no_secret_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("MY_API_TOKEN", "swordfish")
    captured("-o", tmp_path / "out")
    facts = load(tmp_path / "out").source.metadata
    assert facts["captured with"] == "rocprofv3"
    assert facts["tool"] == "rocprofv3 1.0.0"
    assert facts["environment HIP_VISIBLE_DEVICES"] == "1"
    assert facts["clock"] == "CLOCK_BOOTTIME"
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert b"swordfish" not in written


def test_the_programs_exit_code_is_passed_on_and_its_trace_is_kept(tmp_path: Path) -> None:
    done = captured("-o", tmp_path, code=7)
    assert done.returncode == 7
    assert len(find_inputs(tmp_path)) == 1


def test_exit_0_proves_no_trace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STAND_IN_FAULT", "nothing")
    done = captured("-o", tmp_path)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "wrote no trace" in line
    assert str(tmp_path) in line
    assert "there is no AMD GPU here" in line


def test_an_empty_file_is_no_trace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STAND_IN_FAULT", "empty")
    assert captured("-o", tmp_path).returncode == 2


def test_a_version_that_does_not_tell_itself_gets_the_oldest_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAND_IN_SDK", "0.4.0")
    monkeypatch.setenv("STAND_IN_FAULT", "mute")
    assert captured("-o", tmp_path).returncode == 0
    assert load(tmp_path).source.metadata["tool"] == "rocprofv3 of unknown version"


def test_the_stand_in_does_refuse_options_that_are_newer_than_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        ["rocprofv3", "--ompt-trace", "-d", str(tmp_path), "--", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "unrecognized arguments: --ompt-trace" in done.stderr) == (2, True)


def test_processes_of_one_folder_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for _ in range(3):
        captured("-o", tmp_path)
    assert len(find_inputs(tmp_path)) == 3


def test_ranks_are_in_the_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANK", "3")
    captured("-o", tmp_path)
    [found] = find_inputs(tmp_path)
    assert found.path.name.startswith("trace_rank3_")


def test_without_rocprofv3_one_line_says_where_it_comes_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/bin"]))
    done = captured("--backend", "rocprofv3", "-o", tmp_path)
    assert done.returncode == 2
    assert "rocprofv3: not found on PATH; it comes with ROCm 6.2" in done.stderr


def test_a_folder_that_is_a_file_is_refused_before_the_program_runs(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    done = overlap_lab("capture", "-o", taken, "--", "touch", tmp_path / "ran")
    assert done.returncode == 2
    assert "is a file; name a folder" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_launcher_gets_lines_for_its_shell(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    for name in (
        "rocprofiler-sdk/librocprofiler-sdk-tool.so",
        "librocprofiler-sdk.so",
        "librocprofiler-sdk-roctx.so",
    ):
        (lib / name).parent.mkdir(parents=True, exist_ok=True)
        (lib / name).touch()
    done = overlap_lab("capture", "--backend", "rocprofv3", "--print-environment", "-o", tmp_path / "out")
    assert done.returncode == 0
    told = subprocess.run(["sh", "-c", f"{done.stdout}\nenv"], capture_output=True, text=True, check=True)
    assert "ROCPROF_KERNEL_TRACE=1" in told.stdout.splitlines()


def test_rocpd_files_are_converted_where_rocm_has_the_tool(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_on_path(monkeypatch, tmp_path / "bin", "rocpd")
    done = captured("-o", tmp_path / "out", "--convert", "pftrace")
    assert done.returncode == 0
    assert len(list((tmp_path / "out").glob("*.pftrace"))) == 1


def test_an_origin_file_that_is_damaged_or_of_another_run_is_let_be(tmp_path: Path) -> None:
    captured("-o", tmp_path)
    [found] = find_inputs(tmp_path)
    said = tmp_path / "overlap_lab_origin.json"
    facts = json.loads(said.read_text())
    for text in (
        "",
        "[1]",
        "[" * 100_000,
        json.dumps({**facts, "files": ["other.db"]}),
        json.dumps({"files": 3}),
    ):
        said.write_text(text)
        assert "captured with" not in load(found).source.metadata


def test_ctrl_c_lets_rocprofv3_finish_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STAND_IN_FAULT", "slow")
    ready = tmp_path / "ready"
    script = f"import pathlib, time; pathlib.Path({str(ready)!r}).touch(); time.sleep(60)"
    command = [sys.executable, "-m", "overlap_lab", "capture", "-o", str(tmp_path / "out"), "--"]
    process = subprocess.Popen([*command, sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 60
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) != 0
    assert len(find_inputs(tmp_path / "out")) == 1
