"""What installed packages offer under an entry point group, without importlib.metadata where that is nothing.

Importing it takes longer than reading a small trace, so the files that it would read are looked at first.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["plugged"]


def plugged(group: str) -> tuple[tuple[str, object], ...]:
    """(`module:object`, the object) of each entry point, ordered by the names of the entry points."""
    if not _may_exist(group.encode()):
        return ()
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=group), key=lambda point: point.name)
    return tuple((point.value, point.load()) for point in points)


def _may_exist(group: bytes) -> bool:
    return any(_may_hold(Path(place or "."), group) for place in sys.path)


def _may_hold(place: Path, group: bytes) -> bool:
    """Whether a folder of packages names the group; an archive may."""
    try:
        with os.scandir(place) as entries:
            described = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return place.is_file()
    return any(_names(Path(one) / "entry_points.txt", group) for one in described)


def _names(file: Path, group: bytes) -> bool:
    try:
        return group in file.read_bytes()
    except OSError:
        return False
