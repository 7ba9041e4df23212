"""The HIP version that first had each runtime symbol, against what the build calls."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.check_amd.toolchain import CheckFailed

__all__ = ["MINIMUM", "TABLE", "Version", "check_symbols", "first_versions", "undefined_hip_symbols"]

Version = tuple[int, int]
MINIMUM: Final[Version] = (6, 0)
"""What docs/amd.md asks for."""

TABLE: Final = Path(__file__).parent / "first_versions.csv"


@dataclass(frozen=True, slots=True)
class _Row:
    symbol: str
    first_hip: str

    @property
    def version(self) -> Version:
        major, minor = self.first_hip.split(".")
        return int(major), int(minor)


def first_versions(table: Path = TABLE) -> dict[str, Version]:
    with table.open(newline="") as file:
        rows = [_Row(row["symbol"], row["first_hip"]) for row in csv.DictReader(file)]
    return {row.symbol: row.version for row in rows}


def undefined_hip_symbols(nm_output: str) -> set[str]:
    """HIP's functions, those of its launches included, from llvm-nm's names of undefined symbols."""
    return {
        name
        for name in nm_output.split()
        if name.startswith(("hip", "__hip")) and not name.startswith("__hip_")
    }


def check_symbols(
    used: Iterable[str], known: Mapping[str, Version], minimum: Version = MINIMUM
) -> tuple[Version, str]:
    """The version that all used symbols need, and a symbol that needs it.

    Raises CheckFailed for a symbol that the table has not, or that is newer than the minimum.
    """
    names = sorted(used)
    if missing := [name for name in names if name not in known]:
        raise CheckFailed(f"{TABLE.name} does not say since when HIP has {', '.join(missing)}")
    newest = max(names, key=lambda name: known[name])
    if known[newest] > minimum:
        needed, promised = (".".join(map(str, version)) for version in (known[newest], minimum))
        raise CheckFailed(f"{newest} needs HIP {needed}; docs/amd.md asks for {promised} only")
    return known[newest], newest
