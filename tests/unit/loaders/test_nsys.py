from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.errors import BrokenTrace, OverlapLabError
from overlap_lab.loaders import load
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Api, CopyKind, Fault, Kind, Memory
from overlap_lab.trace import Trace
from tests.unit.loaders.nsys_file import (
    CUPTI,
    NONE,
    call,
    copy,
    event,
    global_id,
    kernel,
    one_process,
    sync,
    write_export,
)


def only(trace: Trace, kind: Kind) -> Trace:
    return trace.where(trace.kind == kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.sqlite"


ACTIVITIES = ("RUNTIME", "KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION", "CUDA_EVENT", "GRAPH_TRACE")


def written(path: Path, **tables: Any) -> Trace:
    """The trace of one process with some tables replaced; activities without their prefix."""
    full = {CUPTI + name if name in ACTIVITIES else name: rows for name, rows in tables.items()}
    return load(write_export(path, {**one_process(), **full}))


def test_process_and_thread_are_parts_of_the_global_id(path: Path) -> None:
    calls = only(written(path), Kind.API)
    assert (set(calls.process.tolist()), set(calls.thread.tolist())) == ({500}, {501})


@pytest.mark.parametrize("table", ["StringIds", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"])
def test_a_view_in_the_place_of_a_table_is_never_run(path: Path, table: str) -> None:
    write_export(path, one_process())
    connection = sqlite3.connect(path)
    connection.execute(f"ALTER TABLE {table} RENAME TO away")
    connection.execute(
        f"CREATE VIEW {table} AS WITH RECURSIVE more(id, value) AS "
        "(SELECT 1, 'x' UNION ALL SELECT id + 1, value FROM more) SELECT * FROM more"
    )
    connection.commit()
    connection.close()
    assert len(load(path)) > 0


def test_version_and_stream_suffixes_are_no_part_of_a_name(path: Path) -> None:
    calls = only(written(path), Kind.API)
    assert [calls.name_of(row) for row in range(3)] == [
        "cudaLaunchKernel",
        "cudaMemcpyAsync",
        "cudaStreamSynchronize",
    ]
    assert calls.api.tolist() == [Api.LAUNCH, Api.MEMCPY_ASYNC, Api.STREAM_SYNC]


def test_driver_calls_are_host_calls(path: Path) -> None:
    rows = [call("cuLaunchKernelEx", 0, 5, 11, eventClass=1)]
    assert only(written(path, RUNTIME=rows), Kind.API).api.tolist() == [Api.LAUNCH]


def test_a_kernel_has_its_place_and_its_call(path: Path) -> None:
    found = only(written(path), Kind.KERNEL)
    row = (found.process, found.device, found.stream, found.correlation, found.start_ns, found.end_ns)
    assert [int(column[0]) for column in row] == [500, 0, 7, 11, 8, 20]
    assert found.name_of(0) == "k(int)"


def test_a_kernel_without_a_demangled_name_shows_what_there_is(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11, demangledName=None), kernel("k", 21, 22, 12, demangledName=77)]
    found = only(written(path, KERNEL=rows), Kind.KERNEL)
    assert [found.name_of(0), found.name_of(1)] == ["k", "kernel 77"]


@pytest.mark.parametrize(
    ("kind", "source", "target", "expected"),
    [
        (1, 0, 2, ("Memcpy HtoD (Pageable -> Device)", CopyKind.HOST_TO_DEVICE, Memory.PAGEABLE)),
        (2, 2, 1, ("Memcpy DtoH (Device -> Pinned)", CopyKind.DEVICE_TO_HOST, Memory.PINNED)),
        (8, 2, 2, ("Memcpy DtoD (Device -> Device)", CopyKind.DEVICE_TO_DEVICE, Memory.UNKNOWN)),
        (9, 1, 0, ("Memcpy HtoH (Pinned -> Pageable)", CopyKind.HOST_TO_HOST, Memory.UNKNOWN)),
        (10, 2, 2, ("Memcpy PtoP (Device -> Device)", CopyKind.PEER_TO_PEER, Memory.UNKNOWN)),
        (11, 4, 2, ("Managed memory HtoD", CopyKind.HOST_TO_DEVICE, Memory.UNKNOWN)),
        (99, None, None, ("Memcpy", CopyKind.UNKNOWN, Memory.UNKNOWN)),
    ],
)
def test_a_copy_has_direction_and_host_memory(
    path: Path, kind: int, source: int, target: int, expected: tuple[str, CopyKind, Memory]
) -> None:
    rows = [copy(20, 25, 12, copyKind=kind, srcKind=source, dstKind=target)]
    found = only(written(path, MEMCPY=rows), Kind.MEMCPY)
    assert (found.name_of(0), found.copy_kind[0], found.memory[0], found.bytes[0]) == (*expected, 64)


def test_the_files_own_numbers_beat_the_known_ones(path: Path) -> None:
    trace = written(
        path,
        ENUM_CUDA_MEMCPY_OPER=[{"id": 1, "name": "CUDA_MEMCPY_KIND_DTOH", "label": ""}],
        ENUM_CUDA_MEM_KIND=[{"id": 2, "name": "CUDA_MEMOPR_MEMORY_KIND_PINNED", "label": ""}],
    )
    found = only(trace, Kind.MEMCPY)
    assert (found.copy_kind[0], found.memory[0]) == (CopyKind.DEVICE_TO_HOST, Memory.PINNED)


def test_a_memset_has_its_bytes(path: Path) -> None:
    rows = [{"start": 1, "end": 2, "globalPid": global_id(), "deviceId": 0, "streamId": 7, "bytes": 4}]
    assert only(written(path, MEMSET=rows), Kind.MEMSET).bytes.tolist() == [4]


def test_a_stream_synchronize_names_its_stream(path: Path) -> None:
    trace = written(path)
    assert only(trace, Kind.SYNC).stream.tolist() == [7]
    calls = only(trace, Kind.API)
    assert (calls.stream[2], calls.device[2]) == (7, 0)


def test_the_runtime_call_beats_a_sync_type_that_contradicts_it(path: Path) -> None:
    trace = written(path, SYNCHRONIZATION=[sync(11, 29, 13, 2)])
    found = only(trace, Kind.SYNC)
    assert (found.name_of(0), found.stream[0]) == ("Stream sync", 7)
    assert any("contradicts" in note for note in trace.source.notes)


def test_a_sync_record_without_its_call_is_what_the_file_says(path: Path) -> None:
    rows = [sync(11, 29, 99, 3), sync(30, 31, 98, 4), sync(32, 33, 97, 0)]
    found = only(written(path, SYNCHRONIZATION=rows), Kind.SYNC)
    assert [found.name_of(row) for row in range(3)] == ["Stream sync", "Context sync", "Sync"]
    assert found.stream.tolist() == [7, ABSENT, ABSENT]


EVENT_CALLS = [
    call("cudaEventRecord_v3020", 0, 1, 21),
    call("cudaEventRecord_v3020", 2, 3, 22),
    call("cudaEventSynchronize_v3020", 4, 9, 23),
]


def test_an_event_synchronize_waits_for_the_record_of_its_event(path: Path) -> None:
    events = [event(21, 5, 31, streamId=8), event(22, 5, 32, streamId=9)]
    rows = [sync(4, 9, 23, 1, streamId=NONE, eventId=5, eventSyncId=31)]
    found = only(written(path, RUNTIME=EVENT_CALLS, CUDA_EVENT=events, SYNCHRONIZATION=rows), Kind.SYNC)
    assert (found.stream[0], found.wait_correlation[0]) == (8, 21)


def test_without_a_pairing_id_the_latest_record_of_the_event_counts(path: Path) -> None:
    events = [event(21, 5, 0, streamId=8), event(22, 5, 0, streamId=9), event(24, 5, 0, streamId=10)]
    rows = [{**sync(4, 9, 23, 1, streamId=NONE, eventId=5)}]
    del rows[0]["eventSyncId"]
    found = only(written(path, RUNTIME=EVENT_CALLS, CUDA_EVENT=events, SYNCHRONIZATION=rows), Kind.SYNC)
    assert (found.stream[0], found.wait_correlation[0]) == (9, 22)


def test_an_event_that_nothing_recorded_names_no_stream(path: Path) -> None:
    rows = [sync(4, 9, 23, 1, eventId=5, eventSyncId=31)]
    found = only(written(path, RUNTIME=EVENT_CALLS, SYNCHRONIZATION=rows), Kind.SYNC)
    assert (found.stream[0], found.device[0], found.wait_correlation[0]) == (ABSENT, 0, 0)


def test_a_stream_that_waits_for_an_event_waits_for_the_stream_of_its_record(path: Path) -> None:
    calls = [call("cudaEventRecord_v3020", 0, 1, 21), call("cudaStreamWaitEvent_v3020", 4, 5, 23)]
    rows = [sync(4, 5, 23, 2, streamId=7, eventId=5, eventSyncId=31)]
    trace = written(path, RUNTIME=calls, CUDA_EVENT=[event(21, 5, 31, streamId=8)], SYNCHRONIZATION=rows)
    assert only(trace, Kind.SYNC).stream.tolist() == [8]
    assert only(trace, Kind.API).stream.tolist() == [8, 7]


def test_the_context_and_not_the_record_says_the_device(path: Path) -> None:
    ops = [kernel("k", 8, 20, 11, deviceId=3, contextId=2)]
    rows = [sync(11, 29, 13, 3, deviceId=0, contextId=2)]
    trace = written(path, KERNEL=ops, SYNCHRONIZATION=rows, MEMCPY=[])
    assert only(trace, Kind.SYNC).device.tolist() == [3]


def test_two_processes_keep_their_ids_apart(path: Path) -> None:
    other = {"globalTid": global_id(600, 601)}
    calls = [*one_process()[CUPTI + "RUNTIME"], call("cudaStreamSynchronize_v3020", 10, 30, 13, **other)]
    rows = [sync(11, 29, 13, 3), sync(11, 29, 13, 3, globalPid=global_id(600), streamId=15)]
    calls = only(written(path, RUNTIME=calls, SYNCHRONIZATION=rows), Kind.API)
    waits = calls.where(calls.api == Api.STREAM_SYNC)
    assert sorted(zip(waits.process.tolist(), waits.stream.tolist(), strict=True)) == [(500, 7), (600, 15)]


def test_machines_are_parts(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11), kernel("k", 8, 20, 11, globalPid=global_id(machine=2))]
    assert sorted(only(written(path, KERNEL=rows), Kind.KERNEL).part.tolist()) == [0, 1]


def test_ops_without_a_process_get_the_one_that_has_their_call(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11, globalPid=None)]
    assert only(written(path, KERNEL=rows), Kind.KERNEL).process.tolist() == [500]


