from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.errors import BrokenTrace, OverlapLabError
from overlap_lab.loaders import load
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, CopyKind, Fault, Kind
from overlap_lab.trace import Trace
from tests.unit.loaders.sdk_json import api, copy, document, kernel, one_process


def only(trace: Trace, kind: Kind) -> Trace:
    return trace.where(trace.kind == kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "4001_results.json"


def read(path: Path, *processes: dict[str, Any]) -> Trace:
    path.write_text(json.dumps(document(*processes)))
    return load(path)


def test_a_kernel_has_its_place_its_call_and_its_name(path: Path) -> None:
    found = only(read(path, one_process()), Kind.KERNEL)
    row = (found.process, found.thread, found.device, found.stream, found.queue, found.correlation)
    assert [int(column[0]) for column in row] == [4001, 4002, 4, 3, 16, 11]
    assert found.name_of(0) == "k(int)"


def test_the_device_is_the_absolute_number_of_the_agent(path: Path) -> None:
    trace = read(path, one_process())
    assert trace.source.devices == {4: "gfx942"}


def test_an_unlisted_agent_is_no_device(path: Path) -> None:
    rows = [kernel(10, 20, 11, agent=77)]
    found = only(read(path, one_process(kernel_dispatch=rows)), Kind.KERNEL)
    assert found.device.tolist() == [ABSENT_DEVICE]


def test_kernels_are_looked_up_by_id(path: Path) -> None:
    rows = [kernel(10, 20, 11, kernel_id=1)]
    found = only(read(path, one_process(kernel_dispatch=rows)), Kind.KERNEL)
    assert found.name_of(0) == "kernel 1"


def test_operations_are_named_by_the_files_own_strings(path: Path) -> None:
    calls = only(read(path, one_process()), Kind.API)
    assert [calls.name_of(row) for row in range(3)] == [
        "hipLaunchKernel",
        "hipMemcpyAsync",
        "hipStreamSynchronize",
    ]
    assert calls.api.tolist() == [Api.LAUNCH, Api.MEMCPY_ASYNC, Api.STREAM_SYNC]


def test_calls_without_names_are_an_error(path: Path) -> None:
    with pytest.raises(BrokenTrace, match="'strings' is missing"):
        read(path, {**one_process(), "strings": {}})


def test_a_copy_has_direction_bytes_and_the_gpus_side(path: Path) -> None:
    found = only(read(path, one_process()), Kind.MEMCPY)
    row = (found.copy_kind[0], found.bytes[0], found.device[0])
    assert row == (CopyKind.DEVICE_TO_HOST, 64, 4)


def test_the_agents_beat_a_direction_that_contradicts_them(path: Path) -> None:
    rows = [copy(20, 25, 12, src_agent_id={"handle": 900}, dst_agent_id={"handle": 902})]
    found = only(read(path, one_process(memory_copy=rows)), Kind.MEMCPY)
    assert (found.copy_kind[0], found.device[0]) == (CopyKind.HOST_TO_DEVICE, 4)


def test_a_call_on_a_stream_names_it(path: Path) -> None:
    assert only(read(path, one_process()), Kind.API).stream.tolist() == [ABSENT, ABSENT, 3]


def test_a_null_stream_beside_a_call_without_a_stream_says_nothing(path: Path) -> None:
    kinds = [{"kind": "NONE", "operations": []}, {"kind": "X", "operations": ["hipEventSynchronize"]}]
    process = one_process(hip_api=[api(0, 0, 5, 11, stream_id={"handle": 0})])
    process["strings"] = {
        **process["strings"],
        "buffer_records": [*kinds, *process["strings"]["buffer_records"][2:]],
    }
    assert only(read(path, process), Kind.API).stream.tolist() == [ABSENT]


def argument(kind: str, name: str, value: str) -> dict[str, str]:
    return {"type": kind, "name": name, "value": value}


def test_stream_pointers_are_learned_from_ops(path: Path) -> None:
    stream = argument("hipStream_t", "stream", "0x7f00")
    rows = [api(0, 0, 5, 11, args=[stream]), api(2, 10, 30, 13, args=[stream])]
    assert only(read(path, one_process(hip_api=rows)), Kind.API).stream.tolist() == [3, 3]


def test_arguments_say_the_direction_and_size_of_a_copy(path: Path) -> None:
    said = [argument("size_t", "sizeBytes", "4096"), argument("hipMemcpyKind", "kind", "DeviceToHost")]
    calls = only(read(path, one_process(hip_api=[api(1, 6, 9, 12, args=said)])), Kind.API)
    assert (calls.copy_kind[0], calls.bytes[0]) == (CopyKind.DEVICE_TO_HOST, 4096)


def test_arguments_may_be_one_object(path: Path) -> None:
    rows = [api(1, 6, 9, 12, args={"sizeBytes": 4096, "stream": "nullptr"})]
    calls = only(read(path, one_process(hip_api=rows)), Kind.API)
    assert (calls.stream[0], calls.bytes[0]) == (0, 4096)


def test_without_streams_of_ops_a_null_pointer_names_no_stream(path: Path) -> None:
    op = kernel(10, 20, 11)
    del op["stream_id"]
    rows = [api(0, 0, 5, 11, args={"stream": "0x0"})]
    trace = read(path, one_process(kernel_dispatch=[op], memory_copy=[], hip_api=rows))
    assert set(trace.stream.tolist()) == {ABSENT}
    assert trace.source.null_streams == frozenset()


def test_the_null_stream_is_number_0(path: Path) -> None:
    assert read(path, one_process()).source.null_streams == {0}


def test_without_stream_tracking_no_stream_is_told(path: Path) -> None:
    process = one_process()
    process["metadata"]["config"]["group_by_queue"] = True
    trace = read(path, process)
    assert set(trace.stream.tolist()) == {ABSENT}
    assert trace.source.null_streams == frozenset()


def test_markers_are_ranges_with_their_message(path: Path) -> None:
    rows = [api(1, 0, 9, 20, kind=4), api(0, 3, 3, 21, kind=4)]
    found = only(read(path, one_process(marker_api=rows)), Kind.RANGE)
    assert [found.name_of(0), found.name_of(1)] == ["pack_meta", "roctxMarkA"]


def test_calls_of_other_libraries_are_host_calls_that_never_wait(path: Path) -> None:
    found = only(read(path, one_process(rccl_api=[api(0, 40, 50, 30, kind=5)])), Kind.API)
    assert (found.name_of(3), found.api[3]) == ("ncclAllReduce", Api.OTHER)


def test_graph_ids_of_newer_releases_are_kept(path: Path) -> None:
    rows = [kernel(10, 20, 11, graph_exec_id=3), kernel(20, 30, 11, graph_exec_id={"handle": 0})]
    assert only(read(path, one_process(kernel_dispatch=rows)), Kind.KERNEL).graph.tolist() == [3, ABSENT]


def test_processes_of_one_file_are_parts(path: Path) -> None:
    trace = read(path, one_process(4001), one_process(4002))
    assert sorted(set(zip(trace.part.tolist(), trace.process.tolist(), strict=True))) == [
        (0, 4001),
        (1, 4002),
    ]
    assert trace.source.processes == {4001: "app -x", 4002: "app -x"}


def test_rows_may_be_in_any_order(path: Path) -> None:
    rows = [kernel(30, 40, 12), kernel(10, 20, 11)]
    assert only(read(path, one_process(kernel_dispatch=rows)), Kind.KERNEL).start_ns.tolist() == [10, 30]


@pytest.mark.parametrize("missing", ["agents", "kernel_symbols", "callback_records", "metadata"])
def test_a_release_without_a_key_is_read(path: Path, missing: str) -> None:
    process = one_process()
    del process[missing]
    trace = read(path, process)
    assert len(trace) == 5
    assert set(trace.process.tolist()) == {4001}


@pytest.mark.parametrize("missing", ["stream_id", "thread_id", "correlation_id", "dispatch_info"])
def test_a_record_without_a_key_is_read(path: Path, missing: str) -> None:
    row = kernel(10, 20, 11)
    del row[missing]
    assert len(read(path, one_process(kernel_dispatch=[row]))) == 5


def test_other_records_are_passed_over_with_a_note(path: Path) -> None:
    trace = read(path, one_process(scratch_memory=[{"size": 1}]))
    assert trace.source.notes == ("Passed over, as no host calls or device ops: 'scratch_memory'.",)


def test_rows_without_a_time_are_counted(path: Path) -> None:
    rows = [kernel(10, 20, 11), {"size": 1}, 7]
    assert read(path, one_process(kernel_dispatch=rows)).source.faults == {Fault.ROWS_SKIPPED: 2}


def test_no_events_are_an_error_that_says_what_there_is(path: Path) -> None:
    lists = {"kernel_dispatch": [], "hip_api": [], "memory_copy": [], "scratch_memory": [{}]}
    with pytest.raises(BrokenTrace, match="only 'scratch_memory'"):
        read(path, one_process(**lists))


def test_a_packed_file_is_read(path: Path) -> None:
    packed = path.with_name("4001_results.json.gz")
    packed.write_bytes(gzip.compress(json.dumps(document(one_process())).encode()))
    assert len(load(packed)) == 5


def damaged(path: Path, old: str, new: str) -> Trace:
    text = json.dumps(document(one_process(kernel_dispatch=[kernel(n, n + 5, n) for n in range(1, 60, 6)])))
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return load(path)


def test_a_file_cut_inside_a_record_keeps_those_before_it(path: Path) -> None:
    text = json.dumps(document(one_process(kernel_dispatch=[kernel(n, n + 5, n) for n in range(1, 60, 6)])))
    path.write_text(text[: text.index('"start_timestamp": 31')])
    trace = load(path)
    assert trace.start_ns.tolist() == [1, 7, 13, 19, 25]
    assert trace.source.faults[Fault.TRUNCATED] == 1


def test_a_file_cut_before_its_records_is_an_error_with_the_offset(path: Path) -> None:
    text = json.dumps(document(one_process()))
    path.write_text(text[: text.index('"callback_records"')])
    with pytest.raises(BrokenTrace, match=r"no trace events|offset \d+"):
        load(path)


def test_a_record_that_is_not_json_is_skipped_and_counted(path: Path) -> None:
    trace = damaged(path, '"start_timestamp": 7,', '"start_timestamp": x7,')
    assert len(only(trace, Kind.KERNEL)) == 9
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 1}


