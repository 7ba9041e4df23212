from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.errors import BrokenTrace, InputError, OverlapLabError
from overlap_lab.loaders import load
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, CopyKind, Fault, Kind, Memory
from overlap_lab.trace import Trace
from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables

OTHER = GUID[:-1] + "2"


def only(trace: Trace, kind: Kind) -> Trace:
    return trace.where(trace.kind == kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "4001_results.db"


def test_ids_are_resolved_through_the_info_tables(path: Path) -> None:
    kernel = only(load(write_tables(path, GUID, one_process())), Kind.KERNEL)
    row = (kernel.process, kernel.thread, kernel.device, kernel.stream, kernel.queue, kernel.correlation)
    assert [int(column[0]) for column in row] == [4001, 4002, 4, 7, 3, 11]
    assert kernel.name_of(0) == "k(int)"


def test_calls_and_ops_are_linked_by_stack_id(path: Path) -> None:
    trace = load(write_tables(path, GUID, one_process()))
    assert trace.correlation.tolist() == [11, 12, 11, 12]
    assert trace.api.tolist() == [Api.LAUNCH, Api.MEMCPY_ASYNC, Api.NONE, Api.NONE]


def test_a_copy_has_direction_bytes_and_memory(path: Path) -> None:
    copy = only(load(write_tables(path, GUID, one_process())), Kind.MEMCPY)
    assert (copy.copy_kind[0], copy.bytes[0], copy.memory[0]) == (
        CopyKind.DEVICE_TO_HOST,
        4096,
        Memory.PINNED,
    )


def test_streams_of_calls_are_learned_from_their_ops(path: Path) -> None:
    calls = only(load(write_tables(path, GUID, one_process())), Kind.API)
    assert calls.stream.tolist() == [7, 7]
    assert (calls.copy_kind[1], calls.bytes[1]) == (CopyKind.DEVICE_TO_HOST, 4096)


def test_a_null_pointer_is_the_default_stream(path: Path) -> None:
    args = [{"event_id": 1, "type": "hipStream_t", "name": "stream", "value": "0x0"}]
    trace = load(write_tables(path, GUID, one_process(arg=args)))
    assert only(trace, Kind.API).stream.tolist() == [0, ABSENT]
    assert trace.source.null_streams == {0}


def test_nonblocking_streams_are_told(path: Path) -> None:
    assert load(write_tables(path, GUID, one_process())).source.nonblocking_streams == {7}


def test_without_stream_names_the_ids_are_the_numbers(path: Path) -> None:
    streams = [{"id": 1, "name": None, "extdata": None}, {"id": 2, "name": "side", "extdata": None}]
    trace = load(write_tables(path, GUID, one_process(info_stream=streams)))
    assert only(trace, Kind.KERNEL).stream.tolist() == [2]
    assert not trace.source.null_streams


def test_several_guids_are_parts_that_never_mix(path: Path) -> None:
    write_tables(path, GUID, one_process(4001))
    trace = load(write_tables(path, OTHER, one_process(4002)))
    assert sorted(set(zip(trace.part.tolist(), trace.process.tolist(), strict=True))) == [
        (0, 4001),
        (1, 4002),
    ]
    assert len(trace) == 8


def test_views_without_suffix_are_not_read_again(path: Path) -> None:
    write_tables(path, GUID, one_process())
    connection = sqlite3.connect(path)
    for table in ("info_process", "region", "kernel_dispatch"):
        suffix = GUID.replace("-", "_")
        connection.execute(f'CREATE VIEW "rocpd_{table}" AS SELECT * FROM "rocpd_{table}_{suffix}"')
    connection.commit()
    connection.close()
    assert len(load(path)) == 4


ENDLESS = "WITH RECURSIVE more(id, string) AS (SELECT 1, 'x' UNION ALL SELECT id + 1, string FROM more)"


@pytest.mark.parametrize("table", ["string", "region", "event", "info_process", "arg"])
def test_a_view_in_the_place_of_a_table_is_never_run(path: Path, table: str) -> None:
    write_tables(path, GUID, one_process())
    full = f"rocpd_{table}_{GUID.replace('-', '_')}"
    connection = sqlite3.connect(path)
    connection.execute(f'ALTER TABLE "{full}" RENAME TO away')
    connection.execute(f'CREATE VIEW "{full}" AS {ENDLESS} SELECT * FROM more')
    connection.commit()
    connection.close()
    try:
        trace = load(path)
    except InputError:  # without its processes it is no rocpd file
        return
    assert len(trace) <= 4


def test_one_table_set_of_two_guids_is_two_parts(path: Path) -> None:
    write_tables(path, GUID, one_process())
    connection = sqlite3.connect(path)
    suffix = GUID.replace("-", "_")
    for table in one_process():
        full = f'"rocpd_{table}_{suffix}"'
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({full})")]
        copied = ", ".join(f"'{OTHER}'" if name == "guid" else f'"{name}"' for name in columns)
        connection.execute(f"INSERT INTO {full} SELECT {copied} FROM {full}")
    connection.commit()
    connection.close()
    trace = load(path)
    assert sorted(trace.part.tolist()) == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "missing", ["arg", "memory_copy", "info_stream", "info_thread", "info_kernel_symbol", "metadata"]
)
def test_a_version_without_a_table_is_read(path: Path, missing: str) -> None:
    tables = one_process()
    del tables[missing]
    assert len(load(write_tables(path, GUID, tables))) >= 3


def test_graph_ids_of_newer_versions_are_kept(path: Path) -> None:
    [kernel] = one_process()["kernel_dispatch"]
    trace = load(write_tables(path, GUID, one_process(kernel_dispatch=[{**kernel, "graph_exec_id": 3}])))
    assert only(trace, Kind.KERNEL).graph.tolist() == [3]


