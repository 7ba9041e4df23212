"""What a run measures: how much of it, on which captures, in which folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from scripts.bench.captures import Captures

__all__ = ["MB", "Level", "Setting"]

MB = 1_000_000
_PIECE = 1 << 24

Value = TypeVar("Value")


class Level(StrEnum):
    QUICK = "quick"
    """Small files, in less than three minutes."""
    DEFAULT = "default"
    """Every row; of the captures two at 500 MB."""
    FULL = "full"
    """Every row and every capture, and HTA on 500 MB."""


@dataclass(frozen=True)
class Setting:
    """Files are made in the folder when they are needed, and removed after that if none are kept."""

    level: Level
    captures: Captures
    folder: Path
    keep: bool = False

    def chosen(self, quick: Value, default: Value, full: Value) -> Value:
        """What this level takes."""
        return {Level.QUICK: quick, Level.DEFAULT: default, Level.FULL: full}[self.level]

    @contextmanager
    def made(self, name: str, write: Callable[[Path], object]) -> Iterator[Path]:
        """A file or folder, written if it is not there yet."""
        path = self.folder / name
        if not path.exists():
            partial = path.with_name("partial_" + name)
            _remove(partial)
            write(partial)
            partial.rename(path)
        _settle(path)
        try:
            yield path
        finally:
            if not self.keep:
                _remove(path)


def _settle(path: Path) -> None:
    """Have what was written on the disk, so that none of it is written later, and in the page cache."""
    for file in path.iterdir() if path.is_dir() else [path]:
        with file.open("rb") as content:
            os.fsync(content.fileno())
            while content.read(_PIECE):
                pass


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