def test_nan_is_read_as_absent(path: Path) -> None:
    trace = damaged(path, '"size": 1, "kind": 2', '"size": NaN, "kind": 2')
    assert len(only(trace, Kind.KERNEL)) == 10


def test_a_trailing_comma_is_repaired_and_counted(path: Path) -> None:
    trace = damaged(path, '"hsa_api": []', '"hsa_api": [{"size": 1},]')
    assert len(only(trace, Kind.KERNEL)) == 10
    assert trace.source.faults[Fault.ROWS_REPAIRED] == 1


def test_a_key_that_cannot_be_read_costs_only_itself(path: Path) -> None:
    trace = damaged(path, '"command": ["app"', '"command": [app"')
    assert len(trace) == 14
    assert any("'metadata'" in note for note in trace.source.notes)


@pytest.mark.timeout(60)
def test_a_document_of_broken_values_is_refused_in_linear_time(path: Path) -> None:
    path.write_text('{"rocprofiler-sdk-tool": [{"pid": 1' + ', "metadata": {x' * 200_000)
    with pytest.raises(BrokenTrace, match="over 100 values"):
        load(path)


@pytest.mark.timeout(60)
def test_nesting_without_end_is_refused(path: Path) -> None:
    path.write_text('{"rocprofiler-sdk-tool": [{"agents": ' + "[" * 200_000)
    with pytest.raises(BrokenTrace, match="before the first whole record"):
        load(path)


