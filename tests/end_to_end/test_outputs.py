"""Where results cannot be written: one line that says so, exit code 2, and nothing has changed."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from overlap_lab.cli import main
from tests.end_to_end.small_trace import write_small_trace

TRACE = "trace.json"
RESULTS: dict[str, tuple[str, ...]] = {
    "analyze": ("analyze", TRACE, "--force", "--json"),
    "check-json": ("check", TRACE, "--rule", "drain/count < 9", "--force", "--json"),
    "check-junit": ("check", TRACE, "--rule", "drain/count < 9", "--force", "--junit"),
    "check-markdown": ("check", TRACE, "--rule", "drain/count < 9", "--force", "--markdown"),
    "check-sarif": ("check", TRACE, "--rule", "drain/count < 9", "--force", "--sarif"),
    "compare-json": ("compare", TRACE, TRACE, "--force", "--json"),
    "compare-markdown": ("compare", TRACE, TRACE, "--force", "--markdown"),
    "export-chrome": ("export", TRACE, "--to", "chrome", "--force", "-o"),
    "export-csv": ("export", TRACE, "--to", "csv", "--force", "-o"),
    "plot-page": ("plot", "timeline", TRACE, "--force", "-o"),
    "report": ("report", TRACE, "--force", "-o"),
}
"""The command lines up to the name of the file that they write."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_trace(tmp_path / TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=RESULTS)
def command(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if request.param == "export-csv":
        pytest.importorskip("pandas")
    return RESULTS[request.param]


def content(folder: Path) -> dict[str, object]:
    """Every name below a folder, with what is in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else path.lstat().st_mode
        for path in folder.rglob("*")
    }


def refused(command: Sequence[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command ends with which changed nothing."""
    before = content(folder)
    assert main(command) == 2
    assert content(folder) == before
    said = capsys.readouterr()
    assert "wrote" not in said.out
    [line] = said.err.splitlines()
    return line


def named(command: tuple[str, ...], stem: str) -> str:
    return f"{stem}.html" if command[0] == "plot" else stem


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def a_link_into_nowhere(path: Path) -> None:
    path.symlink_to("nowhere/result")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (a_folder, "is a folder; name the file to write"),
        (a_pipe, "it is a pipe that nobody reads"),
        (a_link_to_itself, "cannot be written"),
        (a_link_into_nowhere, "cannot be written"),
    ],
)
def test_what_is_no_file_is_not_written(
    made: Callable[[Path], None],
    why: str,
    command: tuple[str, ...],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = named(command, "result")
    made(folder / name)
    line = refused((*command, name), folder, capsys)
    assert line.startswith(f"overlap-lab: {name}")
    assert why in line


@pytest.mark.parametrize("stem", [f"{TRACE}/result", "nowhere/result", "n" * 300])
def test_a_name_that_no_file_can_have_is_not_written(
    stem: str, command: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused((*command, named(command, stem)), folder, capsys)


def test_what_is_read_is_not_written(
    command: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = TRACE
    if command[0] == "plot":
        name = "link.html"
        (folder / name).symlink_to(TRACE)
    line = refused((*command, name), folder, capsys)
    assert line == f"overlap-lab: {name} is read, and cannot be written as well; name another file"


def test_a_trace_in_a_folder_that_is_read_is_not_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is read" in refused(("analyze", ".", "--force", "--json", TRACE), folder, capsys)


def test_a_report_in_a_folder_that_is_compared_is_not_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "runs").mkdir()
    assert main(("analyze", TRACE, "--json", "runs/one.json")) == 0
    capsys.readouterr()
    command = ("compare", "runs", "runs", "--force", "--markdown", "runs/one.json")
    assert "is read" in refused(command, folder, capsys)


def test_a_line_break_in_a_name_does_not_break_the_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("report", TRACE, "-o", "a\nb")) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "wrote a\\nb"
    assert (folder / "a\nb").read_text().startswith("<!doctype html>")
    line = refused(("report", TRACE, "-o", "a\nb"), folder, capsys)
    assert line.endswith("add --force to overwrite it, or name another file")


@pytest.mark.parametrize("made", [a_folder, a_pipe])
def test_a_lock_that_is_no_file_saves_no_baseline(
    made: Callable[[Path], None], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "store").mkdir()
    made(folder / "store" / ".lock")
    line = refused(("baseline", "save", TRACE, "--name", "main", "--store", "store"), folder, capsys)
    assert line == "overlap-lab: store/.lock: cannot be written: it is no plain file; remove it"


def on_a_full_disk() -> None:
    """No file of this process may have more than ten bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


@pytest.mark.parametrize(
    "command",
    [
        ("baseline", "save", TRACE, "--name", "main", "--store", "new/store"),
        ("check", TRACE, "--rule", "drain/count < 9", "--junit", "result.xml"),
        ("export", TRACE, "--to", "chrome", "-o", "result.json"),
        ("report", TRACE, "-o", "result.html"),
    ],
    ids=lambda command: command[0],
)
def test_a_full_disk_leaves_no_part_of_a_result(command: tuple[str, ...], folder: Path) -> None:
    before = content(folder)
    done = subprocess.run(
        [sys.executable, "-m", "overlap_lab", *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=on_a_full_disk,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot be written" in done.stderr
    assert content(folder) == before


@pytest.mark.parametrize("into", ["pipe", "file"])
def test_standard_output_by_its_path_gets_the_result_alone(into: str, folder: Path) -> None:
    command = [sys.executable, "-m", "overlap_lab", "report", TRACE, "--force", "-o", "/proc/self/fd/1"]
    with (folder / "page").open("wb") as file:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE if into == "pipe" else file,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    page = done.stdout if into == "pipe" else (folder / "page").read_bytes()
    assert done.returncode == 0
    assert page.startswith(b"<!doctype html>")
    assert page.rstrip().endswith(b"</html>")
    assert done.stderr.splitlines()[-1] == b"wrote /proc/self/fd/1"


def test_json_to_standard_output_by_its_path_comes_without_the_text(folder: Path) -> None:
    command = [sys.executable, "-m", "overlap_lab", "analyze", TRACE, "--json"]
    both = [subprocess.run([*command, to], capture_output=True, timeout=120, check=False) for to in _STDOUT]
    assert both[0].stdout == both[1].stdout
    assert both[0].stdout.startswith(b"{")


_STDOUT = ("-", "/proc/self/fd/1")


def test_a_pipe_that_is_read_gets_the_result(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    # Opened for reading and writing a pipe has a reader at once, on Linux and macOS.
    held = os.open(folder / "pipe", os.O_RDWR)
    try:
        assert main(("report", TRACE, "--force", "-o", "pipe")) == 0
    finally:
        os.close(held)
    page, _ = reader.communicate(timeout=60)
    assert page.rstrip().endswith(b"</html>")
