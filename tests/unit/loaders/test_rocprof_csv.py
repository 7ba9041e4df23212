from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.errors import BrokenTrace, OverlapLabError, UnknownFormat
from overlap_lab.loaders import load
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, LATEST_NS, Api, CopyKind, Fault, Kind
from overlap_lab.trace import Trace

API = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
KERNEL_62 = "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"
KERNEL_70 = (
    "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
    "Start_Timestamp,End_Timestamp,LDS_Block_Size"
)
COPY_62 = "Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
COPY_70 = COPY_62.replace("Direction,", "Direction,Stream_Id,")
AGENTS = "Node_Id,Logical_Node_Id,Agent_Type,Name,Product_Name"


def write(folder: Path, name: str, header: str, *rows: str) -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows, ""]))
    return path


def only(trace: Trace, kind: Kind) -> Trace:
    return trace.where(trace.kind == kind)


def test_columns_are_found_by_name_in_any_case_and_order(tmp_path: Path) -> None:
    header = "END_TIMESTAMP,function,Start_timestamp,Domain,Correlation_Id,Thread_Id,Process_Id"
    path = write(tmp_path, "run_hip_api_trace.csv", header, "20,hipMemcpy,10,HIP_RUNTIME_API_EXT,3,5,4")
    trace = load(path)
    row = (trace.start_ns, trace.end_ns, trace.api, trace.correlation, trace.thread, trace.process)
    assert [int(column[0]) for column in row] == [10, 20, Api.MEMCPY, 3, 5, 4]


def test_any_file_stands_for_its_set(tmp_path: Path) -> None:
    calls = write(tmp_path, "run_hip_api_trace.csv", API, "HIP_RUNTIME_API,hipLaunchKernel,7,8,1,0,5")
    kernels = write(tmp_path, "run_kernel_trace.csv", KERNEL_62, "KERNEL_DISPATCH,1,2,3,k,1,10,20")
    write(tmp_path, "other_kernel_trace.csv", KERNEL_62, "KERNEL_DISPATCH,1,2,3,k,1,10,20")
    for path in (calls, kernels):
        trace = load(path)
        assert len(trace) == 2
        assert trace.source.files == (str(calls), str(kernels))


def test_files_without_a_prefix_are_a_set(tmp_path: Path) -> None:
    write(tmp_path, "hip_api_trace.csv", API, "HIP_RUNTIME_API,hipLaunchKernel,7,8,1,0,5")
    write(tmp_path, "kernel_trace.csv", KERNEL_62, "KERNEL_DISPATCH,1,2,3,k,1,10,20")
    assert len(load(tmp_path)) == 2


def test_a_release_without_streams_has_none(tmp_path: Path) -> None:
    trace = load(write(tmp_path, "r_kernel_trace.csv", KERNEL_62, "KERNEL_DISPATCH,1,2,3,k,1,10,20"))
    assert (trace.stream[0], trace.queue[0], trace.thread[0]) == (ABSENT, 2, ABSENT)
    assert not trace.source.null_streams


def test_stream_zero_is_the_null_stream_where_streams_are_recorded(tmp_path: Path) -> None:
    row = 'KERNEL_DISPATCH,"Agent 4",2,0,5,1,3,"f<int, 4>(""x"")",1,10,20,0'
    trace = load(write(tmp_path, "r_kernel_trace.csv", KERNEL_70, row))
    assert (trace.stream[0], trace.device[0], trace.thread[0]) == (0, 4, 5)
    assert trace.names == ('f<int, 4>("x")',)
    assert trace.source.null_streams == {0}


@pytest.mark.parametrize(("text", "number"), [("4", 4), ("Agent 4", 4), ("GPU 0", 0)])
def test_agents_are_numbers_in_any_spelling(tmp_path: Path, text: str, number: int) -> None:
    row = f'KERNEL_DISPATCH,"{text}",2,3,k,1,10,20'
    assert load(write(tmp_path, "r_kernel_trace.csv", KERNEL_62, row)).device.tolist() == [number]


