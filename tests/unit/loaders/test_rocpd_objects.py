from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from overlap_lab.errors import BrokenTrace, UnknownFormat, UsageError
from overlap_lab.loaders import load
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace, columns_of
from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables
from tests.unit.loaders.rocpd_package import apply_time_window, connect

OTHER = GUID[:-1] + "2"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "4001_results.db", GUID, one_process())


def same(one: Trace, other: Trace) -> bool:
    pairs = zip(columns_of(one).values(), columns_of(other).values(), strict=True)
    return one.names == other.names and all((a == b).all() for a, b in pairs)


def test_a_connection_of_sqlite3_gives_the_trace_of_its_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        trace = load(connection)
        connection.execute("SELECT 1")  # still open
    assert same(trace, load(path))
    assert trace.source.files == (str(path),)


def test_an_import_of_one_database_gives_the_trace_of_its_file(path: Path) -> None:
    with closing(connect(path)) as data:
        assert same(load(data), load(path))


def test_an_import_that_only_holds_a_connection_is_asked_through_it(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert same(load(SimpleNamespace(connection=connection)), load(path))


def test_an_import_of_several_databases_has_a_part_for_each(path: Path, tmp_path: Path) -> None:
    other = write_tables(tmp_path / "4002_results.db", OTHER, one_process(4002))
    with closing(connect([path, other])) as data:
        trace = load(data)
    assert sorted(set(zip(trace.part.tolist(), trace.process.tolist(), strict=True))) == [
        (0, 4001),
        (1, 4002),
    ]
    assert len(trace) == 8


def test_attached_databases_without_views_are_read(path: Path, tmp_path: Path) -> None:
    other = write_tables(tmp_path / "4002_results.db", OTHER, one_process(4002))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"ATTACH DATABASE '{other}' AS second")
        assert set(load(connection).process.tolist()) == {4001, 4002}


def test_a_window_of_time_set_with_the_package_holds(path: Path) -> None:
    with closing(connect([path])) as data:
        apply_time_window(data, 6, 9)
        trace = load(data)
    assert trace.start_ns[trace.kind == Kind.API].tolist() == [6]


def test_a_connection_to_something_else_is_refused() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(UnknownFormat, match="no rocpd tables"),
    ):
        load(connection)


def test_a_closed_connection_is_one_clear_error(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.close()
    with pytest.raises(BrokenTrace, match="closed"):
        load(connection)


def test_an_object_that_takes_no_queries_is_refused() -> None:
    with pytest.raises(UsageError, match="not int"):
        load(5)  # type: ignore[arg-type]
