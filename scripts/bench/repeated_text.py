"""Text with numbers in it, written again and again: every copy later, and with ids of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["TIME", "Copies", "Repeated", "Unrepeatable", "repeated_keys"]

TIME: Final = "time"
"""The family of all times; every other family is one of ids, of which 0 means none."""
_LARGEST_ID: Final = 1 << 31  # larger ones are ways to say "none"


class Unrepeatable(Exception):
    """A capture that this generator cannot repeat, and why."""


@dataclass(frozen=True)
class Repeated:
    """A text whose copies differ in some numbers only."""

    pattern: str
    """The text, with %d for each number that changes."""
    values: npt.NDArray[np.int64]
    families: tuple[str, ...]
    """For each number the family whose step it takes."""

    def largest(self) -> dict[str, int]:
        """The largest number of each family."""
        found: dict[str, int] = {}
        for family, value in zip(self.families, self.values.tolist(), strict=True):
            found[family] = max(found.get(family, value), value)
        return found

    def copies(self, steps: Mapping[str, int]) -> Copies:
        """The text as often as wanted; each copy's numbers are larger by their family's step."""
        return Copies(self.pattern, self.values, np.array([steps[name] for name in self.families], np.int64))


@dataclass(frozen=True)
class Copies:
    """Copy after copy of a text."""

    _pattern: str
    _values: npt.NDArray[np.int64]
    _steps: npt.NDArray[np.int64]

    def __getitem__(self, number: int) -> str:
        return self._pattern % tuple((self._values + number * self._steps).tolist())


def repeated_keys(text: str, families: Mapping[str, str]) -> Repeated:
    """A piece of JSON text, in which the whole parts of these keys' numbers change, also of quoted ones."""
    keys = "|".join(re.escape(key) for key in families)
    found = re.compile(rf'"({keys})"\s*:\s*"?(-?\d+)(?=([\d.]*[eE])?)')
    parts: list[str] = []
    values: list[int] = []
    of: list[str] = []
    done = 0
    for match in found.finditer(text):
        family, value = families[match[1]], int(match[2])
        if match[3] and family == TIME:
            raise Unrepeatable(f"{match[0]}{match[3]}: a time with an exponent")
        if family != TIME and not 0 < value < _LARGEST_ID:
            continue
        parts.append(text[done : match.start(2)])
        values.append(value)
        of.append(family)
        done = match.end(2)
    parts.append(text[done:])
    pattern = "%d".join(part.replace("%", "%%") for part in parts)
    return Repeated(pattern, np.array(values, np.int64), tuple(of))