def test_kernels_take_the_process_of_their_thread_or_call(tmp_path: Path) -> None:
    write(
        tmp_path,
        "r_hip_api_trace.csv",
        API,
        "HIP_RUNTIME_API,hipLaunchKernel,7,70,1,0,5",
        "HIP_RUNTIME_API,hipLaunchKernel,9,90,1,0,5",
    )
    rows = [f'KERNEL_DISPATCH,"Agent 4",2,1,{tid},1,3,k{tid},1,10,20,0' for tid in (70, 90)]
    kernels = only(load(write(tmp_path, "r_kernel_trace.csv", KERNEL_70, *rows)), Kind.KERNEL)
    owners = {kernels.name_of(row): int(kernels.process[row]) for row in range(2)}
    assert owners == {"k70": 7, "k90": 9}


@pytest.mark.parametrize(
    ("calls", "processes"),
    [
        (["HIP_RUNTIME_API,hipLaunchKernel,7,70,1,0,5"], [7, 7]),
        (["HIP_RUNTIME_API,hipLaunchKernel,7,70,1,0,5", "HIP_RUNTIME_API,hipFree,7,71,2,0,5"], [7, 7]),
        (["HIP_RUNTIME_API,hipLaunchKernel,7,70,1,0,5", "HIP_RUNTIME_API,hipFree,9,90,2,0,5"], [7, 7]),
        (["HIP_RUNTIME_API,hipLaunchKernel,7,70,3,0,5", "HIP_RUNTIME_API,hipFree,9,71,1,0,5"], [9, 7]),
        (["HIP_RUNTIME_API,hipLaunchKernel,7,70,1,0,5", "MARKER_CORE_API,step,9,70,2,0,5"], [7, 7]),
        (["MARKER_CORE_API,step,7,70,2,0,5"], [ABSENT_PROCESS, 7]),
    ],
)
def test_kernels_of_other_threads_take_the_process_of_all_calls_or_of_their_own(
    tmp_path: Path, calls: list[str], processes: list[int]
) -> None:
    write(tmp_path, "r_hip_api_trace.csv", API, *calls)
    rows = [f'KERNEL_DISPATCH,"Agent 4",2,1,{tid},1,3,k{tid},1,10,20,0' for tid in (60, 70)]
    kernels = only(load(write(tmp_path, "r_kernel_trace.csv", KERNEL_70, *rows)), Kind.KERNEL)
    found = {kernels.name_of(row): int(kernels.process[row]) for row in range(2)}
    assert [found["k60"], found["k70"]] == processes


def test_one_process_in_every_row_takes_no_memory(tmp_path: Path) -> None:
    header = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
    rows = [f"HIP_RUNTIME_API,hipLaunchKernel,7,9,{n},{10 * n},{10 * n + 5}" for n in range(1, 5)]
    write(tmp_path, "7_hip_api_trace.csv", header, *rows)
    kernels = "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"
    made = [f"KERNEL_DISPATCH,2,1,1,gemm,{n},{10 * n + 6},{10 * n + 8}" for n in range(1, 5)]
    write(tmp_path, "7_kernel_trace.csv", kernels, *made)
    trace = load(tmp_path)
    assert trace.process.tolist() == [7] * 8
    assert trace.process.strides == (0,)


def test_without_calls_the_file_name_gives_the_process(tmp_path: Path) -> None:
    row = "KERNEL_DISPATCH,1,2,3,k,1,10,20"
    assert load(write(tmp_path, "4711_kernel_trace.csv", KERNEL_62, row)).process.tolist() == [4711]
    assert load(write(tmp_path, "run_kernel_trace.csv", KERNEL_62, row)).process.tolist() == [ABSENT_PROCESS]


def test_a_copy_is_on_the_gpu_side_of_it(tmp_path: Path) -> None:
    copies = [
        'MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,1,"Agent 0","Agent 4",1,10,20',
        'MEMORY_COPY,MEMORY_COPY_DEVICE_TO_HOST,1,"Agent 4","Agent 0",2,30,40',
    ]
    trace = load(write(tmp_path, "r_memory_copy_trace.csv", COPY_70, *copies))
    assert trace.device.tolist() == [4, 4]
    assert trace.copy_kind.tolist() == [CopyKind.HOST_TO_DEVICE, CopyKind.DEVICE_TO_HOST]


def test_the_agents_correct_a_wrong_direction(tmp_path: Path) -> None:
    write(tmp_path, "r_agent_info.csv", AGENTS, "0,0,CPU,cpu,Xeon", "4,1,GPU,gfx942,MI300X")
    row = 'MEMORY_COPY,MEMORY_COPY_DEVICE_TO_HOST,1,"Agent 0","Agent 4",1,10,20'
    trace = load(write(tmp_path, "r_memory_copy_trace.csv", COPY_70, row))
    assert (trace.copy_kind[0], trace.device[0]) == (CopyKind.HOST_TO_DEVICE, 4)
    assert trace.source.devices == {4: "MI300X"}


