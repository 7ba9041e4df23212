"""Which commit a measurement is of."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

__all__ = ["CHANGES", "commit_of"]

CHANGES: Final = "+changes"
_SECONDS: Final = 10


def commit_of(folder: Path) -> str:
    """The commit that is checked out there, with "+changes" where tracked files differ from it; empty where
    git does not say."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return ""
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit + CHANGES if changed is None or changed else commit


def _git(folder: Path, *words: str) -> str | None:
    """What git says; None where it fails, or is not there."""
    try:
        done = subprocess.run(  # noqa: S603  our own words
            ["git", "-C", str(folder), *words],  # noqa: S607  the user's git
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
