"""`overlap-lab capture` of Python programs, and the captures of a block, on the CPU host target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")

from overlap_lab import load
from overlap_lab.capture import Backend, annotate, host, in_process
from overlap_lab.capture.in_process import available
from overlap_lab.errors import CaptureError, UsageError
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace
from tests.end_to_end.command import overlap_lab

PROGRAM = """
import sys
import hip_ext
from overlap_lab import annotate
with annotate("the program's range"):
    stream = hip_ext.Stream()
    stream.synchronize()
print("argv", sys.argv[1:])
sys.exit({code})
"""


@pytest.fixture(autouse=True)
def without_rocprofv3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def written(tmp_path: Path, code: str = "0") -> Path:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(code=code))
    return script


def names(trace: Trace, kind: Kind) -> list[str]:
    return [trace.name_of(i) for i in range(len(trace)) if trace.kind[i] == kind]


def test_a_program_is_recorded_with_its_own_arguments(tmp_path: Path) -> None:
    done = overlap_lab(
        "capture", "-o", tmp_path / "out", "--", sys.executable, "-u", written(tmp_path), "--size", "3"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "argv ['--size', '3']" in done.stdout
    trace = load(tmp_path / "out")
    assert "hipStreamSynchronize" in names(trace, Kind.API)
    assert "the program's range" in names(trace, Kind.RANGE)
    assert trace.source.metadata["captured with"] == "host"


@pytest.mark.parametrize(("code", "exit_code"), [("3", 3), ("None", 0), ("'no luck'", 1)])
def test_its_exit_code_is_passed_on_and_the_trace_is_kept(tmp_path: Path, code: str, exit_code: int) -> None:
    done = overlap_lab("capture", "-o", tmp_path / "out", "--", sys.executable, written(tmp_path, code))
    assert done.returncode == exit_code
    assert len(load(tmp_path / "out")) > 0


def test_modules_and_code_run_as_python_runs_them(tmp_path: Path) -> None:
    code = "import hip_ext, sys; hip_ext.synchronize(); print('argv', sys.argv)"
    done = overlap_lab("capture", "-o", tmp_path / "out", "--", sys.executable, "-c", code, "x")
    assert (done.returncode, "argv ['-c', 'x']" in done.stdout) == (0, True)
    (tmp_path / "package.py").write_text(PROGRAM.format(code="0"))
    done = overlap_lab(
        "capture", "-o", tmp_path / "out2", "--", sys.executable, "-m", "package", "y", cwd=tmp_path
    )
    assert (done.returncode, "argv ['y']" in done.stdout) == (0, True)


def test_a_program_that_makes_no_call_is_an_error_not_an_empty_trace(tmp_path: Path) -> None:
    done = overlap_lab("capture", "-o", tmp_path / "out", "--", sys.executable, "-c", "pass")
    assert done.returncode == 2
    assert "nothing to trace. torch's own ops on the CPU are not recorded" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_was_there_stays_though_nothing_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = overlap_lab("capture", "-o", tmp_path / "out", "--", sys.executable, "-c", "pass")
    assert done.returncode == 2
    assert list((tmp_path / "out").iterdir()) == []


def test_a_program_that_raises_shows_its_own_traceback(tmp_path: Path) -> None:
    done = overlap_lab("capture", "-o", tmp_path / "out", "--", sys.executable, "-c", "1/0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--"], "no program"),
        (["--backend", "host", "--", "ls"], "the program must start with python"),
        (["--backend", "host", "--", "python3", "-X", "dev"], "there is no program to record"),
        (
            ["--backend", "host", "--format", "csv", "--", "python3", "x.py"],
            "--format and --convert are rocprofv3's",
        ),
        (["--backend", "cupti", "--", sys.executable, "-c", "pass"], "cupti-python"),
        (["--check-overhead", "0", "--", sys.executable, "-c", "pass"], "at least 1 run"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str], why: str, tmp_path: Path) -> None:
    done = overlap_lab("capture", "-o", tmp_path / "out", *arguments)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert why in line


def test_what_recording_costs_is_measured_in_turns(tmp_path: Path) -> None:
    done = overlap_lab("capture", "--check-overhead", "1", "--", sys.executable, written(tmp_path))
    assert done.returncode == 0
    assert "UNDECIDED, 6 pairs are the fewest that can decide" in done.stdout
    assert not list(Path.cwd().glob("traces/*.db.tmp"))


def test_a_block_is_recorded_with_whatever_is_there(tmp_path: Path) -> None:
    import hip_ext

    assert available() is Backend.HOST
    with in_process(tmp_path) as captured, annotate("block"):
        hip_ext.synchronize()
    trace = load(captured.path)
    assert names(trace, Kind.RANGE) == ["block"]
    assert trace.source.metadata["clock"] == "CLOCK_BOOTTIME"


@pytest.mark.parametrize(
    ("backend", "error", "why"),
    [
        ("cuda", CaptureError, "torch has no device here"),
        ("rocm", CaptureError, "torch has no device here"),
        ("kineto", CaptureError, "torch has no CUDA or ROCm device here"),
        ("cupti", CaptureError, "cupti-python is not installed"),
        ("nsys", UsageError, "expected one of"),
    ],
)
def test_a_backend_that_is_not_there_never_passes(
    backend: str, error: type[Exception], why: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=why), in_process(tmp_path, backend=backend):
        pass


def test_a_block_without_calls_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="made no call"), host(tmp_path):
        pass


def test_two_recordings_at_once_are_an_error(tmp_path: Path) -> None:
    import hip_ext

    with host(tmp_path):
        hip_ext.synchronize()
        with pytest.raises(CaptureError, match="one at a time"), host(tmp_path):
            pass
