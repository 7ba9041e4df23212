"""Where memory or threads run out: the work goes on with fewer threads, or one line says what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from overlap_lab.cli import main
from tests.end_to_end.small_trace import write_small_trace

NO_THREADS = """
import ctypes, sys
import numpy  # which starts threads of its own
c = ctypes.CDLL(None)
attributes = ctypes.create_string_buffer(256)
c.pthread_attr_init(attributes)
c.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 46))  # no thread has room for it
from overlap_lab.cli import main
assert c.pthread_setattr_default_np(attributes) == 0
sys.exit(main())
"""
"""The command, for which the system has no more threads."""


def test_a_command_that_gets_no_thread_says_the_same(tmp_path: Path) -> None:
    command = ["analyze", str(write_small_trace(tmp_path / "a.json"))]
    usual, alone = (
        subprocess.run([sys.executable, *start, *command], capture_output=True, text=True, check=False)
        for start in (["-m", "overlap_lab"], ["-c", NO_THREADS])
    )
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == usual.stdout


def test_no_memory_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("overlap_lab.loaders.load", fails)
    assert main(["analyze", str(write_small_trace(tmp_path / "a.json"))]) == 2
    assert capsys.readouterr().err == (
        "overlap-lab: not enough memory; raise the limit (ulimit -v, or that of the job or container), or "
        "give a trace of less time\n"
    )
