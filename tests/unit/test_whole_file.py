from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from overlap_lab.whole_file import whole_file, write_whole

WRITES = """
import sys, time
from pathlib import Path
from overlap_lab.whole_file import whole_file
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"new")
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_file_is_there_when_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with whole_file(path) as stream:
        stream.write(b"one ")
        assert not path.exists()
        stream.write(b"two")
    assert path.read_bytes() == b"one two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_changes_nothing(error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail() -> None:
        with whole_file(path) as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_terminated_program_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with subprocess.Popen([sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        assert len(list(tmp_path.iterdir())) == 2
        program.terminate()
    assert program.returncode == -signal.SIGTERM
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_program_keeps_its_own_handler_of_termination(tmp_path: Path) -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        with whole_file(tmp_path / "a") as stream:
            stream.write(b"new")
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert told == [signal.SIGTERM]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    path.chmod(0o640)
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(path, "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as stream:
            stream.write(b"text")
        assert os.read(reading, 100) == b"text"
    finally:
        os.close(reading)
    assert pipe.is_fifo()


def test_links_in_a_circle_are_an_error_of_the_system(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="symbolic links"), whole_file(loop):
        pass
