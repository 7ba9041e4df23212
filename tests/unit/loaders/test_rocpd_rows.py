"""rocpd read from columns equals rocpd read from objects, whatever the cells hold."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.loaders import load
from overlap_lab.loaders.rocpd_rows import ColumnPart
from overlap_lab.schema import ABSENT
from tests.unit.loaders.plain_reading import assert_read_alike
from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables

ROOT = Path(__file__).parents[3]
CAPTURES = sorted(ROOT.glob("traces/*.db"))
CAPTURES += sorted((ROOT.parent / "shared" / "samples").glob("**/*.db"))
ODD = st.one_of(
    st.none(),
    st.integers(-3, 5),
    st.integers(ABSENT, -ABSENT - 1),
    st.sampled_from(
        ["1", "0x10", "", "a\0b", "\ufffd", "nullptr", "hipMemcpyDeviceToHost", "{}", '{"message": 3}']
    ),
    st.floats(allow_nan=False),
    st.binary(max_size=3),
)
SMALL = st.integers(0, 4)
NAMES = st.sampled_from(["stream", "kind", "sizeBytes", "ptr"])
TYPES = st.sampled_from(["hipStream_t", "size_t", "hipMemcpyKind", ""])
VALUES = st.sampled_from(
    ["0x0", "0x7f00", "nullptr", "DeviceToHost", "3", "4096", "18446744073709551615", ""]
)
EXTRA = st.sampled_from(["{}", None, '{"message": "a"}', '{"message": "b"}', "["])
REGIONS = {"pid": SMALL, "tid": SMALL, "start": SMALL, "end": SMALL, "name_id": SMALL, "event_id": SMALL}
KERNELS = {
    **dict.fromkeys(("pid", "tid", "agent_id", "kernel_id", "queue_id", "stream_id"), SMALL),
    **dict.fromkeys(("start", "end", "event_id", "graph_exec_id"), SMALL),
}
COPIES = {
    **dict.fromkeys(("pid", "tid", "name_id", "src_agent_id", "dst_agent_id", "size", "stream_id"), SMALL),
    **dict.fromkeys(("start", "end", "event_id"), SMALL),
    "extdata": st.sampled_from(['{"host_memory": "pinned"}', "{}", None]),
}


def rows(cells: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=8)


TABLES = {
    "event": rows({"id": SMALL, "category_id": SMALL, "stack_id": SMALL, "extdata": EXTRA}),
    "arg": rows({"event_id": SMALL, "type": TYPES, "name": NAMES, "value": VALUES}),
    "region": rows({**REGIONS, "extdata": EXTRA}),
    "kernel_dispatch": rows(KERNELS),
    "memory_copy": rows(COPIES),
    "sample": rows({"track_id": SMALL, "timestamp": SMALL, "event_id": SMALL, "extdata": EXTRA}),
    "track": rows({"id": SMALL, "pid": SMALL, "tid": SMALL, "name_id": SMALL}),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "4001_results.db"


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_a_capture_is_read_alike(capture: Path) -> None:
    assert_read_alike(capture)


def test_a_file_without_odd_cells_is_read_from_columns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ColumnPart, "read", None)
    assert len(load(write_tables(path, GUID, one_process()))) == 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.fixed_dictionaries({}, optional=TABLES))
def test_random_tables_are_read_alike(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    path.unlink(missing_ok=True)
    assert_read_alike(write_tables(path, GUID, one_process(**tables)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.data())
def test_odd_cells_are_read_alike(path: Path, data: st.DataObject) -> None:
    path.unlink(missing_ok=True)
    tables = one_process()
    for _ in range(data.draw(st.integers(1, 3))):
        table = data.draw(st.sampled_from(sorted(tables)))
        row = dict(data.draw(st.sampled_from(tables[table])))
        row[data.draw(st.sampled_from(sorted(row)))] = data.draw(ODD)
        tables[table] = [*tables[table], row]
    assert_read_alike(write_tables(path, GUID, tables))


def test_two_processes_in_one_file_are_read_alike(path: Path) -> None:
    write_tables(path, GUID, one_process())
    trace = assert_read_alike(write_tables(path, GUID[:-1] + "2", one_process(4002)))
    assert trace is not None
    assert set(trace.part.tolist()) == {0, 1}


def test_two_processes_in_one_set_of_tables_are_read_alike(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GUID[:-1] + "2"
    write_tables(path, GUID, one_process())
    connection = sqlite3.connect(path)
    with connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            columns = [
                row[1] for row in connection.execute(f'PRAGMA table_info("{table}")') if row[1] != "guid"
            ]
            cells = ", ".join(f'"{name}"' for name in columns)
            connection.execute(
                f'INSERT INTO "{table}" ({cells}, guid) SELECT {cells}, ? FROM "{table}"', (other,)
            )
    connection.close()
    trace = assert_read_alike(path)
    assert trace is not None
    assert [int((trace.part == part).sum()) for part in (0, 1)] == [4, 4]
    monkeypatch.setattr(ColumnPart, "read", None)
    assert len(load(path)) == 8
