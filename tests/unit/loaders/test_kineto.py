from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Api, CopyKind, Kind, Memory
from overlap_lab.trace import Trace
from tests.unit.loaders.chrome import call, device_op, document, load_events, load_text


def only(trace: Trace, kind: Kind) -> Trace:
    return trace.where(trace.kind == kind)


def test_times_are_relative_to_the_base_to_one_nanosecond(tmp_path: Path) -> None:
    base = 1_751_410_836_000_000_000
    text = document([call("cudaLaunchKernel", 1)], baseTimeNanoseconds=base)
    text = text.replace('"ts": 1,', '"ts": 7516230579530.853,').replace('"5.000"', "21.701")
    trace = load_text(tmp_path, text)
    assert trace.start_ns.tolist() == [base + 7_516_230_579_530_853]
    assert (trace.end_ns - trace.start_ns).tolist() == [21_701]
    assert trace.source.clock == "epoch"


@pytest.mark.parametrize("unit", ["ms", "ns"])
def test_the_display_unit_changes_no_time(tmp_path: Path, unit: str) -> None:
    trace = load_events(tmp_path, call("cudaLaunchKernel", "10.5"), displayTimeUnit=unit)
    assert trace.start_ns.tolist() == [10_500]


def test_whole_thousands_under_unit_ns_get_a_warning_and_stay_microseconds(tmp_path: Path) -> None:
    trace = load_events(tmp_path, call("cudaLaunchKernel", 5_000_000_000, 5000), displayTimeUnit="ns")
    assert trace.start_ns.tolist() == [5_000_000_000_000]
    assert any("stored ns" in note for note in trace.source.notes)


def test_a_bare_event_list_is_a_trace(tmp_path: Path) -> None:
    trace = load_text(tmp_path, json.dumps([call("hipLaunchKernel", "1.0")]))
    assert trace.api.tolist() == [Api.LAUNCH]
    assert trace.source.vendor == "amd"


def test_driver_calls_are_host_calls_too(tmp_path: Path) -> None:
    trace = load_events(tmp_path, {**call("cuLaunchKernel", "1.0"), "cat": "cuda_driver"})
    assert trace.api.tolist() == [Api.LAUNCH]


def test_capital_categories_of_2021_are_read(tmp_path: Path) -> None:
    copy = "Memcpy HtoD (Pageable -> Device)"
    trace = load_events(
        tmp_path,
        {**call("cudaLaunchKernel", "0"), "cat": "Runtime"},
        {**device_op("Kernel", "k", "1"), "tid": "stream 7"},
        {**device_op("Memcpy", copy, "60", correlation=2), "tid": "stream 7"},
        {**device_op("Memset", "Memset (Device)", "120", correlation=3), "tid": "stream 7"},
        {**call("aten::add", "0"), "cat": "Operator"},
    )
    kinds = {Kind.API, Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET, Kind.CPU_OP}
    assert set(trace.kind.tolist()) == kinds


def test_device_rows_take_the_process_of_the_calls(tmp_path: Path) -> None:
    trace = load_events(tmp_path, call("cudaLaunchKernel", "0"), device_op("kernel", "k", "10"))
    assert only(trace, Kind.KERNEL).process.tolist() == [100]


def test_device_only_rows_have_no_process(tmp_path: Path) -> None:
    trace = load_events(tmp_path, device_op("kernel", "k", "10"))
    assert trace.process.tolist() == [ABSENT_PROCESS]


def test_merged_ranks_are_told_apart_by_correlation(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        call("hipLaunchKernel", "0", correlation=1),
        {**call("hipLaunchKernel", "0", correlation=2), "pid": 200},
        device_op("kernel", "a", "10", correlation=1, device=2),
        device_op("kernel", "b", "10", correlation=2, device=3),
        device_op("kernel", "c", "90", correlation=9, device=3),
    )
    kernels = only(trace, Kind.KERNEL)
    owners = {kernels.name_of(row): int(kernels.process[row]) for row in range(3)}
    assert owners == {"a": 100, "b": 200, "c": 200}