def test_devices_have_names(path: Path) -> None:
    gpus = [{"id": 4, "name": "H100"}, {"id": 5, "name": "A2"}]
    seen = [{"gpuId": 4, "cudaId": 0, "pid": 500}]
    assert written(path, TARGET_INFO_GPU=gpus, TARGET_INFO_CUDA_DEVICE=seen).source.devices == {0: "H100"}


def test_devices_have_names_in_schemas_of_2021(path: Path) -> None:
    gpus = [{"deviceId": 0, "name": "V100"}]
    assert written(path, TARGET_INFO_CUDA_GPU=gpus).source.devices == {0: "V100"}


def test_processes_that_see_different_gpus_as_device_0_have_two_devices(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11), kernel("k", 8, 20, 11, globalPid=global_id(600))]
    seen = [{"gpuId": 4, "cudaId": 0, "pid": 500}, {"gpuId": 5, "cudaId": 0, "pid": 600}]
    trace = written(path, KERNEL=rows, TARGET_INFO_CUDA_DEVICE=seen)
    assert sorted(only(trace, Kind.KERNEL).device.tolist()) == [4, 5]


def stream(number: int, flag: int, pid: int = 500) -> dict[str, int]:
    return {"streamId": number, "processId": pid, "contextId": 1, "flag": flag}


