"""The Python door of the CPU host runtime; its semantics are tested in C++ (hip_ext/ctest/host_runtime)."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

host = pytest.importorskip("hip_ext._host_runtime", reason="hip_ext is built without its CPU host runtime")


@pytest.fixture
def stream() -> Iterator[int]:
    made = host.stream_create()
    yield made
    host.stream_destroy(made)


def test_a_launch_is_one_call_and_one_op_with_its_correlation_id(stream: int) -> None:
    host.start_recording()
    host.launch_test_kernel(stream, name="square")
    host.stream_synchronize(stream)
    host.stop_recording()
    records = host.take_records()
    api, device = records["api"], records["device"]
    assert api["name"] == ["hipLaunchKernel", "hipStreamSynchronize"]
    assert api["kernel"] == ["square", ""]
    assert device["name"] == ["square"]
    assert device["correlation_id"].tolist() == api["correlation_id"].tolist()[:1]
    assert device["stream_id"].tolist() == api["stream_id"].tolist()[:1]
    assert api["stream_argument"].tolist() == [stream, stream]
    assert device["kind"].tolist() == [host.OpKind.KERNEL]


def test_the_columns_have_one_length_and_are_ordered_by_start(stream: int) -> None:
    host.start_recording()
    for _ in range(5):
        host.launch_test_kernel(stream, rounds=10)
        host.launch_test_host_function(stream)
    host.stream_synchronize(stream)
    host.stop_recording()
    records = host.take_records()
    for name, rows in (("api", 11), ("device", 5), ("host_functions", 5)):
        table = records[name]
        assert {len(column) for column in table.values()} == {rows}
        assert np.all(np.diff(table["start_ns"]) >= 0)
        assert np.all(table["end_ns"] >= table["start_ns"])


def test_only_the_call_that_blocks_is_marked(stream: int) -> None:
    host.start_recording()
    host.launch_test_kernel(stream, rounds=20_000)
    host.stream_query(stream)
    host.stream_synchronize(stream)
    host.stream_synchronize(stream)
    host.stop_recording()
    api = host.take_records()["api"]
    assert dict(zip(api["name"][:3], api["waited"].tolist()[:3], strict=True)) == {
        "hipLaunchKernel": False,
        "hipStreamQuery": False,
        "hipStreamSynchronize": True,
    }
    assert api["waited"].tolist()[3] is False


def test_a_pageable_copy_waits_and_a_pinned_one_does_not(stream: int) -> None:
    device, pinned = host.device_malloc(64), host.pinned_malloc(64)
    pageable = np.zeros(64, np.uint8)
    host.start_recording()
    host.memset_async(device, 7, 64, stream)
    host.memcpy_async(pinned, device, 64, stream, kind=host.CopyKind.DEVICE_TO_HOST)
    host.memcpy_async(pageable.ctypes.data, device, 64, stream)
    host.stop_recording()
    api = host.take_records()["api"]
    assert pageable.tolist() == [7] * 64
    assert api["waited"].tolist() == [False, False, True]
    assert api["dst_memory"].tolist() == [
        host.MemoryKind.DEVICE,
        host.MemoryKind.PINNED,
        host.MemoryKind.PAGEABLE,
    ]
    assert api["copy_kind"].tolist() == [-1, 2, 2]
    host.device_free(device)
    host.pinned_free(pinned)


def test_foreign_memory_is_device_memory_once_registered() -> None:
    tensor, out = np.full(16, 3, np.uint8), np.zeros(16, np.uint8)
    with pytest.raises(RuntimeError, match="hipErrorInvalidValue"):
        host.memcpy(out.ctypes.data, tensor.ctypes.data, 16, kind=host.CopyKind.DEVICE_TO_HOST)
    host.register_device_memory(tensor.ctypes.data, 16)
    host.memcpy(out.ctypes.data, tensor.ctypes.data, 16, kind=host.CopyKind.DEVICE_TO_HOST)
    host.unregister_device_memory(tensor.ctypes.data, 16)
    assert out.tolist() == [3] * 16


def test_streams_are_listed_with_their_kind() -> None:
    made = [host.stream_create(), host.stream_create(blocking=False)]
    assert [host.stream_is_blocking(handle) for handle in made] == [True, False]
    streams = host.take_records()["streams"]
    assert streams["stream_id"][0] == 0
    assert streams["handle"].tolist()[-2:] == made
    assert streams["non_blocking"].tolist()[-2:] == [False, True]
    for handle in made:
        host.stream_destroy(handle)


def test_waiting_lets_other_python_threads_run(stream: int) -> None:
    host.launch_test_kernel(stream, rounds=400_000)
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        host.stream_synchronize(stream)

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert waiting.wait(timeout=30)
    # With the GIL held by the waiter this line would be reached only after the kernel.
    assert not host.stream_query(stream)
    waiter.join(timeout=30)
    assert not waiter.is_alive()


def test_a_destroyed_stream_is_refused_by_name() -> None:
    gone = host.stream_create()
    host.stream_destroy(gone)
    with pytest.raises(RuntimeError, match="hipStreamSynchronize: hipErrorContextIsDestroyed"):
        host.stream_synchronize(gone)


def test_the_device_says_that_it_is_no_gpu() -> None:
    properties = host.device_properties()
    assert properties["name"] == "HIP host runtime (CPU)"
    assert properties["multiprocessor_count"] >= 1


def _stub_classes_and_functions() -> tuple[dict[str, ast.ClassDef], set[str]]:
    stub = Path(__file__).parents[3] / "hip_ext" / "_host_runtime.pyi"
    body = ast.parse(stub.read_text()).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    return classes, {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_the_stub_names_what_the_module_has() -> None:
    classes, functions = _stub_classes_and_functions()
    enums = {name for name in classes if name.endswith("Kind")}
    assert {name for name in dir(host) if not name.startswith("_")} == functions | enums


@pytest.mark.parametrize(
    ("table", "type_name", "shared"),
    [("api", "ApiTable", True), ("device", "OpTable", True), ("streams", "StreamTable", False)],
)
def test_the_stub_has_the_columns(table: str, type_name: str, *, shared: bool) -> None:
    classes, _ = _stub_classes_and_functions()
    fields = {
        node.target.id
        for name in ([type_name, "_Shared"] if shared else [type_name])
        for node in classes[name].body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert set(host.take_records()[table]) == fields
