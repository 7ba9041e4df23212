"""Tables decoded from the pages of an SQLite file, against Python's `sqlite3`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overlap_lab.loaders.sqlite_columns import Cell, table_columns
from overlap_lab.loaders.sqlite_file import uri_of
from overlap_lab.loaders.sqlite_stored import AnyOf
from overlap_lab.native import read_table
from overlap_lab.schema import ABSENT

Answer = list[object] | None
SAMPLES = Path(__file__).parents[4] / "shared" / "samples"
DATABASES = [path for ending in ("db", "sqlite") for path in sorted(SAMPLES.glob(f"**/*.{ending}"))]
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
WHOLE = st.one_of(
    st.integers(-3, 3),
    st.sampled_from(
        [sign * 2**bits + more for bits in (7, 15, 23, 31, 47) for sign in (1, -1) for more in (-1, 0)]
    ),
    st.integers(ABSENT, -ABSENT - 1),
)
TEXT = st.one_of(st.text(max_size=5), st.integers(0, 9000).map(lambda size: "x" * size))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "whole": st.one_of(WHOLE, st.none()),
    "text": st.one_of(TEXT, st.none()),
    "real": st.one_of(st.floats(allow_nan=False), WHOLE),
    "any": st.one_of(WHOLE, TEXT, st.none(), st.floats(allow_nan=False), st.binary(max_size=9)),
}
TYPES = ["", "INTEGER", "TEXT", "REAL", "JSONB", "BIGINT", "FLOAT INT"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.db"


def connected(path: Path) -> closing[sqlite3.Connection]:
    """A connection that is closed behind its block, also where the file is found damaged inside."""
    return closing(sqlite3.connect(uri_of(path), uri=True))


def made(path: Path, *statements: str, rows: Sequence[Sequence[object]] = (), page: int = 512) -> Path:
    """A file by these statements; the first with a question mark is run for all rows."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page}")
    connection.execute("BEGIN")
    for statement in statements:
        if "?" in statement:
            connection.executemany(statement, rows)
        else:
            connection.execute(statement)
    connection.execute("COMMIT")
    connection.close()
    return path


def decoded(path: Path, column: str, cell: Cell, only: Sequence[AnyOf] = (), table: str = "t") -> Answer:
    """A column as `read_table` has it, NULL as None."""
    with connected(path) as connection:
        found = table_columns(connection, path, table, {column: cell}, only)
    if found is None:
        return None
    if column in found.numbers:
        return [None if value == ABSENT else value for value in found.numbers[column].tolist()]
    values = found.texts[column]
    return [None if code < 0 else values.texts[code] for code in values.codes.tolist()]


def stepped(path: Path, column: str, cell: Cell, where: str = "", table: str = "t") -> Answer:
    """What it must be, by `sqlite3`; None where a cell is odd."""
    shown = f'CAST("{column}" AS INTEGER)' if cell == Cell.CAST else f'"{column}"'
    with connected(path) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        rows = connection.execute(f'SELECT {shown}, typeof("{column}") FROM "{table}" {where}').fetchall()
    kinds = {Cell.INTEGER: {"integer"}, Cell.CAST: {"integer", "real"}, Cell.TEXT: {"text"}}[cell] | {"null"}
    odd = any(kind not in kinds or (cell == Cell.INTEGER and value == ABSENT) for value, kind in rows)
    return None if odd else [None if value == ABSENT else value for value, _ in rows]


def assert_alike(path: Path, column: str, *, table: str = "t", must: bool = True) -> None:
    """Each kind of cell is decoded as `sqlite3` reads it; unless `must`, it may be left to SQLite."""
    for cell in (Cell.INTEGER, Cell.CAST, Cell.TEXT):
        found = decoded(path, column, cell, table=table)
        if found is not None or must:
            assert found == stepped(path, column, cell, table=table), cell


@pytest.mark.parametrize("path", DATABASES, ids=lambda path: path.name)
def test_a_sample_is_decoded_alike(path: Path) -> None:
    with connected(path) as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        columns = [
            (table, row[1], row[2])
            for (table,) in listed
            for row in connection.execute(f'PRAGMA table_info("{table}")')
        ]
    for table, column, kind in columns:
        cell = Cell.INTEGER if "INT" in kind else Cell.TEXT
        if kind != "REAL":
            assert decoded(path, column, cell, table=table) == stepped(path, column, cell, table=table), (
                column
            )