def test_ids_that_collide_between_ranks_go_with_the_device(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        *({**call("hipLaunchKernel", "0", correlation=n), "pid": 200} for n in (1, 5)),
        *(call("hipLaunchKernel", "0", correlation=n) for n in (1, 4)),
        *(device_op("kernel", "mine", "10", correlation=n, device=0) for n in (1, 4)),
        *(device_op("kernel", "theirs", "10", correlation=n, device=1) for n in (1, 5)),
    )
    kernels = only(trace, Kind.KERNEL)
    owners = {(kernels.name_of(row), int(kernels.process[row])) for row in range(4)}
    assert owners == {("mine", 100), ("theirs", 200)}


def test_merged_devices_with_one_number_are_kept_apart(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        call("hipLaunchKernel", "0"),
        {**call("hipLaunchKernel", "0", correlation=2), "pid": 200},
        device_op("kernel", "near", "10"),
        {**device_op("kernel", "far", "10", correlation=2), "pid": 100_000_000},
    )
    assert sorted(only(trace, Kind.KERNEL).device.tolist()) == [0, 1]


def test_stream_zero_is_real_and_minus_one_is_none(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        device_op("kernel", "a", "1", stream=0),
        device_op("kernel", "b", "100", stream=4_294_967_295),
        device_op("kernel", "c", "200", stream=-1),
    )
    assert trace.stream.tolist() == [0, ABSENT, ABSENT]


def test_stream_falls_back_to_the_thread_number(tmp_path: Path) -> None:
    op = device_op("kernel", "a", "1")
    del op["args"]["stream"], op["args"]["device"]
    trace = load_events(tmp_path, {**op, "pid": 3, "tid": 20})
    assert (trace.stream.tolist(), trace.device.tolist()) == ([20], [3])


