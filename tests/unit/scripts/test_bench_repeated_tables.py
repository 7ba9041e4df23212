"""Repeated CSV and SQLite: N copies hold N times what one holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from overlap_lab import load
from scripts.bench.own_tables import write_nsys, write_rocprof_csv
from scripts.bench.repeated_csv import csv_rows, repeat_csv
from scripts.bench.repeated_sqlite import repeat_nsys, repeat_rocpd, table_rows
from scripts.bench.sqlite_queries import queries
from scripts.bench.verified import numbers_of

ROOT = Path(__file__).resolve().parents[3]


def test_csv_tables_are_repeated(tmp_path: Path) -> None:
    files = write_rocprof_csv(tmp_path, 60)
    assert csv_rows(files) == 60
    for copies in (1, 5):
        repeat_csv(files, tmp_path / str(copies), copies)
    one, five = (numbers_of(tmp_path / str(copies)) for copies in (1, 5))
    assert one["kernels"] == 30
    assert five == {name: 5 * number for name, number in one.items()}
    trace = load(tmp_path / "5")
    assert len(set(trace.correlation[trace.is_device].tolist())) == 150


def test_a_second_csv_capture_follows_the_first(tmp_path: Path) -> None:
    calls, kernels = write_rocprof_csv(tmp_path, 60)
    other = kernels.with_name("prefill_kernel_trace.csv")
    other.write_text(kernels.read_text())
    repeat_csv([calls, kernels, other], tmp_path / "both", 2)
    numbers = numbers_of(tmp_path / "both")
    assert numbers["rows"] == 2 * 90
    assert numbers["busy_ns"] == 2 * 60 * 700
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == [
        "4001_hip_api_trace.csv",
        "4001_kernel_trace.csv",
    ]


def test_rocpd_tables_are_repeated(tmp_path: Path) -> None:
    capture, path = ROOT / "traces" / "fmha_bwd_sync.db", tmp_path / "repeated.db"
    repeat_rocpd(capture, path, 6)
    assert table_rows(path) == {table: 6 * rows for table, rows in table_rows(capture).items()}
    assert numbers_of(path) == {name: 6 * number for name, number in numbers_of(capture).items()}
    assert sum(_rows_of(path)) == sum(table_rows(path).values())


def test_nsys_tables_are_repeated(tmp_path: Path) -> None:
    capture, path = tmp_path / "capture.sqlite", tmp_path / "repeated.sqlite"
    write_nsys(capture, 200)
    repeat_nsys(capture, path, 3)
    assert numbers_of(path) == {name: 3 * number for name, number in numbers_of(capture).items()}
    assert sum(_rows_of(path)) == 3 * 200


@pytest.mark.parametrize("copies", [1, 2])
def test_one_copy_is_the_capture(copies: int, tmp_path: Path) -> None:
    capture, path = tmp_path / "capture.sqlite", tmp_path / "repeated.sqlite"
    write_nsys(capture, 100)
    repeat_nsys(capture, path, copies)
    assert sum(table_rows(path).values()) == 100 * copies


def _rows_of(path: Path) -> list[int]:
    with sqlite3.connect(path) as connection:
        found = [len(connection.execute(query).fetchall()) for query in queries(path)]
    connection.close()
    return found
