"""The table in docs/benchmarks.md, between two markers, with the machine it was measured on."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from scripts.bench.captures import ROOT
from scripts.bench.peers import installed_versions

__all__ = ["machine", "replaced", "revision", "write"]

PAGE: Final = ROOT / "docs" / "benchmarks.md"
_BEGIN: Final = "<!-- measured: written by `make bench WRITE=1` -->"
_END: Final = "<!-- end of measured -->"


def revision() -> str:
    """The commit that is measured; with a plus where files differ from it."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],  # noqa: S607
            check=True, capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
    except (subprocess.CalledProcessError, FileNotFoundError):
        return "unknown"
    return found.stdout.strip()


def machine() -> str:
    """Cores, processor, memory, versions, date, and how busy it was, as one paragraph."""
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    cores = f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else '?'}"
    own = [f"{name} {_version(name)}" for name in ("numpy", "pandas")]
    others = ", ".join(installed_versions()) or "none"
    return (
        f"{datetime.date.today():%Y-%m-%d}, {cores}, "
        f"{int(memory[1]) // 1_000_000 if memory else 0} GB; Python {platform.python_version()}, "
        f"{', '.join(own)}; others: {others}; load average {os.getloadavg()[2]:.1f}."
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def replaced(page: str, measured: str) -> str:
    """The page with what is between the markers replaced."""
    before, _, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{PAGE}: no {_BEGIN} before {_END}")
    return f"{before}{_BEGIN}\n\n{measured}\n\n{_END}{after}"


def write(measured: str) -> None:
    """Put a table into the page."""
    PAGE.write_text(replaced(PAGE.read_text(), measured))