def test_a_sync_row_names_what_was_waited_for(tmp_path: Path) -> None:
    waited = {"wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 77}
    event = device_op("cuda_sync", "Event Sync", "1", stream=-1, correlation=24, **waited)
    trace = load_events(tmp_path, call("cudaEventSynchronize", "0", correlation=24), event)
    sync = only(trace, Kind.SYNC)
    assert (sync.stream[0], sync.correlation[0], sync.wait_correlation[0]) == (20, 24, 77)
    assert not trace.is_device.any()


def test_a_record_id_of_minus_one_links_nothing(tmp_path: Path) -> None:
    event = device_op("cuda_sync", "Event Sync", "1", wait_on_cuda_event_record_corr_id=-1)
    assert load_events(tmp_path, event).wait_correlation.tolist() == [0]


def test_annotations_are_ranges_on_their_side(tmp_path: Path) -> None:
    host = {**call("ProfilerStep#3", "0"), "cat": "user_annotation"}
    device = {**device_op("gpu_user_annotation", "ProfilerStep#3", "1"), "args": {}}
    trace = load_events(tmp_path, host, device, device_op("kernel", "k", "2"))
    assert only(trace, Kind.RANGE).thread.tolist() == [101]
    assert only(trace, Kind.DEVICE_RANGE).device.tolist() == [0]


def test_frames_filed_under_process_zero_belong_to_the_only_process(tmp_path: Path) -> None:
    frame = {**call("threading.py(1): run", "0"), "cat": "python_function", "pid": 0, "tid": 0}
    trace = load_events(tmp_path, call("cudaFree", "1"), frame)
    assert only(trace, Kind.PYTHON).process.tolist() == [100]


@pytest.mark.parametrize(
    ("name", "kind", "memory"),
    [
        ("Memcpy HtoD (Pinned -> Device)", CopyKind.HOST_TO_DEVICE, Memory.PINNED),
        ("Memcpy DtoH (Device -> Pageable)", CopyKind.DEVICE_TO_HOST, Memory.PAGEABLE),
        ("Memcpy DtoD (Device -> Device)", CopyKind.DEVICE_TO_DEVICE, Memory.UNKNOWN),
        ("Memcpy HtoD (Host -> Device)", CopyKind.HOST_TO_DEVICE, Memory.UNKNOWN),
        ("Memcpy PtoP (Device -> Device)", CopyKind.PEER_TO_PEER, Memory.UNKNOWN),
    ],
)
def test_a_copy_name_says_direction_and_memory(
    tmp_path: Path, name: str, kind: CopyKind, memory: Memory
) -> None:
    trace = load_events(tmp_path, device_op("gpu_memcpy", name, "1", bytes=64))
    assert (trace.copy_kind[0], trace.memory[0], trace.bytes[0]) == (kind, memory, 64)


def test_the_call_knows_the_direction_better_than_a_device_to_device_row(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        call("hipMemcpyAsync", "0", kind="1", size="4096"),
        device_op("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "10"),
    )
    copy = only(trace, Kind.MEMCPY)
    assert (copy.copy_kind[0], copy.bytes[0]) == (CopyKind.HOST_TO_DEVICE, 4096)


def test_blit_kernels_of_copy_calls_are_copies(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        call("hipMemcpyWithStream", "0", kind="2", correlation=1),
        call("hipMemsetAsync", "20", correlation=2),
        call("hipLaunchKernel", "40", correlation=3),
        device_op("kernel", "__amd_rocclr_copyBufferAligned", "1", "5", correlation=1),
        device_op("kernel", "__amd_rocclr_fillBufferAligned", "25", "5", correlation=2),
        device_op("kernel", "__amd_rocclr_copyBuffer", "45", "5", correlation=3),
        device_op("kernel", "__amd_rocclr_copyBuffer", "55", "5", correlation=0),
    )
    ops = trace.where(trace.is_device)
    assert ops.kind.tolist() == [Kind.MEMCPY, Kind.MEMSET, Kind.KERNEL, Kind.KERNEL]
    assert ops.copy_kind[0] == CopyKind.DEVICE_TO_HOST
    assert trace.source.notes == (
        "1 copy kernel and 1 fill kernel of the HIP runtime count as copies and memsets.",
    )


def test_kernels_of_no_kind_are_not_told(tmp_path: Path) -> None:
    calls = [call("hipMemsetAsync", f"{at}0", correlation=at) for at in (1, 2)]
    fills = [device_op("kernel", "hip_host_fill_buffer", f"{at}5", "2", correlation=at) for at in (1, 2)]
    trace = load_events(tmp_path, *calls, *fills)
    assert trace.source.notes == ("2 fill kernels of the HIP runtime count as memsets.",)


def test_ids_beyond_32_bits_stay_whole(tmp_path: Path) -> None:
    trace = load_events(tmp_path, device_op("kernel", "k", "1", correlation=2**32 + 5))
    assert trace.correlation.tolist() == [2**32 + 5]


def test_flows_counters_and_marks_are_no_rows(tmp_path: Path) -> None:
    flow = {"ph": "s", "id": 1, "pid": 100, "tid": 101, "ts": 1, "cat": "ac2g", "name": "ac2g"}
    instant = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2}
    trace = load_events(tmp_path, call("cudaFree", "1"), flow, instant)
    assert len(trace) == 1
    assert not trace.source.faults


def test_begin_and_end_events_are_joined(tmp_path: Path) -> None:
    begin = {"ph": "B", "cat": "user_annotation", "name": "outer", "pid": 1, "tid": 2, "ts": "10"}
    ends = [{"ph": "E", "pid": 1, "tid": 2, "ts": ts} for ts in ("12", "20")]
    trace = load_events(tmp_path, begin, {**begin, "name": "inner", "ts": "11"}, *ends)
    joined = [(trace.name_of(row), int(trace.end_ns[row])) for row in range(2)]
    assert joined == [("outer", 20_000), ("inner", 12_000)]


def test_a_begin_without_an_end_is_counted(tmp_path: Path) -> None:
    begin = {"ph": "B", "cat": "user_annotation", "name": "outer", "pid": 1, "tid": 2, "ts": "10"}
    trace = load_events(tmp_path, begin, call("cudaFree", "1"))
    assert trace.source.faults == {"rows_skipped": 1}


def test_a_row_without_a_time_is_counted(tmp_path: Path) -> None:
    trace = load_events(tmp_path, call("cudaFree", "soon"), call("cudaFree", "1"))
    assert len(trace) == 1
    assert trace.source.faults == {"rows_skipped": 1}


def test_negative_and_absent_durations_are_kept_for_quality(tmp_path: Path) -> None:
    bare = call("cudaFree", "5")
    del bare["dur"]
    trace = load_events(tmp_path, call("cudaMalloc", "10", "-2"), bare)
    assert (trace.end_ns - trace.start_ns).tolist() == [0, -2000]


def test_ranks_and_versions_are_kept(tmp_path: Path) -> None:
    trace = load_events(
        tmp_path,
        device_op("kernel", "k", "1", device=0),
        distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": []},
        cupti_version=22,
        deviceProperties=[{"id": 0, "name": "H100"}],
    )
    assert trace.source.metadata["rank"] == "3"
    assert trace.source.devices == {0: "H100"}
    assert (trace.source.vendor, trace.source.tool) == ("nvidia", "Kineto cupti 22")


def test_roctracer_devices_are_not_looked_up_by_number(tmp_path: Path) -> None:
    properties = [{"id": 0, "name": "MI300X"}, {"id": 1, "name": "MI300X"}]
    op = device_op("kernel", "k", "1", device=2)
    trace = load_events(tmp_path, op, roctracer_version=4.1, deviceProperties=properties)
    assert trace.source.devices == {2: "MI300X"}


def test_gzip_of_several_members_is_one_file(tmp_path: Path) -> None:
    text = document([call("cudaFree", "1"), call("cudaFree", "2")]).encode()
    packed = gzip.compress(text[:40]) + gzip.compress(text[40:]) + b"\0\0"
    assert len(load_text(tmp_path, packed, "odd_name")) == 2


def test_no_events_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BrokenTrace, match="no trace events"):
        load_events(tmp_path)


