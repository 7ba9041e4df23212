"""The command line as a real process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["overlap_lab"]


def overlap_lab(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `overlap-lab ...` printed and how it ended; a hang fails the test."""
    return subprocess.run(
        [sys.executable, "-m", "overlap_lab", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        check=False,
    )