def test_null_and_nonblocking_streams_are_told(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11, streamId=number) for number in (7, 8, 9)]
    trace = written(path, KERNEL=rows, TARGET_INFO_CUDA_STREAM=[stream(7, 3), stream(8, 2), stream(9, 1)])
    assert (trace.source.null_streams, trace.source.nonblocking_streams) == ({7}, {8})


def test_a_context_may_name_the_null_stream(path: Path) -> None:
    rows = [{"nullStreamId": 7, "processId": 500, "deviceId": 0, "contextId": 1}]
    assert written(path, TARGET_INFO_CUDA_CONTEXT_INFO=rows).source.null_streams == {7}


def test_a_file_that_names_no_null_stream_has_none(path: Path) -> None:
    assert written(path).source.null_streams == frozenset()


def test_a_stream_that_is_null_in_one_process_only_counts_as_neither(path: Path) -> None:
    rows = [kernel("k", 8, 20, 11), kernel("k", 8, 20, 11, globalPid=global_id(600))]
    trace = written(path, KERNEL=rows, TARGET_INFO_CUDA_STREAM=[stream(7, 3), stream(7, 2, pid=600)])
    assert (trace.source.null_streams, trace.source.nonblocking_streams) == (frozenset(), frozenset())
    assert "no null streams" in "".join(trace.source.notes)


