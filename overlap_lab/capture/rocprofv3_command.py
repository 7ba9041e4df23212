"""The rocprofv3 command of each version: which options it has, and what it writes.

Nothing here runs anything. The facts are those of rocprofiler-sdk 0.4.0 (ROCm 6.2) to 1.4 (ROCm 10.x).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from overlap_lab.errors import UsageError

__all__ = ["Format", "Version", "command_for", "environment_for", "exports", "version_in"]


class Format(StrEnum):
    """What rocprofv3 writes, of what `overlap_lab.load` reads."""

    CSV = "csv"
    JSON = "json"
    ROCPD = "rocpd"


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version of rocprofiler-sdk; (0, 0, 0) where rocprofv3 does not say it."""

    major: int = 0
    minor: int = 0
    patch: int = 0

    def __str__(self) -> str:
        if not self.is_known:
            return "of unknown version"
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def is_known(self) -> bool:
        return self > Version()

    @property
    def default_format(self) -> Format:
        """CSV up to ROCm 6.4, rocpd from 7.0: what each version writes by itself."""
        return Format.ROCPD if self >= _ROCM_7_0 else Format.CSV

    @property
    def bears_torch_profiler(self) -> bool:
        """Whether torch.profiler may be used in the process that rocprofv3 traces."""
        return self >= Version(1, 4, 1)


_ROCM_7_0: Final = Version(1, 0, 0)
_OF_ROCM: Final = {(6, 2): Version(0, 4, 0), (6, 3): Version(0, 5, 0), (6, 4): Version(0, 6, 0)}
"""The versions that rocprofv3 itself may not tell."""
_SAYS: Final = re.compile(r"^\s*version\s*:\s*v?(\d+)\.(\d+)(?:\.(\d+))?", re.MULTILINE)
_ROCM_SAYS: Final = re.compile(r"^\s*(?:rocm_version\s*:\s*)?(\d+)\.(\d+)", re.MULTILINE)

_TRACES: Final = ("--hip-runtime-trace", "--kernel-trace", "--memory-copy-trace", "--marker-trace")
_SWITCHES: Final = (
    "ROCPROF_HIP_RUNTIME_API_TRACE",
    "ROCPROF_KERNEL_TRACE",
    "ROCPROF_MEMORY_COPY_TRACE",
    "ROCPROF_MARKER_API_TRACE",
)


def version_in(printed: str, *, rocm: str = "") -> Version:
    """The version in what `rocprofv3 --version` printed, else the one that came with this ROCm release."""
    if said := _SAYS.search(printed):
        return Version(int(said[1]), int(said[2]), int(said[3] or 0))
    if release := _ROCM_SAYS.search(rocm):
        return _OF_ROCM.get((int(release[1]), int(release[2])), Version())
    return Version()


def command_for(
    version: Version,
    command: Sequence[str],
    *,
    folder: Path,
    rocprofv3: str = "rocprofv3",
    output_format: Format | None = None,
    rank: int | None = None,
    more: Sequence[str] = (),
) -> list[str]:
    """The command that traces a program's HIP calls, kernels, copies and roctx ranges into a folder.

    Each process writes files of its own name. `more` are options of rocprofv3 that go before the program.
    Raises UsageError for a format that this version does not write, and for no program.
    """
    if not command:
        raise UsageError("capture: no program to run; give it behind --, as in: overlap-lab capture -- ./app")
    asked = output_format or version.default_format
    if asked is Format.ROCPD and version < _ROCM_7_0:
        raise UsageError(
            f"rocprofv3 {version} writes no rocpd files (ROCm 7.0 does): ask for --format csv or json"
        )
    output = ["-d", str(folder), "-o", _name(rank), "--output-format", asked.value]
    return [rocprofv3, *_TRACES, *output, *more, "--", *command]


def environment_for(
    version: Version,
    *,
    folder: Path,
    rocm: Path,
    output_format: Format | None = None,
    rank: int | None = None,
) -> dict[str, str]:
    """The variables by which a launcher traces its processes without starting rocprofv3.

    Raises UsageError where the libraries of rocprofiler-sdk are not in `rocm`.
    """
    asked = output_format or version.default_format
    tool = rocm / "lib/rocprofiler-sdk/librocprofiler-sdk-tool.so"
    preload = [tool, rocm / "lib/librocprofiler-sdk.so", rocm / "lib/librocprofiler-sdk-roctx.so"]
    missing = [str(library) for library in preload if not library.exists()]
    if missing:
        raise UsageError(f"no rocprofiler-sdk in {rocm}: {missing[0]} is missing; name another --rocm")
    return {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "ROCP_TOOL_LIBRARIES": str(tool),
        "ROCPROFILER_LIBRARY_CTOR": "1",
        "ROCPROF_OUTPUT_PATH": str(folder),
        "ROCPROF_OUTPUT_FILE_NAME": _name(rank),
        "ROCPROF_OUTPUT_FORMAT": asked.value,
        **dict.fromkeys(_SWITCHES, "1"),
    }


def _name(rank: int | None) -> str:
    """A file name of each process's own: with a fixed one, the last process would overwrite all others."""
    return "trace_%pid%" if rank is None else "trace_rank%rank%_%pid%"


def exports(environment: Mapping[str, str]) -> str:
    """The variables as lines for a shell."""
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in environment.items())
