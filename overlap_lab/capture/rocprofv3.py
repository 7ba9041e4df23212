"""Capture on AMD GPUs: rocprofv3 runs the program and writes its trace.

No AMD GPU was at hand: this was tested against a stand-in that takes the options and writes the files of each
version, never against rocprofv3 itself.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from overlap_lab.capture.captured import Captured, free_folder
from overlap_lab.capture.origin import command_line, origin, rank_of
from overlap_lab.capture.program import ended_how, found_program, run_program
from overlap_lab.capture.rocprofv3_command import Format, Version, command_for, environment_for, version_in
from overlap_lab.errors import CaptureError
from overlap_lab.schema import ORIGIN_FILE

__all__ = ["Installed", "Run", "convert", "installed", "launcher_environment", "rocprofv3"]

_DEVICE_FILE: Final = Path("/dev/kfd")
_SUFFIXES: Final = {Format.CSV: "_trace.csv", Format.JSON: ".json", Format.ROCPD: ".db"}
_SECONDS_TO_TELL: Final = 20


@dataclass(frozen=True, slots=True)
class Installed:
    """The rocprofv3 of this machine."""

    path: Path
    version: Version
    rocm: Path
    """The ROCm installation that it belongs to."""


@dataclass(frozen=True, slots=True)
class Run:
    """A program that has ended, and the trace files that rocprofv3 left of it."""

    captured: Captured
    exit_code: int
    """The program's own, 128 + n for signal n."""
    why_nothing: str = ""
    """Why a program that failed left no trace, as far as that can be told."""


def installed(name: str = "rocprofv3") -> Installed:
    """Which rocprofv3 would run. Raises CaptureError where there is none."""
    found = found_program(name)
    if found is None:
        raise CaptureError(
            f"{name}: not found on PATH; it comes with ROCm 6.2 and newer, as /opt/rocm/bin/rocprofv3 "
            "(package rocprofiler-sdk)"
        )
    path = Path(found)
    rocm = path.resolve().parent.parent
    try:
        told = subprocess.run(  # noqa: S603
            [found, "--version"],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_TO_TELL,
        )
        printed = told.stdout + told.stderr if told.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        printed = ""
    return Installed(path, version_in(printed, rocm=_release(rocm)), rocm)


def rocprofv3(
    command: Sequence[str],
    folder: str | Path,
    *,
    output_format: Format | None = None,
    more: Sequence[str] = (),
    name: str = "rocprofv3",
) -> Run:
    """Run a program under rocprofv3 and return the trace files that it wrote to the folder.

    Raises CaptureError where rocprofv3 is missing, and where the program ended well and no trace was written;
    a program that fails is no error here: its exit code is in the result.
    """
    tool = installed(name)
    asked = output_format or tool.version.default_format
    target = free_folder(folder)
    before = set(_files(target, asked))
    line = command_for(
        tool.version,
        command,
        folder=target,
        rocprofv3=str(tool.path),
        output_format=asked,
        rank=rank_of(os.environ),
        more=more,
    )
    code = run_program(line)
    paths = tuple(sorted(path for path in _files(target, asked) if path not in before))
    if not paths and code == 0:
        raise CaptureError(_why_nothing(tool, target, command, code))
    reason = "" if paths else _why_nothing(tool, target, command, code)
    facts = origin(
        backend="rocprofv3",
        command=command,
        clock="CLOCK_BOOTTIME",
        tool=f"rocprofv3 {tool.version}",
    )
    if paths:
        _write_origin(paths, facts)
    return Run(Captured("rocprofv3", paths, facts), code, reason)


def launcher_environment(
    folder: str | Path, *, output_format: Format | None = None, name: str = "rocprofv3"
) -> dict[str, str]:
    """The variables that make a launcher's processes write traces to the folder, without a rocprofv3 command.

    Raises CaptureError where rocprofv3 is missing and UsageError where its libraries are.
    """
    tool = installed(name)
    return environment_for(
        tool.version,
        folder=free_folder(folder).absolute(),
        rocm=tool.rocm,
        output_format=output_format,
        rank=rank_of(os.environ),
    )


def convert(paths: Sequence[Path], folder: str | Path, *, to: str, name: str = "rocpd") -> tuple[Path, ...]:
    """Turn rocpd files into "csv", "pftrace" or "otf2" with ROCm's own `rocpd convert`; the new files.

    Raises CaptureError where there is no `rocpd`, where it fails, and where it writes nothing.
    """
    program = found_program(name)
    if program is None:
        raise CaptureError(f"{name}: not found on PATH; it comes with ROCm 7.0 and newer, in /opt/rocm/bin")
    target = free_folder(folder)
    before = {path for path in target.rglob("*") if path.is_file()}
    command = [program, "convert", "-i", *map(str, paths), "-f", to, "-d", str(target)]
    code = run_program(command)
    if code != 0:
        raise CaptureError(f"{command_line(command)}: {ended_how(code)}")
    written = tuple(sorted(p for p in target.rglob("*") if p.is_file() and p not in before))
    if not written:
        raise CaptureError(f"{command_line(command)}: exited with 0 and wrote nothing to {target}")
    return written


def _write_origin(paths: Sequence[Path], facts: Mapping[str, str]) -> None:
    """Say beside the traces how they were made: rocprofv3's files are left as they are."""
    for place in sorted({path.parent for path in paths}):
        names = [path.name for path in paths if path.parent == place]
        said = json.dumps({"files": names, "origin": dict(facts)}, indent=1)
        try:
            (place / ORIGIN_FILE).write_text(said + "\n", encoding="utf-8")
        except OSError as error:
            raise CaptureError(f"{place / ORIGIN_FILE}: cannot be written: {error.strerror}") from error


def _files(folder: Path, output_format: Format) -> Iterator[Path]:
    suffix = _SUFFIXES[output_format]
    return (p for p in folder.rglob(f"*{suffix}") if p.is_file() and p.stat().st_size > 0)


def _release(rocm: Path) -> str:
    try:
        return (rocm / ".info/version").read_text(errors="replace")[:100]
    except OSError:
        return ""


def _why_nothing(tool: Installed, folder: Path, command: Sequence[str], code: int) -> str:
    what = f"rocprofv3 {tool.version} wrote no trace to {folder}: {command_line(command)} {ended_how(code)}"
    return "; ".join([what, *_reasons(tool, command, code)])


def _reasons(tool: Installed, command: Sequence[str], code: int) -> Iterator[str]:
    """The known failures that fit."""
    if not _DEVICE_FILE.exists():
        yield f"there is no AMD GPU here ({_DEVICE_FILE} is missing)"
        return
    if not os.access(_DEVICE_FILE, os.R_OK | os.W_OK):
        yield f"{_DEVICE_FILE} may not be opened: add the user to the groups render and video"
        return
    python = Path(command[0]).name.startswith("python")
    if code != 0 and python and not tool.version.bears_torch_profiler:
        yield (
            "before rocprofiler-sdk 1.4.1 a process that uses torch.profiler cannot be traced as well: take "
            "the profiler out, or capture with --backend kineto instead"
        )
        return
    yield "a program that makes no HIP call, or ends by os._exit or SIGKILL, leaves no trace"
