"""Which CSV files belong together: `<prefix>_kernel_trace.csv`, `<prefix>_hip_api_trace.csv`, ..."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["is_csv_name", "prefix_of", "set_of"]

_API: Final = "hip_api|hsa_api|marker_api|rccl_api|rocdecode_api|rocjpeg_api"
_DATA: Final = "kernel|memory_copy|memory_allocation|scratch_memory|regions|markers"
_SUFFIX: Final = re.compile(
    rf"(?:^|_)(?:(?:{_API}|{_DATA})(?:_trace)?|(?:(?:{_API}|{_DATA}|domain|hip_domain)_)?stats"
    r"|counter_collection|agent_info|pc_sampling_\w+)\.csv(?:\.gz|\.zst)?$",
    re.IGNORECASE,
)


def is_csv_name(path: Path) -> bool:
    """True for `.csv`, plain or packed."""
    return path.name.lower().endswith((".csv", ".csv.gz", ".csv.zst"))


def prefix_of(path: Path) -> str:
    """What the files of one set share: "run" of `run_kernel_trace.csv`, "" of `kernel_trace.csv`.

    A name that rocprofv3 does not give is its own set: its whole name is returned.

    >>> prefix_of(Path("d/123_hip_api_trace.csv")), prefix_of(Path("kernel_trace.csv"))
    ('123', '')
    """
    found = _SUFFIX.search(path.name)
    return path.name[: found.start()] if found else path.name


def set_of(path: Path, files: list[Path]) -> tuple[Path, ...]:
    """The files among `files` that are in the set of `path`, sorted by name."""
    prefix = prefix_of(path)
    return tuple(sorted(f for f in files if is_csv_name(f) and prefix_of(f) == prefix))
