"""CUPTI captures, with a module in place of cupti-python; on a GPU they are run by hand (docs/capture.md)."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from overlap_lab import load
from overlap_lab.capture import annotate, cupti
from overlap_lab.errors import CaptureError, MissingDependency
from overlap_lab.schema import Api, CopyKind, Fault, Kind, Memory

T0 = 1_800_000_000_000_000_123
"""Ns since 1970: a double would be off by up to 256 of them."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "stand_ins"))
    for name in ("cupti", "cupti.cupti"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    from cupti import cupti as module

    monkeypatch.setattr(module, "get_timestamp", lambda: T0 + 10**9)
    return module


def call(api: ModuleType, number: int, start: int, end: int, correlation: int) -> SimpleNamespace:
    times = {"start": T0 + start, "end": T0 + end}
    kind = api.ActivityKind.RUNTIME
    return SimpleNamespace(kind=kind, cbid=number, **times, thread_id=77, correlation_id=correlation)


def op(kind: int, start: int, end: int, correlation: int, **more: object) -> SimpleNamespace:
    place = {"device_id": 0, "stream_id": 7, "context_id": 1, "graph_id": 0, "correlation_id": correlation}
    return SimpleNamespace(kind=kind, start=T0 + start, end=T0 + end, **place, **more)


def enqueue(api: ModuleType) -> None:
    kinds = api.ActivityKind
    api.queued += [
        call(api, 211, 0, 4_001, 1),
        op(kinds.CONCURRENT_KERNEL, 6_000, 50_007, 1, name="void fill<float, 4>(float*)"),
        call(api, 41, 5_000, 9_000, 2),
        op(kinds.MEMCPY, 50_010, 60_000, 2, bytes=64, copy_kind=2, src_kind=3, dst_kind=1),
        call(api, 131, 10_000, 61_000, 3),
        SimpleNamespace(
            kind=kinds.SYNCHRONIZATION,
            type=3,
            start=T0 + 10_500,
            end=T0 + 60_500,
            context_id=1,
            stream_id=7,
            correlation_id=3,
            cuda_event_id=0,
            cuda_event_sync_id=0,
        ),
    ]


def test_calls_ops_and_waits_come_back_to_the_nanosecond(api: ModuleType, tmp_path: Path) -> None:
    with cupti(tmp_path) as captured:
        enqueue(api)
    trace = load(captured.path)
    assert [
        (trace.name_of(i), int(trace.start_ns[i]) - T0, int(trace.end_ns[i]) - T0) for i in range(len(trace))
    ] == [
        ("cudaLaunchKernel", 0, 4_001),
        ("cudaMemcpyAsync", 5_000, 9_000),
        ("void fill<float, 4>(float*)", 6_000, 50_007),
        ("cudaStreamSynchronize", 10_000, 61_000),
        ("Stream Sync", 10_500, 60_500),
        ("Memcpy DtoH (Device -> Pageable)", 50_010, 60_000),
    ]
    assert trace.source.metadata["captured with"] == "cupti"
    assert trace.source.clock == "epoch"


def test_a_copy_keeps_direction_size_and_memory(api: ModuleType, tmp_path: Path) -> None:
    with cupti(tmp_path) as captured:
        enqueue(api)
    trace = load(captured.path)
    [copy] = [i for i in range(len(trace)) if trace.kind[i] == Kind.MEMCPY]
    assert (trace.copy_kind[copy], trace.memory[copy]) == (CopyKind.DEVICE_TO_HOST, Memory.PAGEABLE)
    assert (trace.bytes[copy], trace.stream[copy], trace.correlation[copy]) == (64, 7, 2)


def test_a_wait_for_an_event_names_the_call_that_recorded_it(api: ModuleType, tmp_path: Path) -> None:
    kinds = api.ActivityKind
    event = {"context_id": 1, "cuda_event_sync_id": 5}
    with cupti(tmp_path) as captured:
        enqueue(api)
        api.queued += [
            SimpleNamespace(kind=kinds.CUDA_EVENT, event_id=9, correlation_id=40, **event),
            SimpleNamespace(
                kind=kinds.SYNCHRONIZATION,
                type=1,
                start=T0 + 70_000,
                end=T0 + 71_000,
                stream_id=(1 << 32) - 1,
                correlation_id=41,
                cuda_event_id=9,
                **event,
            ),
        ]
    trace = load(captured.path)
    [row] = [i for i in range(len(trace)) if trace.name_of(i) == "Event Sync"]
    assert trace.wait_correlation[row] == 40


def test_ranges_are_rows_and_mark_the_calls_made_in_them(api: ModuleType, tmp_path: Path) -> None:
    with cupti(tmp_path) as captured:
        with annotate("prepare <&>"):
            assert len(api.external) == 1
        assert api.external == []
        enqueue(api)
    trace = load(captured.path)
    [row] = [i for i in range(len(trace)) if trace.kind[i] == Kind.RANGE]
    assert trace.name_of(row) == "prepare <&>"
    assert trace.thread[row] == threading.get_native_id()


def test_the_recordings_own_last_calls_are_left_out(api: ModuleType, tmp_path: Path) -> None:
    with cupti(tmp_path) as captured:
        enqueue(api)
        api.queued.append(call(api, 131, 2 * 10**9, 3 * 10**9, 9))
    assert sum(load(captured.path).api == Api.STREAM_SYNC) == 1


def test_records_that_cupti_dropped_are_counted(
    api: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "dropped", 12)
    with cupti(tmp_path) as captured:
        enqueue(api)
    source = load(captured.path).source
    assert source.faults[Fault.ROWS_SKIPPED] == 12
    assert any("12 records were dropped" in note for note in source.notes)


def test_nothing_recorded_is_an_error_and_no_file(api: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="made no CUDA call"), cupti(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_another_profiler_at_work_is_one_error(
    api: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "refuses", True)
    with pytest.raises(CaptureError, match="no other profiler at work"), cupti(tmp_path):
        pass
    assert api.enabled == set()


def test_one_capture_at_a_time(api: ModuleType, tmp_path: Path) -> None:
    with cupti(tmp_path):
        with pytest.raises(CaptureError, match="one at a time"), cupti(tmp_path):
            pass
        enqueue(api)


def test_an_error_of_the_block_is_the_blocks_own(api: ModuleType, tmp_path: Path) -> None:
    def block() -> None:
        with cupti(tmp_path):
            enqueue(api)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    assert api.enabled == set()


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)
    with pytest.raises(MissingDependency, match=r"pip install 'overlap_lab\[cupti\]'"), cupti(tmp_path):
        pass
