"""What a terminal shows while a trace is read, on a real pseudo-terminal."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest

from overlap_lab.cli import main, progress
from overlap_lab.cli.progress import Meter, waiting_for
from overlap_lab.loaders import content
from overlap_lab.native import count_read
from tests.end_to_end.small_trace import write_small_trace

SOON_S = 0.02
PATIENCE_S = 60


class Terminal:
    """A pseudo-terminal: `stream` is what a program writes to, `shown` what arrived."""

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        self.stream: TextIO = os.fdopen(slave, "w")
        self._arrived = b""

    def shown(self) -> str:
        self.stream.flush()
        os.set_blocking(self._master, False)
        with suppress(BlockingIOError):
            while piece := os.read(self._master, 65_536):
                self._arrived += piece
        return self._arrived.decode()

    def wait_for(self, text: str) -> None:
        for _ in range(PATIENCE_S * 100):
            if text in self.shown():
                return
            time.sleep(0.01)
        raise TimeoutError(f"never shown: {text!r}; {self.shown()!r}")

    def close(self) -> None:
        self.stream.close()
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


def line_left(shown: str) -> str:
    """The last line as a terminal would leave it: what a carriage return goes back over is written over."""
    cells: list[str] = []
    for part in shown.split("\r"):
        cells[: len(part)] = part
    return "".join(cells).rstrip()


def test_bytes_of_a_file_are_shown_with_total_share_and_rate(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 8_000_000)
    times = iter([100.0, 104.0])
    meter = Meter((path,), io.StringIO(), clock=lambda: next(times))
    count_read(2_000_000)
    assert meter.line() == "reading a.json: 2 of 8 MB, 25%, 0 MB/s"


def test_more_bytes_than_the_file_has_are_not_a_share_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 1_000)
    times = iter([0.0, 2.0])
    meter = Meter((path,), io.StringIO(), clock=lambda: next(times))
    count_read(6_000_000)
    assert meter.line() == "reading a.json: 6 MB, 3 MB/s"


def test_a_name_cannot_move_the_cursor(tmp_path: Path) -> None:
    assert "\x1b" not in Meter((tmp_path / "\x1b[2J.json",), io.StringIO()).line()


def test_a_long_wait_shows_lines_and_takes_them_away(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_AFTER_S", SOON_S)
    monkeypatch.setattr(progress, "_EVERY_S", SOON_S)
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 1_000)
    with waiting_for((path,), terminal.stream) as meter:
        terminal.wait_for("reading a.json: ")
        meter.now("analyzing 7 rows of")
        terminal.wait_for("analyzing 7 rows of a.json")
    assert line_left(terminal.shown()) == ""


def test_a_short_wait_shows_nothing(terminal: Terminal, tmp_path: Path) -> None:
    with waiting_for((tmp_path / "a.json",), terminal.stream):
        pass
    assert terminal.shown() == ""


def test_an_error_leaves_no_line(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_AFTER_S", SOON_S)

    def wait() -> None:
        with waiting_for((tmp_path / "a.json",), terminal.stream):
            terminal.wait_for("reading a.json: ")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert line_left(terminal.shown()) == ""


def test_a_pipe_or_file_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_AFTER_S", 0.0)
    with (tmp_path / "stderr").open("w") as stream, waiting_for((tmp_path / "a.json",), stream):
        time.sleep(2 * SOON_S)
    assert (tmp_path / "stderr").read_text() == ""


def test_the_line_fits_a_narrow_terminal(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal.stream.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    monkeypatch.setattr(progress, "_AFTER_S", SOON_S)
    with waiting_for((tmp_path / ("x" * 90),), terminal.stream):
        terminal.wait_for("xxx")
    parts = terminal.shown().split("\r")
    assert max(map(len, parts)) == 29


def test_the_command_shows_how_far_a_slow_file_was_read(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_small_trace(tmp_path / "a.json")
    readinto = content._Plain.readinto

    def slowly(self: content._Plain, buffer: bytearray) -> int:
        time.sleep(SOON_S)
        return readinto(self, buffer)

    monkeypatch.setattr(content._Plain, "readinto", slowly)
    monkeypatch.setattr(progress, "_AFTER_S", SOON_S / 2)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    assert main(["analyze", str(path)]) == 0
    shown = terminal.shown()
    assert "\rreading a.json: " in shown
    assert line_left(shown) == ""
    assert "cudaStreamSynchronize" in capsys.readouterr().out
