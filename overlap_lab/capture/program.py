"""Running the program that is captured: its streams are left alone, Ctrl-C is its own to handle."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from overlap_lab.errors import CaptureError

__all__ = ["ended_how", "found_program", "run_program"]

_SECONDS_AFTER_INTERRUPT: Final = 30
_SIGNALS_FROM: Final = 128


def found_program(name: str) -> str | None:
    """The executable's path, None where there is none."""
    return shutil.which(name)


def run_program(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> int:
    """Run it to its end and return its exit code, 128 + n for signal n, as a shell counts.

    After Ctrl-C, which the program gets as well, it has 30 s to finish what it writes. Raises CaptureError
    where it cannot be started.
    """
    try:
        process = subprocess.Popen(list(command), env=None if environment is None else dict(environment))  # noqa: S603
    except OSError as error:
        raise CaptureError(f"{command[0]}: cannot be started: {error.strerror}") from None
    code = _waited(process)
    return code if code >= 0 else _SIGNALS_FROM - code


def _waited(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            return process.wait(_SECONDS_AFTER_INTERRUPT)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def ended_how(code: int) -> str:
    """The exit code in words."""
    if code == 0:
        return "exited with 0"
    if code > _SIGNALS_FROM:
        return f"was ended by signal {code - _SIGNALS_FROM}"
    return f"exited with {code}"