def graph(start: int, end: int, link: int) -> dict[str, Any]:
    row = {**kernel("", start, end, link), "graphId": 3}
    return {name: value for name, value in row.items() if not name.endswith("Name")}


def test_a_graph_recorded_as_a_whole_is_one_op(path: Path) -> None:
    trace = written(path, GRAPH_TRACE=[graph(30, 40, 14)], KERNEL=[], MEMCPY=[])
    found = only(trace, Kind.KERNEL)
    assert (found.name_of(0), found.graph.tolist(), found.correlation.tolist()) == ("CUDA graph 3", [3], [14])


def test_a_graph_whose_nodes_are_recorded_is_not_counted_twice(path: Path) -> None:
    rows = [graph(8, 40, 11), graph(50, 60, 15)]
    trace = load(write_export(path, {**one_process(), CUPTI + "GRAPH_TRACE": rows}))
    assert only(trace, Kind.KERNEL).correlation.tolist() == [11, 15]


def test_a_kernel_of_a_graph_has_the_graphs_id(path: Path) -> None:
    rows = [
        kernel("k", 8, 9, 11, graphId=3, graphNodeId=1),
        kernel("k", 9, 10, 11, graphId=None, graphNodeId=5 << 32 | 1),
        kernel("k", 10, 11, 11, graphId=0, graphNodeId=None),
    ]
    assert only(written(path, KERNEL=rows), Kind.KERNEL).graph.tolist() == [3, 5, ABSENT]


def nvtx(kind: int, start: int, end: int | None, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "eventType": kind, "globalTid": global_id(tid=501), **more}


def test_ranges_have_their_text_or_the_text_of_its_id(path: Path) -> None:
    rows = [nvtx(59, 0, 9, text="step"), nvtx(60, 1, 5, textId="pack"), nvtx(34, 3, None, text="mark")]
    found = only(written(path, NVTX_EVENTS=rows), Kind.RANGE)
    assert [found.name_of(row) for row in range(3)] == ["step", "pack", "mark"]
    assert found.end_ns.tolist() == [9, 5, 3]


def test_the_ops_of_emit_nvtx_are_framework_ops(path: Path) -> None:
    rows = [nvtx(59, 0, 9, text="aten::add, seq = 12, op_id = 9"), nvtx(59, 0, 9, text="a, b = c")]
    trace = written(path, NVTX_EVENTS=rows)
    assert only(trace, Kind.CPU_OP).name_of(0) == "aten::add"
    assert only(trace, Kind.RANGE).name_of(0) == "a, b = c"


@pytest.mark.parametrize("end", [None, 0])
def test_a_range_that_never_ends_is_closed_and_counted(path: Path, end: int | None) -> None:
    trace = written(path, NVTX_EVENTS=[nvtx(59, 4, end, text="open")])
    assert only(trace, Kind.RANGE).end_ns.tolist() == [30]
    assert trace.source.faults == {Fault.ROWS_REPAIRED: 1}


def test_other_nvtx_events_are_no_ranges(path: Path) -> None:
    assert not len(only(written(path, NVTX_EVENTS=[nvtx(75, 0, None, text="domain")]), Kind.RANGE))


def test_the_tools_own_work_is_overhead(path: Path) -> None:
    rows = [{"start": 1, "end": 2, "globalTid": global_id(tid=501), "nameId": "flush"}]
    assert only(written(path, PROFILER_OVERHEAD=rows), Kind.OVERHEAD).name_of(0) == "flush"


def test_none_in_an_id_is_absent(path: Path) -> None:
    rows = [kernel("k", 8, 20, NONE, streamId=NONE, deviceId=(1 << 31) - 1)]
    found = only(written(path, KERNEL=rows, MEMCPY=[]), Kind.KERNEL)
    assert (found.correlation[0], found.stream[0], found.device[0]) == (0, ABSENT, ABSENT_DEVICE)


def test_rows_without_a_time_are_counted(path: Path) -> None:
    rows = [*one_process()[CUPTI + "RUNTIME"], call("cudaFree_v3020", 7, None, 14)]
    trace = written(path, RUNTIME=rows, KERNEL=[kernel("k", 0, 0, 11)])
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 2}


def test_what_the_tool_lost_is_told(path: Path) -> None:
    rows = [{"text": "Not all CUDA events might have been collected."}, {"text": "Profiling has started."}]
    source = written(path, DIAGNOSTIC_EVENT=rows).source
    assert source.faults == {Fault.TRUNCATED: 1}
    assert source.notes == ("Nsight Systems says: Not all CUDA events might have been collected.",)