def test_a_copy_between_gpus_is_peer_to_peer(tmp_path: Path) -> None:
    write(tmp_path, "r_agent_info.csv", AGENTS, "1,0,GPU,a,A", "2,1,GPU,b,B")
    row = "MEMORY_COPY,MEMORY_COPY_DEVICE_TO_DEVICE,1,2,1,10,20"
    trace = load(write(tmp_path, "r_memory_copy_trace.csv", COPY_62, row))
    assert trace.copy_kind.tolist() == [CopyKind.PEER_TO_PEER]


def test_correlation_zero_links_nothing(tmp_path: Path) -> None:
    row = "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,0,1,0,10,20"
    assert load(write(tmp_path, "r_memory_copy_trace.csv", COPY_62, row)).correlation.tolist() == [0]


def test_markers_are_ranges_and_a_mark_has_no_length(tmp_path: Path) -> None:
    rows = ("MARKER_CORE_API,before,7,8,1,5,5", "MARKER_CORE_RANGE_API,step,7,8,2,6,9")
    trace = load(write(tmp_path, "r_marker_api_trace.csv", API, *rows))
    assert trace.kind.tolist() == [Kind.RANGE, Kind.RANGE]
    assert (trace.end_ns - trace.start_ns).tolist() == [0, 3]


def test_hsa_and_rccl_calls_neither_enqueue_nor_wait(tmp_path: Path) -> None:
    rows = ("HSA_CORE_API,hsa_signal_wait_relaxed,7,8,1,5,9", "RCCL_API,ncclAllReduce,7,8,2,6,9")
    trace = load(write(tmp_path, "r_hsa_api_trace.csv", API, *rows))
    assert trace.kind.tolist() == [Kind.API, Kind.API]
    assert trace.api.tolist() == [Api.OTHER, Api.OTHER]


def test_each_guid_of_a_converted_database_is_a_part(tmp_path: Path) -> None:
    rows = ("aa,HIP_RUNTIME_API_EXT,hipFree,7,8,1,5,9", "bb,HIP_RUNTIME_API_EXT,hipFree,9,8,1,6,9")
    trace = load(write(tmp_path, "out_regions_trace.csv", "Guid," + API, *rows))
    assert trace.part.tolist() == [0, 1]


def test_blit_kernels_of_copy_calls_are_copies(tmp_path: Path) -> None:
    write(tmp_path, "r_hip_api_trace.csv", API, "HIP_RUNTIME_API,hipMemcpyDtoH,7,8,1,0,90")
    row = "KERNEL_DISPATCH,1,2,3,__amd_rocclr_copyBuffer,1,10,20"
    trace = load(write(tmp_path, "r_kernel_trace.csv", KERNEL_62, row))
    copy = only(trace, Kind.MEMCPY)
    assert copy.copy_kind.tolist() == [CopyKind.DEVICE_TO_HOST]


def test_statistics_counters_and_allocations_are_passed_over_with_a_note(tmp_path: Path) -> None:
    write(tmp_path, "r_kernel_stats.csv", "Name,Calls,TotalDurationNs,Percentage", "k,1,2,100")
    write(tmp_path, "r_counter_collection.csv", "Kernel_Name,Counter_Name,Counter_Value", "k,WAVES,1")
    write(
        tmp_path, "r_memory_allocation_trace.csv", "Kind,Operation,Start_Timestamp,End_Timestamp", "a,b,1,2"
    )
    write(tmp_path, "r_kernel_trace.csv", KERNEL_62, "KERNEL_DISPATCH,1,2,3,k,1,10,20")
    trace = load(tmp_path)
    assert len(trace) == 1
    assert sum("passed over" in note for note in trace.source.notes) == 3


def test_counters_alone_are_no_trace(tmp_path: Path) -> None:
    header = "Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"
    with pytest.raises(BrokenTrace, match="hardware counters only"):
        load(write(tmp_path, "r_counter_collection.csv", header, "k,WAVES,1,2,3"))


def test_headers_without_rows_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BrokenTrace, match="no trace events"):
        load(write(tmp_path, "r_kernel_trace.csv", KERNEL_62))


