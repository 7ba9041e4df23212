"""The rocpd files of host captures: what a reader of rocprofv3 files finds in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from overlap_lab.capture.rocpd_schema import BASE_TABLES
from overlap_lab.capture.rocpd_writer import (
    ApiCall,
    DeviceOp,
    MarkerRange,
    Recording,
    Stream,
    write_rocpd,
)
from overlap_lab.errors import CaptureError
from overlap_lab.loaders import load
from overlap_lab.schema import Api, CopyKind, Kind, Memory
from overlap_lab.trace import Trace

SAMPLE = Path(__file__).parents[4] / "shared/samples/rocpd_db/hgliu_batched_gemm_28_results.db"

RECORDING = Recording(
    process=77,
    command="python train.py",
    device="HIP host runtime (CPU)",
    calls=(
        ApiCall("hipLaunchKernel", 100, 110, 5, 1, (("hipStream_t", "stream", "0x10"),)),
        ApiCall("hipMemcpyAsync", 120, 130, 5, 2, (("hipStream_t", "stream", "0x10"),)),
        ApiCall("hipMemsetAsync", 140, 150, 5, 3, (("hipStream_t", "stream", "0x10"),)),
        ApiCall("hipStreamSynchronize", 160, 900, 5, 4, (("hipStream_t", "stream", "0x10"),)),
    ),
    ops=(
        DeviceOp("kernel<a, b>", 200, 300, 5, 1, stream=2),
        DeviceOp("copy", 310, 400, 5, 2, 2, copy_direction="DEVICE_TO_HOST", host_memory="pinned", bytes=64),
        DeviceOp("hip_host_fill_buffer", 410, 800, 5, 3, stream=2),
    ),
    ranges=(MarkerRange("layer 0", 90, 950, 5), MarkerRange("host function", 810, 820, 6)),
    streams=(Stream(0), Stream(2, nonblocking=True)),
    metadata={"workspace": "async"},
)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    write_rocpd(RECORDING, tmp_path / "trace.db")
    return load(tmp_path / "trace.db")


def rows(trace: Trace, kind: Kind) -> list[tuple[str, int, int]]:
    return [
        (trace.name_of(i), int(trace.start_ns[i]), int(trace.end_ns[i]))
        for i in range(len(trace))
        if trace.kind[i] == kind
    ]


def test_calls_and_ops_come_back_with_their_times(trace: Trace) -> None:
    assert rows(trace, Kind.KERNEL) == [("kernel<a, b>", 200, 300)]
    assert [name for name, *_ in rows(trace, Kind.API)] == [call.name for call in RECORDING.calls]


def test_a_fill_is_a_memset_and_a_copy_keeps_direction_size_and_memory(trace: Trace) -> None:
    assert len(rows(trace, Kind.MEMSET)) == 1
    [copy] = [i for i in range(len(trace)) if trace.kind[i] == Kind.MEMCPY]
    assert trace.copy_kind[copy] == CopyKind.DEVICE_TO_HOST
    assert (trace.bytes[copy], trace.memory[copy]) == (64, Memory.PINNED)


def test_a_synchronize_names_its_stream(trace: Trace) -> None:
    [wait] = [i for i in range(len(trace)) if trace.api[i] == Api.STREAM_SYNC]
    assert trace.stream[wait] == 2
    assert trace.source.nonblocking_streams == {2}


def test_host_functions_are_marker_ranges_and_never_device_rows(trace: Trace) -> None:
    assert ("host function", 810, 820) in rows(trace, Kind.RANGE)
    assert int(trace.is_device.sum()) == 3


def test_what_a_capture_says_about_itself_is_in_the_source(trace: Trace) -> None:
    assert trace.source.metadata["workspace"] == "async"
    assert "HIP host runtime (CPU)" in trace.source.devices.values()


def test_the_joined_views_of_rocprofv3_files_work(tmp_path: Path) -> None:
    write_rocpd(RECORDING, tmp_path / "trace.db")
    joined = (
        "SELECT r.name, k.name FROM kernels k JOIN regions r ON r.stack_id = k.stack_id AND r.guid = k.guid"
    )
    with closing(sqlite3.connect(tmp_path / "trace.db")) as connection:
        names = connection.execute(joined).fetchall()
        copies = connection.execute("SELECT name, size FROM memory_copies").fetchall()
    assert ("hipLaunchKernel", "kernel<a, b>") in names
    assert copies == [("MEMORY_COPY_DEVICE_TO_HOST", 64)]


def test_writing_replaces_a_file_whole_and_leaves_no_partial_one(tmp_path: Path) -> None:
    target = tmp_path / "trace.db"
    target.write_bytes(b"old")
    write_rocpd(RECORDING, target)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.db"]


def columns_of(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return {
            table: [column[0] for column in connection.execute(f'SELECT * FROM "rocpd_{table}"').description]
            for table in BASE_TABLES
        }


def test_columns_are_those_of_a_real_rocprofv3_file(tmp_path: Path) -> None:
    if not SAMPLE.exists():
        pytest.skip("the real capture lies outside of this repository")
    write_rocpd(RECORDING, tmp_path / "trace.db")
    ours, theirs = columns_of(tmp_path / "trace.db"), columns_of(SAMPLE)
    added_later = {"graph_exec_id", "graph_node_id"}  # schema 3.0.2
    for table in BASE_TABLES:
        assert [name for name in ours[table] if name not in added_later] == theirs[table], table


def test_what_cannot_be_written_is_said_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "trace.db").mkdir()
    with pytest.raises(CaptureError, match=r"trace\.db: cannot be written"):
        write_rocpd(RECORDING, tmp_path / "trace.db")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.db"]