def test_events_of_another_writer_are_refused(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "blink", "name": "paint", "ts": 1, "dur": 2, "pid": 1, "tid": 1}
    with pytest.raises(UnknownFormat, match="another writer"):
        load_events(tmp_path, event)


def test_a_file_of_many_unknown_categories_has_few_notes(tmp_path: Path) -> None:
    odd = [{**call("x", "1"), "cat": f"c{i}"} for i in range(100)]
    notes = load_events(tmp_path, call("cudaFree", "1"), *odd).source.notes
    assert len(notes) == 21
    assert notes[-1].startswith("80 events of 80 more categories")


def test_events_may_come_after_a_long_header(tmp_path: Path) -> None:
    text = json.dumps({"metadata": {"rpd": "x" * 100_000}, "traceEvents": [call("cudaFree", "1")]})
    assert len(load_text(tmp_path, text)) == 1


def test_a_device_number_that_does_not_fit_is_absent(tmp_path: Path) -> None:
    trace = load_events(tmp_path, device_op("kernel", "k", "1", device=100_000_003))
    assert trace.device.tolist() == [ABSENT_DEVICE]


@pytest.mark.parametrize("tid", ["7" * 5000, "a" + "7" * 5000 + "x1", "thread " + "7" * 5000])
def test_a_thread_label_with_thousands_of_digits_is_no_number(tmp_path: Path, tid: str) -> None:
    trace = load_events(tmp_path, {**call("cudaFree", "1.000"), "tid": tid})
    assert trace.thread.tolist() == [ABSENT]
