"""What a user gives by mistake: one line on stderr, exit code 2, nothing on stdout, no traceback."""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reference.command import Document, as_process, value

TRACES = Path(__file__).parents[2] / "traces"
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
LAUNCH = {
    "ph": "X",
    "cat": "cuda_runtime",
    "name": "cudaLaunchKernel",
    "pid": 7,
    "tid": 7,
    "ts": 10,
    "dur": 5,
    "args": {"correlation": 3},
}
KERNEL = {
    "ph": "X",
    "cat": "kernel",
    "name": "k",
    "pid": 0,
    "tid": 7,
    "ts": 20,
    "dur": 30,
    "args": {"correlation": 3, "device": 0, "stream": 7},
}
MARK = {"ph": "i", "name": "a mark", "pid": 7, "tid": 7, "ts": 1, "s": "t"}


def missing(folder: Path) -> Path:
    return folder / "no_such_trace.json"


def folder_without_traces(folder: Path) -> Path:
    (folder / "notes.txt").write_text("nothing to see\n")
    return folder


def empty_file(folder: Path) -> Path:
    path = folder / "empty.json"
    path.write_bytes(b"")
    return path


def random_bytes(folder: Path) -> Path:
    path = folder / "trace.json"
    path.write_bytes(random.Random(1).randbytes(4_096))
    return path


def prose(folder: Path) -> Path:
    path = folder / "trace.json"
    path.write_text("dear profiler, please find attached\n" * 20)
    return path


def truncated_gzip(folder: Path) -> Path:
    path = folder / "trace.json.gz"
    whole = gzip.compress(random.Random(1).randbytes(50_000).hex().encode())
    path.write_bytes(whole[: len(whole) // 2])
    return path


def database_of_something_else(folder: Path) -> Path:
    path = folder / "results.db"
    with sqlite3.connect(path) as database:
        database.execute("create table customers (name text)")
        database.execute("insert into customers values ('Ada')")
    database.close()
    return path


def cut_database(folder: Path) -> Path:
    path = database_of_something_else(folder)
    path.write_bytes(path.read_bytes()[:100])
    return path


def no_events(folder: Path) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": []}))
    return path


def only_marks(folder: Path) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [MARK]}))
    return path