def test_the_source_says_what_wrote_the_file_and_when(path: Path) -> None:
    export = [{"name": "EXPORT_PRODUCT_VERSION", "value": "2026.2"}]
    export.append({"name": "EXPORT_SCHEMA_VERSION", "value": "3.25.0"})
    started = [{"utcEpochNs": 1_700_000_000_000_000_000}]
    source = written(path, META_DATA_EXPORT=export, TARGET_INFO_SESSION_START_TIME=started).source
    assert (source.tool, source.clock, source.vendor) == ("Nsight Systems 2026.2", "nsys-session", "nvidia")
    assert source.metadata == {
        "export_schema_version": "3.25.0",
        "session_start_utc_ns": "1700000000000000000",
    }


@pytest.mark.parametrize("missing", ["RUNTIME", "KERNEL", "MEMCPY", "SYNCHRONIZATION"])
def test_an_export_without_a_table_is_read(path: Path, missing: str) -> None:
    tables = dict(one_process())
    del tables[CUPTI + missing]
    assert len(load(write_export(path, tables))) >= 3


@pytest.mark.parametrize("missing", ["streamId", "contextId", "correlationId", "globalPid", "eventSyncId"])
def test_an_export_without_a_column_is_read(path: Path, missing: str) -> None:
    tables = {
        table: [{name: value for name, value in row.items() if name != missing} for row in rows]
        for table, rows in one_process().items()
    }
    assert len(load(write_export(path, tables))) == 6


def test_nothing_is_written_beside_the_file(path: Path) -> None:
    before = write_export(path, one_process()).read_bytes()
    path.chmod(0o444)
    load(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_rows_left_in_a_log_are_told(path: Path) -> None:
    write_export(path, one_process())
    path.with_name(path.name + "-wal").write_bytes(b"x" * 100)
    assert load(path).source.faults == {Fault.TRUNCATED: 1}


def test_an_export_without_rows_is_an_error(path: Path) -> None:
    with pytest.raises(BrokenTrace, match="--trace=cuda,nvtx"):
        load(write_export(path, {CUPTI + "KERNEL": []}))


def test_a_cut_export_is_an_error(path: Path) -> None:
    whole = write_export(path, one_process()).read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])
    with pytest.raises(BrokenTrace, match="damaged SQLite"):
        load(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(st.data())
def test_random_damage_raises_nothing_else(path: Path, data: st.DataObject) -> None:
    path.unlink(missing_ok=True)
    raw = bytearray(write_export(path, one_process()).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        load(path)
    except OverlapLabError:
        return


TIMES = st.integers(0, 1 << 40)
PIDS = st.sampled_from([500, 600])
OPS = st.tuples(TIMES, TIMES, PIDS, st.integers(0, 7), st.integers(0, 200), st.integers(1, 1 << 31))
CALLS = st.tuples(TIMES, TIMES, PIDS, st.integers(1, 900), st.integers(1, 1 << 31))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(st.lists(OPS, max_size=20), st.lists(CALLS, min_size=1, max_size=20))
def test_a_written_trace_is_read_back(
    path: Path, ops: list[tuple[int, ...]], calls: list[tuple[int, ...]]
) -> None:
    path.unlink(missing_ok=True)
    kernels = [
        kernel("k", 1 + start, 1 + start + length, link, globalPid=global_id(pid), deviceId=d, streamId=s)
        for start, length, pid, d, s, link in ops
    ]
    made = [
        call("cudaLaunchKernel_v7000", start, start + length, link, globalTid=global_id(pid, tid))
        for start, length, pid, tid, link in calls
    ]
    trace = load(write_export(path, {CUPTI + "RUNTIME": made, CUPTI + "KERNEL": kernels}))
    found = only(trace, Kind.KERNEL)
    names = ("start_ns", "end_ns", "process", "device", "stream", "correlation")
    assert sorted(zip(*(getattr(found, name).tolist() for name in names), strict=True)) == sorted(
        (1 + start, 1 + start + length, *rest) for start, length, *rest in ops
    )
    found = only(trace, Kind.API)
    names = ("start_ns", "end_ns", "process", "thread", "correlation")
    assert sorted(zip(*(getattr(found, name).tolist() for name in names), strict=True)) == sorted(
        (start, start + length, *rest) for start, length, *rest in calls
    )
    assert ABSENT_PROCESS not in trace.process
