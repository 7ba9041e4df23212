"""SQLite statements stepped into columns, against Python's `sqlite3`."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.loaders.sqlite_file import uri_of
from overlap_lab.native import Cell, read_columns, sqlite_version
from overlap_lab.schema import ABSENT

FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0"
NUMBERS = st.one_of(
    st.none(),
    st.integers(ABSENT, -ABSENT - 1),
    st.floats(allow_nan=False),
    st.text(alphabet="0123456789.e-+x "),
)

pytestmark = pytest.mark.skipif(sqlite_version() is None, reason="no SQLite library on this machine")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.db"


def filled(path: Path, *cells: object) -> str:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in cells])
    connection.close()
    return uri_of(path)


def test_integers_and_null(path: Path) -> None:
    [column] = read_columns(filled(path, 3, None, -1), "SELECT x FROM t", [Cell.INTEGER]) or []
    assert np.asarray(column).tolist() == [3, ABSENT, -1]


def test_texts_are_kept_once(path: Path) -> None:
    found = read_columns(filled(path, "b", "a\0", None, "b", ""), "SELECT x FROM t", [Cell.TEXT])
    assert found is not None
    codes, texts, faulty = found[0]
    assert (codes.tolist(), texts, faulty) == ([0, 1, -1, 0, 2], ["b", "a\0", ""], [])


def test_texts_that_are_not_utf8_are_told(path: Path) -> None:
    query = "SELECT CAST(x AS TEXT) FROM t"
    found = read_columns(filled(path, b"a\xff", b"b", b"\xef\xbf\xbd"), query, [Cell.TEXT])
    assert found is not None
    assert found[0][1:] == (["a\ufffd", "b", "\ufffd"], [b"a\xff"])


@pytest.mark.parametrize("cell", ["1", 1.0, b"1", ABSENT])
def test_an_odd_cell_is_for_another_reader(path: Path, cell: object) -> None:
    assert read_columns(filled(path, 3, cell), "SELECT x FROM t", [Cell.INTEGER]) is None


@pytest.mark.parametrize("cell", [1, 1.0, b"1"])
def test_a_number_is_no_text(path: Path, cell: object) -> None:
    assert read_columns(filled(path, "a", cell), "SELECT x FROM t", [Cell.TEXT]) is None


def test_what_cannot_be_asked_is_for_another_reader(path: Path) -> None:
    uri = filled(path, 1)
    assert read_columns(uri, "SELECT y FROM t", [Cell.INTEGER]) is None
    assert read_columns(uri, "SELECT x FROM t", [Cell.INTEGER] * 2) is None
    assert read_columns(uri, "", []) is None
    assert read_columns(uri_of(path.with_name("none.db")), "SELECT 1", [Cell.INTEGER]) is None


def test_nothing_is_written(path: Path) -> None:
    uri = filled(path, 1)
    assert read_columns(uri, "INSERT INTO t VALUES (2)", []) is None
    assert read_columns(uri, "SELECT x FROM t", [Cell.INTEGER]) is not None
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_parameters_are_text(path: Path) -> None:
    [column] = (
        read_columns(filled(path, "a", "b"), "SELECT rowid FROM t WHERE x = ?", [Cell.INTEGER], ["b"]) or []
    )
    assert np.asarray(column).tolist() == [2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(st.lists(NUMBERS, max_size=20))
def test_numbers_are_cast_as_sqlite_casts_them(path: Path, cells: list[object]) -> None:
    found = read_columns(filled(path, *cells), "SELECT x FROM t", [Cell.CAST])
    if any(isinstance(cell, str) for cell in cells):
        assert found is None  # text that is no number would be 0
        return
    assert found is not None
    [column] = found
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT IFNULL(CAST(x AS INTEGER), ?) FROM t", (ABSENT,)).fetchall()
    connection.close()
    assert np.asarray(column).tolist() == [value for (value,) in rows]


def test_a_long_search_stops_at_a_signal(path: Path) -> None:
    """The search itself never ends."""
    uri = filled(path, 1)
    was = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            read_columns(uri, FOREVER, [Cell.INTEGER])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, was)