def test_control_characters_in_text_are_kept(path: Path) -> None:
    assert only(damaged(path, "k(int)", "k\t(int)"), Kind.KERNEL).name_of(0) == "k\t(int)"


def test_bytes_that_are_not_utf8_are_replaced_and_counted(path: Path) -> None:
    path.write_bytes(json.dumps(document(one_process())).encode().replace(b"k(int)", b"k\xff"))
    trace = load(path)
    assert only(trace, Kind.KERNEL).name_of(0) == "k\ufffd"
    assert trace.source.faults == {Fault.ROWS_REPAIRED: 1}


def test_a_file_cut_anywhere_is_read_in_part_or_refused(path: Path) -> None:
    text = json.dumps(document(one_process()))
    for at in (*range(0, len(text), 5), len(text) - 1):
        path.write_text(text[:at])
        try:
            trace = load(path)
        except OverlapLabError:
            continue
        assert trace.source.faults.get(Fault.TRUNCATED), at


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.data())
def test_random_damage_raises_nothing_else(path: Path, data: st.DataObject) -> None:
    raw = bytearray(json.dumps(document(one_process())).encode())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        load(path)
    except OverlapLabError:
        return


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PLACES = (
    ("metadata",),
    ("agents",),
    ("strings",),
    ("strings", "buffer_records"),
    ("kernel_symbols",),
    ("buffer_records",),
    ("buffer_records", "hip_api"),
    ("buffer_records", "kernel_dispatch", 0),
    ("buffer_records", "kernel_dispatch", 0, "dispatch_info"),
    ("buffer_records", "memory_copy", 0, "src_agent_id"),
    ("buffer_records", "hip_api", 0, "kind"),
    ("buffer_records", "hip_api", 0, "args"),
    ("buffer_records", "hip_api", 0, "correlation_id"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_a_value_of_any_other_type_raises_nothing_else(
    path: Path, place: tuple[Any, ...], value: object
) -> None:
    process: Any = one_process()
    inner = process
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        read(path, process)
    except OverlapLabError:
        return


TIMES = st.integers(0, 1 << 60)
LENGTHS = st.integers(0, 1 << 53)
OPS = st.tuples(TIMES, LENGTHS, st.integers(0, 7), st.integers(0, 200), st.integers(1, (1 << 64) - 1))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(st.lists(OPS, min_size=1, max_size=20))
def test_a_written_trace_is_read_back(path: Path, ops: list[tuple[int, ...]]) -> None:
    process = one_process(
        kernel_dispatch=[
            kernel(start, start + length, link, agent=800 + device, stream_id={"handle": stream})
            for start, length, device, stream, link in ops
        ]
    )
    process["agents"] = [{"id": {"handle": 800 + n}, "type": 2, "node_id": n} for n in range(8)]
    found = only(read(path, process), Kind.KERNEL)
    names = ("start_ns", "end_ns", "device", "stream", "correlation")
    assert sorted(zip(*(getattr(found, name).tolist() for name in names), strict=True)) == sorted(
        (start, start + length, *rest) for start, length, *rest in ops
    )
