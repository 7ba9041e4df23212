"""The C++ program benchmark_mha_bwd: where it lies, and one run of it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["NAME", "ProgramRun", "program", "run"]

NAME: Final = "benchmark_mha_bwd"
ENVIRONMENT: Final = "HIP_EXT_BENCHMARK"


def program() -> Path:
    """The built program: the file that HIP_EXT_BENCHMARK names, else the one installed with this package."""
    folders = (Path(__file__).parent, *(Path(entry) / "hip_ext" / "bench" for entry in sys.path))
    named = os.environ.get(ENVIRONMENT)
    for path in (Path(named),) if named else (folder / NAME for folder in folders):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(
        f"{named or NAME} is not there: build the project (pip install .) or name one in {ENVIRONMENT}"
    )


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A finished run: its command as a line for a shell, its exit code, and the samples."""

    command: str
    exit_code: int
    raw: dict[str, Any]


def run(arguments: Sequence[str], *, timeout_s: float) -> ProgramRun:
    """One finished run. Raises RuntimeError with the program's own words if it fails.

    A result that does not agree with the reference is one: exit code 254.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw.json"
        command = [str(program()), *arguments, f"-json={path}"]
        done = subprocess.run(  # noqa: S603 (our own program)
            command, capture_output=True, text=True, check=False, timeout=timeout_s
        )
        if done.returncode not in {0, 254}:
            raise RuntimeError(f"{NAME} {shlex.join(arguments)}: {done.stderr.strip()}")
        raw = json.loads(path.read_text())
    for place in (raw["arguments"], raw["options"]):  # the temporary file is nobody's business
        if isinstance(place, dict):
            place.pop("json")
        else:
            place.pop()
    return ProgramRun(shlex.join([NAME, *arguments]), done.returncode, raw)