@MANY
@given(st.data())
def test_any_cells_are_decoded_alike(path: Path, data: st.DataObject) -> None:
    values = VALUES[data.draw(st.sampled_from(sorted(VALUES)))]
    kinds = data.draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.tuples(*[values] * len(kinds)), max_size=30))
    columns = ", ".join(f"c{n} {kind}" for n, kind in enumerate(kinds))
    marks = ", ".join("?" * len(kinds))
    page = data.draw(st.sampled_from([512, 1024, 4096, 65536]))
    made(path, f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES ({marks})", rows=rows, page=page)
    for number, kind in enumerate(kinds):
        assert_alike(path, f"c{number}", must=kind != "REAL")


@MANY
@given(
    st.lists(st.integers(ABSENT, -ABSENT - 1), unique=True),
    st.sampled_from(["DELETE FROM t WHERE x % 3", "SELECT 1"]),
)
def test_row_numbers_are_decoded_alike(path: Path, numbers: list[int], change: str) -> None:
    rows = [(number, number % 5) for number in numbers]
    made(path, "CREATE TABLE t (id Integer PRIMARY KEY, x)", "INSERT INTO t VALUES (?, ?)", change, rows=rows)
    for column in ("id", "x"):
        assert_alike(path, column)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(
    "change", ["SELECT 1", "DELETE FROM t WHERE x % 7 < 3", "UPDATE t SET id = id * 50 + 10000000"]
)
def test_tables_of_many_pages(path: Path, threads: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERLAP_LAB_THREADS", threads)
    rows = [(n, f"text {n * n % 101}") for n in range(20_000)]
    table = "CREATE TABLE t (id INTEGER PRIMARY KEY, x, s TEXT)"
    made(path, table, "INSERT INTO t (x, s) VALUES (?, ?)", change, rows=rows)
    for column in ("id", "x", "s"):
        assert_alike(path, column)
    only = [{"s": ("text 1", "text 4")}]
    assert decoded(path, "x", Cell.INTEGER, only) == stepped(
        path, "x", Cell.INTEGER, "WHERE s IN ('text 1', 'text 4')"
    )


@pytest.mark.parametrize("threads", ["1", "3"])
def test_coded_numbers_are_in_the_order_in_which_they_come(
    path: Path, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OVERLAP_LAB_THREADS", threads)
    values = [n // 100 * 7919 % 64 - 3 if n % 5 else None for n in range(20_000)]
    made(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (?)", rows=[(value,) for value in values])
    found = read_table(bytes(path), 2, [(0, False)], [Cell.CODED])
    assert found is not None
    codes, numbers = found[0]
    assert [numbers[code] for code in codes] == [ABSENT if value is None else value for value in values]
    assert [ABSENT if value is None else value for value in dict.fromkeys(values)] == list(numbers)


def test_a_condition_on_several_columns(path: Path) -> None:
    rows = [(n, "ab"[n % 2], "xyz"[n % 3], None if n % 5 else "g") for n in range(60)]
    made(path, "CREATE TABLE t (n, a TEXT, b TEXT, g)", "INSERT INTO t VALUES (?, ?, ?, ?)", rows=rows)
    only = [{"a": ("a",), "b": ("x", "y")}, {"g": ("g",)}]
    wanted = [n for n, a, b, g in rows if (a == "a" or b in "xy") and g == "g"]
    assert decoded(path, "n", Cell.INTEGER, only) == wanted


def test_texts_that_are_not_compared_byte_by_byte_are_for_sqlite(path: Path) -> None:
    made(path, "CREATE TABLE t (a TEXT COLLATE NOCASE)", "INSERT INTO t VALUES ('A')")
    assert decoded(path, "a", Cell.TEXT, [{"a": ("a",)}]) is None
    made(path, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
    assert decoded(path, "a", Cell.INTEGER, [{"a": ("1",)}]) is None


def test_rows_from_before_a_column(path: Path) -> None:
    made(
        path,
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1), ('x')",
        "ALTER TABLE t ADD COLUMN b",
        "ALTER TABLE t ADD COLUMN c DEFAULT 7",
        "INSERT INTO t VALUES (2, 3, 4)",
    )
    assert decoded(path, "b", Cell.INTEGER) == [None, None, 3]
    assert decoded(path, "c", Cell.INTEGER) is None
    assert decoded(path, "b", Cell.INTEGER, [{"c": ("7",)}]) is None


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW t AS SELECT 1 AS x",
        "CREATE TABLE t (x PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE t (y, x AS (y + 1))",
        "CREATE TABLE u (x)",
    ],
)
def test_what_is_no_table_of_plain_rows_is_for_sqlite(path: Path, statement: str) -> None:
    assert decoded(made(path, statement), "x", Cell.INTEGER) is None


def test_a_key_that_is_not_the_row_number(path: Path) -> None:
    rows = [(5, 1), (3, 2)]
    made(path, "CREATE TABLE t (x INTEGER PRIMARY KEY DESC, y)", "INSERT INTO t VALUES (?, ?)", rows=rows)
    assert decoded(path, "x", Cell.INTEGER) == [5, 3]
    made(path, "CREATE TABLE t (x INTEGER, y, PRIMARY KEY (x, y))", "INSERT INTO t VALUES (?, ?)", rows=rows)
    assert decoded(path, "x", Cell.INTEGER) == [5, 3]


@pytest.mark.parametrize("vacuum", ["NONE", "FULL"])
def test_pages_that_were_given_back(path: Path, vacuum: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA auto_vacuum = {vacuum}")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE gone (s)")
    connection.executemany("INSERT INTO gone VALUES (?)", [("x" * 900,) for _ in range(300)])
    connection.execute("CREATE TABLE t (n, s)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "y" * (n * 37 % 9000)) for n in range(300)])
    connection.execute("COMMIT")
    connection.execute("BEGIN")
    connection.execute("DROP TABLE gone")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "z" * n) for n in range(300)])
    connection.execute("COMMIT")
    connection.close()
    for column in ("n", "s"):
        assert_alike(path, column)


def test_bytes_kept_from_each_page(path: Path) -> None:
    made(path, "CREATE TABLE t (n)", "DROP TABLE t", "PRAGMA user_version = 1", page=1024)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("VACUUM")
    connection.close()
    raw = bytearray(path.read_bytes())
    raw[20], raw[105:107] = 40, (1024 - 40).to_bytes(2, "big")
    path.write_bytes(raw)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE t (n, s)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(n, "y" * (n * 37 % 4000)) for n in range(300)]
        )
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert path.read_bytes()[20] == 40
    for column in ("n", "s"):
        assert_alike(path, column)