def header_only(folder: Path) -> Path:
    path = folder / "run_kernel_trace.csv"
    path.write_text(
        '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    )
    return path


def fifo(folder: Path) -> Path:
    path = folder / "trace.json"
    os.mkfifo(path)
    return path


def dangling_link(folder: Path) -> Path:
    path = folder / "trace.json"
    path.symlink_to(folder / "gone.json")
    return path


def database_without_its_last_byte(folder: Path) -> Path:
    path = folder / "trace.db"
    path.write_bytes((TRACES / "fmha_bwd_sync.db").read_bytes()[:-1])
    return path


MISTAKES = (
    missing,
    folder_without_traces,
    empty_file,
    random_bytes,
    prose,
    truncated_gzip,
    database_of_something_else,
    cut_database,
    database_without_its_last_byte,
    no_events,
    only_marks,
    header_only,
    fifo,
    dangling_link,
)


def assert_one_line(arguments: tuple[str | Path, ...], become: Callable[[], None] | None = None) -> str:
    result = as_process(*arguments, become=become)
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_one_line_and_exit_code_2(mistake: Callable[[Path], Path], tmp_path: Path) -> None:
    path = mistake(tmp_path)
    assert path.name in assert_one_line(("analyze", path, "--json", "-"))


@pytest.mark.skipif(sys.platform != "linux", reason="drops the capabilities of a Linux root")
def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    path = write_trace(tmp_path, [LAUNCH, KERNEL])
    path.chmod(0)
    become = obey_permissions if os.geteuid() == 0 else None
    assert path.name in assert_one_line(("analyze", path, "--json", "-"), become)


def obey_permissions() -> None:
    """Root reads whatever it likes by two capabilities; without them it is bound like any owner of a file."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError("cannot drop a capability")


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "--no-such-option"),
        ("analyze", "x.json", "--window", "soon"),
        ("analyze",),
        ("no_such_verb",),
        ("demo", "--out", ""),
        (),
    ],
    ids=["option", "window", "no path", "verb", "no folder", "nothing"],
)
def test_a_wrong_command_line_is_one_line(arguments: tuple[str, ...]) -> None:
    assert_one_line(arguments)


def write_trace(folder: Path, events: list[Document]) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def report_of(path: Path) -> Document:
    result = as_process("analyze", path, "--json", "-")
    assert (result.returncode, result.stderr) == (0, "")
    document: Document = json.loads(result.stdout)
    return document


def test_a_saved_report_is_no_trace_and_the_line_says_who_reads_it(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, [LAUNCH, KERNEL])
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(report_of(trace), indent=1))
    for verb in (("analyze", saved), ("report", saved, "-o", tmp_path / "page.html")):
        assert f"{saved}: a report that `overlap-lab analyze --json` wrote" in assert_one_line(verb)


def assert_all_null_with_a_reason(document: Document, prefix: str) -> None:
    found = [m for m in document["measurements"] if m["tag"].startswith(prefix) and m["scope"] == {}]
    assert found
    assert all(m["value"] is None and m["reason"] for m in found)


def test_a_trace_of_the_host_alone_has_a_report_without_a_device_side(tmp_path: Path) -> None:
    document = report_of(write_trace(tmp_path, [LAUNCH]))
    for prefix in ("device/", "overlap/", "run_ahead", "launch/", "queue/", "drain/"):
        assert_all_null_with_a_reason(document, prefix)
    assert value(document, "quality/no_device_records") == 1
    assert value(document, "quality/launches_without_op") == 1


def test_a_trace_of_the_device_alone_has_a_report_without_a_host_side(tmp_path: Path) -> None:
    document = report_of(write_trace(tmp_path, [KERNEL]))
    for prefix in ("host/", "overlap/", "run_ahead"):
        assert_all_null_with_a_reason(document, prefix)
    assert value(document, "device/busy") == 30_000
    assert value(document, "quality/no_host_records") == 1


def test_an_empty_path_is_not_the_current_folder() -> None:
    assert "path is empty" in assert_one_line(("analyze", ""))


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="Linux")
def test_a_file_of_proc_that_never_ends_is_one_line() -> None:
    assert_one_line(("analyze", "/proc/kmsg"))


def test_a_target_that_cannot_be_written_is_said_before_anything_is_printed(tmp_path: Path) -> None:
    path = write_trace(tmp_path, [LAUNCH, KERNEL])
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    become = obey_permissions if os.geteuid() == 0 else None
    assert "permission denied" in assert_one_line(("analyze", path, "--json", closed / "x.json"), become)
    assert "no folder" in assert_one_line(("analyze", path, "--json", tmp_path / "none" / "x.json"))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_letter_that_the_terminal_lacks_is_spelled_out(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    path = write_trace(tmp_path, [{**LAUNCH, "name": "cudaMemcpy_λ"}, {**KERNEL, "name": "kernel_λ"}])
    result = as_process("analyze", path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(("redirection", "code"), [(">&-", 2), ("2>/dev/full", 2), (">/dev/full", 2)])
def test_a_closed_or_full_stream_leaves_the_exit_code(redirection: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "gone.json" if redirection[0] == "2" else write_trace(tmp_path, [LAUNCH, KERNEL])
    command = f'"{sys.executable}" -m overlap_lab analyze "{path}" {redirection}'
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code
    assert "Traceback" not in result.stderr


def test_the_name_of_a_file_passed_over_cannot_move_the_cursor(tmp_path: Path) -> None:
    write_trace(tmp_path, [LAUNCH, KERNEL])
    (tmp_path / "\x1b[31m.db").write_bytes(b"no database")
    result = as_process("analyze", tmp_path, "--json", "-")
    assert result.returncode == 0
    assert "passed over: " in result.stderr
    assert "\x1b" not in result.stderr