def test_a_csv_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat):
        load(write(tmp_path, "r_kernel_trace.csv", "a,b", "1,2"))


def test_rows_of_the_wrong_length_or_without_times_are_counted(tmp_path: Path) -> None:
    rows = ("HIP,hipFree,7,8,1,5,9", "HIP,hipFree,7,8", "HIP,hipFree,7,8,2,soon,9", "HIP,hipFree,7,8,3,5,9")
    trace = load(write(tmp_path, "r_hip_api_trace.csv", API, *rows))
    assert len(trace) == 2
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 2}


def test_a_control_character_in_a_number_skips_the_row(tmp_path: Path) -> None:
    rows = ("HIP,hipFree,7,8,1,5,9", "HIP,hipFree,7,8,1,\x1e5,9")
    trace = load(write(tmp_path, "r_hip_api_trace.csv", API, *rows))
    assert (len(trace), trace.source.faults) == (1, {Fault.ROWS_SKIPPED: 1})


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "r_hip_api_trace.csv"
    path.write_bytes(f"\ufeff{API}\r\nHIP,hipFree,7,8,1,5,9\r\n".encode())
    trace = load(path)
    assert (len(trace), trace.source.faults) == (1, {})


@pytest.mark.parametrize("kept", [b"HIP,hipFree,7,8,2,50,9", b"HIP,hipFree,7,8", b"HIP,hip"])
def test_a_line_that_is_cut_off_is_a_truncation(tmp_path: Path, kept: bytes) -> None:
    path = tmp_path / "r_hip_api_trace.csv"
    path.write_bytes(f"{API}\nHIP,hipFree,7,8,1,5,9\n".encode() + kept)
    trace = load(path)
    assert (len(trace), trace.source.faults) == (1, {Fault.TRUNCATED: 1})


text = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), min_size=1, max_size=12)
kernel = st.tuples(text, st.integers(0, LATEST_NS - 10**9), st.integers(0, 10**9), st.integers(0, 2**64 - 1))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(kernel, min_size=1, max_size=10), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_what_is_written_is_read(
    tmp_path: Path, kernels: Sequence[tuple[str, int, int, int]], quoting: int
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting)
    writer.writerow(KERNEL_62.split(","))
    for name, start, length, correlation in kernels:
        writer.writerow(["KERNEL_DISPATCH", 1, 2, 3, name, correlation, start, start + length])
    path = tmp_path / "r_kernel_trace.csv"
    path.write_bytes(out.getvalue().encode())
    trace = load(path)
    found = [
        (trace.name_of(row), int(trace.start_ns[row]), int(trace.end_ns[row]), int(trace.correlation[row]))
        for row in range(len(trace))
    ]
    assert sorted(found) == sorted((name, start, start + size, ids) for name, start, size, ids in kernels)


def test_a_cut_at_any_byte_is_counted_or_refused(tmp_path: Path) -> None:
    whole = f"{API}\nHIP,hipFree,7,8,1,5,90\nHIP,hipFree,7,8,2,100,190\n".encode()
    path = tmp_path / "r_hip_api_trace.csv"
    for at in range(len(API) + 24, len(whole) - 1):
        path.write_bytes(whole[:at])
        try:
            trace = load(path)
        except OverlapLabError:
            continue
        boundary = whole[:at].endswith(b"\n")
        assert boundary or trace.source.faults or len(trace) == 2


def test_a_time_that_cannot_be_one_is_left_out_and_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "run_hip_api_trace.csv",
        API,
        f"HIP,hipFree,4,5,1,10,{2**63 - 1}",
        f"HIP,hipFree,4,5,1,10,{2**54}",
        "HIP,hipMalloc,4,5,2,20,30",
    )
    trace = load(path)
    assert (trace.start_ns.tolist(), trace.end_ns.tolist()) == ([20], [30])
    assert trace.source.faults[Fault.ROWS_SKIPPED] == 2
    assert any("2 rows whose times are out of range" in note for note in trace.source.notes)


def test_a_number_too_large_for_its_column_is_absent(tmp_path: Path) -> None:
    path = write(tmp_path, "run_hip_api_trace.csv", API, f"HIP,hipFree,{2**32 + 7},5,1,10,20")
    assert load(path).process.tolist() == [ABSENT_PROCESS]