def test_markers_show_their_message(path: Path) -> None:
    strings = [*one_process()["string"], {"id": 5, "string": "MARKER_CORE_RANGE_API"}]
    strings.append({"id": 6, "string": "roctxThreadRangeA"})
    events = [*one_process()["event"]]
    events.append({"id": 5, "category_id": 5, "stack_id": 20, "extdata": '{"message": "pack_meta"}'})
    marker = {"pid": 1, "tid": 1, "start": 2, "end": 4, "name_id": 6, "event_id": 5, "extdata": "{}"}
    regions = [*one_process()["region"], marker]
    trace = load(write_tables(path, GUID, one_process(string=strings, event=events, region=regions)))
    ranges = only(trace, Kind.RANGE)
    assert ranges.name_of(0) == "pack_meta"


def test_samples_are_marks_without_length(path: Path) -> None:
    tables = one_process(
        track=[{"id": 1, "pid": 1, "tid": 1, "name_id": 2}],
        sample=[{"track_id": 1, "timestamp": 8, "event_id": 1, "extdata": '{"message": "here"}'}],
    )
    mark = only(load(write_tables(path, GUID, tables)), Kind.RANGE)
    assert (mark.name_of(0), mark.start_ns[0], mark.end_ns[0], mark.process[0]) == ("here", 8, 8, 4001)


def test_a_blit_kernel_takes_direction_and_size_from_the_arguments(path: Path) -> None:
    symbols = [{"id": 1, "kernel_name": None, "display_name": "__amd_rocclr_copyBuffer"}]
    [kernel] = one_process()["kernel_dispatch"]
    tables = one_process(info_kernel_symbol=symbols, kernel_dispatch=[{**kernel, "event_id": 4}])
    del tables["memory_copy"]
    copy = only(load(write_tables(path, GUID, tables)), Kind.MEMCPY)
    assert (copy.copy_kind[0], copy.bytes[0]) == (CopyKind.DEVICE_TO_HOST, 4096)


def test_rows_without_an_end_are_counted(path: Path) -> None:
    [kernel] = one_process()["kernel_dispatch"]
    rows = [kernel, {**kernel, "end": None}]
    trace = load(write_tables(path, GUID, one_process(kernel_dispatch=rows)))
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 1}


def test_the_environment_is_never_kept(path: Path) -> None:
    assert "secret" not in repr(load(write_tables(path, GUID, one_process())).source)


def test_nothing_is_written_beside_the_file(path: Path) -> None:
    before = write_tables(path, GUID, one_process()).read_bytes()
    path.chmod(0o444)
    load(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_rows_left_in_a_log_are_told(path: Path) -> None:
    write_tables(path, GUID, one_process())
    path.with_name(path.name + "-wal").write_bytes(b"x" * 100)
    assert load(path).source.faults == {Fault.TRUNCATED: 1}


def test_a_cut_database_is_an_error(path: Path) -> None:
    whole = write_tables(path, GUID, one_process()).read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])
    with pytest.raises(BrokenTrace, match="damaged SQLite"):
        load(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(st.data())
def test_random_damage_raises_nothing_else(path: Path, data: st.DataObject) -> None:
    path.unlink(missing_ok=True)
    raw = bytearray(write_tables(path, GUID, one_process()).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        trace = load(path)
    except OverlapLabError:
        return
    assert len(trace) >= 1


def test_a_host_capture_is_told_from_a_gpu(path: Path) -> None:
    agents = [{"id": 2, "type": "GPU", "absolute_index": 1, "product_name": "HIP host runtime (CPU)"}]
    tags = [{"id": 1, "tag": "capture.mode", "value": "async"}, {"id": 2, "tag": None, "value": None}]
    source = load(write_tables(path, GUID, one_process(info_agent=agents, metadata=tags))).source
    assert (source.vendor, source.devices) == ("host", {1: "HIP host runtime (CPU)"})
    assert source.metadata == {"mode": "async"}


def test_no_rows_are_an_error(path: Path) -> None:
    tables = {"info_process": one_process()["info_process"]}
    with pytest.raises(BrokenTrace, match="no trace events"):
        load(write_tables(path, GUID, tables))


@pytest.mark.parametrize("odd", [5, 2.5, b"HIP_\xff", None])
def test_a_category_that_is_no_text_is_read_as_what_the_name_says(path: Path, odd: object) -> None:
    strings = [
        {"id": 1, "string": odd},
        *({"id": n, "string": text} for n, text in ((2, "hipLaunchKernel"), (3, "hipMemcpyAsync"))),
    ]
    trace = load(write_tables(path, GUID, one_process(string=strings)))
    assert len(trace) == 4


def test_a_device_number_too_large_for_its_column_is_absent(path: Path) -> None:
    agents = [{"id": 2, "type": "GPU", "absolute_index": 70_000, "name": "gfx942"}]
    trace = load(write_tables(path, GUID, one_process(info_agent=agents)))
    assert set(only(trace, Kind.KERNEL).device.tolist()) == {ABSENT_DEVICE}


def test_a_stream_name_with_thousands_of_digits_is_no_number(path: Path) -> None:
    streams = [{"id": 1, "name": "Default Stream", "extdata": ""}, {"id": 2, "name": "Stream " + "7" * 5000}]
    streams[1]["extdata"] = ""
    trace = load(write_tables(path, GUID, one_process(info_stream=streams)))
    assert only(trace, Kind.KERNEL).stream.tolist() == [2]