def test_other_text_encodings_are_for_sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA encoding = 'UTF-16'")
        connection.execute("CREATE TABLE t (s)")
        connection.execute("INSERT INTO t VALUES ('a')")
    connection.close()
    assert decoded(path, "s", Cell.TEXT) is None


def flipped(raw: bytes, changes: Sequence[tuple[int, int]]) -> bytes:
    damaged = bytearray(raw)
    for place, value in changes:
        damaged[place % len(raw)] = value
    return bytes(damaged)


def outcome(read: Callable[[], Answer]) -> Answer:
    """None also for a file that SQLite finds damaged."""
    try:
        return read()
    except (sqlite3.Error, OverflowError, UnicodeError):
        return None


@settings(MANY, max_examples=600)
@given(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6))
@example([(1028, 0)])  # a page of the tree without rows, which SQLite takes for damage
def test_damaged_pages_are_read_as_sqlite_reads_them_or_not_at_all(
    path: Path, changes: list[tuple[int, int]]
) -> None:
    whole = path.with_name("whole.db")
    if not whole.exists():
        rows = [(n * n, None if n % 3 else n, f"{n}" * (n % 40), n / 2) for n in range(120)]
        made(whole, "CREATE TABLE t (a, b, s, r)", "INSERT INTO t VALUES (?, ?, ?, ?)", rows=rows)
    path.write_bytes(flipped(whole.read_bytes(), changes))
    for column, cell in (("a", Cell.INTEGER), ("b", Cell.INTEGER), ("s", Cell.TEXT), ("r", Cell.CAST)):
        found = outcome(lambda column=column, cell=cell: decoded(path, column, cell))
        assert found is None or found == outcome(lambda c=column, cell=cell: stepped(path, c, cell))


@pytest.mark.parametrize("size", [0, 99, 100, 600, 1500])
def test_files_that_are_cut_off_are_for_sqlite(path: Path, size: int) -> None:
    made(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (?)", rows=[(n,) for n in range(500)])
    path.write_bytes(path.read_bytes()[:size])
    assert read_table(bytes(path), 2, [(0, False)], [Cell.INTEGER]) is None
    assert read_table(bytes(path.with_name("none")), 2, [(0, False)], [Cell.INTEGER]) is None
