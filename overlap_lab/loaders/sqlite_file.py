"""SQLite files of any tool, opened so that nothing is written: not even a journal or a lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Findings
from overlap_lab.schema import Fault

__all__ = [
    "IS_STORED",
    "SQLITE",
    "Texts",
    "columns_in",
    "note_faulty",
    "note_unmerged_log",
    "read_only",
    "tables_in",
    "tell_replaced",
    "uri_of",
]

SQLITE: Final = b"SQLite format 3\0"
IS_STORED: Final = "type = 'table' AND rootpage > 0"
"""Of a row of sqlite_master: a table whose rows lie in the file, no view and no virtual table."""
_HEADER: Final = 100


def uri_of(path: Path) -> str:
    """The name under which SQLite opens a file without writing anything."""
    return f"{path.resolve().as_uri()}?mode=ro&immutable=1"


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that never writes. Every error of SQLite becomes a BrokenTrace."""
    _check_length(path)
    try:
        connection = sqlite3.connect(uri_of(path), uri=True)
        try:
            connection.text_factory = Texts()
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, OverflowError, UnicodeError) as error:  # its messages can be damaged too
        raise BrokenTrace(
            f"{path}: damaged SQLite file ({error}); copy it again from where it was written"
        ) from None


def _check_length(path: Path) -> None:
    """Raise BrokenTrace for a file that ends before its last page, where SQLite may read zeros."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    counted = header[24:28] == header[92:96]  # else the number of pages is an older writer's
    if len(header) == _HEADER and counted:
        page = int.from_bytes(header[16:18], "big")
        whole = int.from_bytes(header[28:32], "big") * (65_536 if page == 1 else page)
        size = path.stat().st_size
        if size < whole:
            raise BrokenTrace(
                f"{path}: damaged SQLite file (cut off after {size} of {whole} bytes); copy it again "
                "from where it was written"
            )


class Texts:
    """Decodes text; bytes that are not UTF-8 are replaced."""

    def __init__(self) -> None:
        self.faulty: set[bytes] = set()
        """The texts that have such bytes."""

    def __call__(self, raw: bytes) -> str:
        """The text of these bytes."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.faulty.add(raw)
            return raw.decode("utf-8", "replace")


def note_faulty(connection: sqlite3.Connection, *texts: set[bytes]) -> None:
    """Add texts that another reader of the file has met, and that are not UTF-8."""
    connection.text_factory.faulty.update(*texts)


def tell_replaced(connection: sqlite3.Connection, path: Path, findings: Findings) -> None:
    """Count the texts read so far in which bytes were replaced."""
    faulty = connection.text_factory.faulty
    if faulty:
        findings.count(Fault.ROWS_REPAIRED, len(faulty))
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced in {len(faulty)} texts.")


def tables_in(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The names of the tables whose rows lie in the file, without views and virtual tables."""
    query = f"SELECT name FROM sqlite_master WHERE {IS_STORED} ORDER BY name"  # noqa: S608
    return tuple(name for (name,) in connection.execute(query))


def columns_in(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """The column names of a table."""
    quoted = table.replace('"', '""')
    return tuple(row[1] for row in connection.execute(f'PRAGMA table_info("{quoted}")'))


def note_unmerged_log(path: Path, findings: Findings) -> None:
    """Count the file as truncated where rows of it still lie in a write-ahead log, which is not read."""
    log = path.with_name(path.name + "-wal")
    if log.is_file() and log.stat().st_size:
        findings.count(Fault.TRUNCATED)
        findings.note(
            f"{log.name} holds rows that were never merged into the database: the capture did not end well."
        )
