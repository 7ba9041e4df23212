"""Cells of a database that are not what they should be: skipped or repaired, and counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders import load
from tests.unit.loaders.five_formats import write
from tests.unit.loaders.rocpd_file import GUID
from tests.unit.loaders.test_broken_values import SOUND, faults

SUFFIX: Final = GUID.replace("-", "_")
TABLES: Final = {
    "rocpd": (f"rocpd_kernel_dispatch_{SUFFIX}", f"rocpd_info_kernel_symbol_{SUFFIX}", "display_name"),
    "nsys": ("CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "value"),
}
"""The table of kernels; the table and column of their names."""
LOST: Final = {"rows_skipped": 1, "launches_without_op": 1}
TIMES: Final[dict[str, dict[str, int]]] = {
    "'soon'": LOST,
    "'90000abc'": LOST,
    "'90,000'": LOST,
    "x'01'": LOST,
    "NULL": LOST,
    "9e999": LOST,
    "'90000'": {},
}
NAMES: Final[dict[str, dict[str, int]]] = {
    "CAST(x'6bff' AS TEXT)": {"rows_repaired": 1},
    "CAST(x'6b01' AS TEXT)": {},
    "CAST(x'6b00' AS TEXT)": {},
    "'k\"\\x'": {},
}


@pytest.fixture(params=TABLES)
def format_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def faults_after(path: Path, statement: str) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as file, file:
        assert file.execute(statement).rowcount > 0
    return faults(analyze(load(path)))


@pytest.mark.parametrize("cell", TIMES)
def test_a_time(format_name: str, cell: str, tmp_path: Path) -> None:
    """The end of the last kernel."""
    table = TABLES[format_name][0]
    update = f'UPDATE "{table}" SET "end" = {cell} WHERE start = 40000'
    assert faults_after(write(format_name, tmp_path, SOUND), update) == TIMES[cell]


@pytest.mark.parametrize("cell", NAMES)
def test_a_name(format_name: str, cell: str, tmp_path: Path) -> None:
    """That of all kernels: one text, in one row or in two."""
    _, table, column = TABLES[format_name]
    update = f'UPDATE "{table}" SET "{column}" = {cell} WHERE "{column}" = \'k(int)\''
    assert faults_after(write(format_name, tmp_path, SOUND), update) == NAMES[cell]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.999])
def test_a_file_that_is_cut_off_is_refused(format_name: str, share: float, tmp_path: Path) -> None:
    path = write(format_name, tmp_path, SOUND)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(BrokenTrace, match=f"cut off after {int(len(content) * share)} of {len(content)}"):
        load(path)
