"""Calls are asynchronous: what lives how long, who waits, and what a trace shows of it."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

import hip_ext

pytest.importorskip(
    "hip_ext._host_runtime", reason="about the host target's streams; on a GPU torch's allocator keeps memory"
)

from hip_ext import Stream, StreamKind, Workspace, _host_runtime, _library
from hip_ext.forward import batch_forward, varlen_forward
from hip_ext.tests.problems import Problem, Shape, batch_problem, varlen_problem

if TYPE_CHECKING:
    from torch import Tensor

SHAPE = Shape(4, 2, 32, 32, torch.bfloat16, causal=True)


def small_problem() -> Problem:
    torch.manual_seed(0)
    return varlen_problem(SHAPE, [40, 70], [150, 90])


def backward(problem: Problem, **options: object) -> tuple[Tensor, ...]:
    """Every tensor that it hands over is dropped on return."""
    q, k, v, dout = (tensor.clone() for tensor in problem.tensors)
    borders = problem.borders
    assert borders is not None
    out, lse = varlen_forward(q, k, v, borders, scale=0.2, causal=True)
    return hip_ext.mha_varlen_bwd(
        *(dout, q, k, v, out, lse, borders.cu_seqlens_q.clone(), borders.cu_seqlens_k.clone()),
        *(borders.max_seqlen_q, borders.max_seqlen_k, 0.0, 0.2, False, True, -1, -1, True),
        **options,
    )


def keep_busy(stream: Stream) -> None:
    """Real work for some 400 ms: far more than a call takes."""
    _host_runtime.launch_test_kernel(stream.handle, size=4096, rounds=600_000)


def overwrite_free_memory() -> None:
    """Takes what the allocator has free in sizes that a small problem uses, and fills it with NaN."""
    gc.collect()
    sizes = [4, 3, 2 * 110 * 32, 4 * 110 * 32, 240 * 64, 240 * 128, 440, 2 * 440, 110 * 128 * 4, 1024]
    held = [torch.full((size,), torch.nan) for size in sizes for _ in range(40)]
    del held


@pytest.mark.parametrize("workspace", list(Workspace))
def test_tensors_live_until_the_stream_has_passed(workspace: Workspace) -> None:
    expected = backward(small_problem(), workspace=workspace)
    hip_ext.synchronize()
    stream = Stream()
    keep_busy(stream)
    given = backward(small_problem(), workspace=workspace, stream=stream)
    _library.release_finished()
    overwrite_free_memory()
    stream.synchronize()
    for left, right in zip(given, expected, strict=True):
        assert torch.equal(left, right)


def array_backed(problem: Problem) -> tuple[Problem, weakref.ref[np.ndarray]]:
    """The problem with a q over a numpy array: dropping it needs Python's lock."""
    q, *others = problem.tensors
    array = q.view(torch.int16).numpy().copy()
    mapped = torch.from_numpy(array).view(torch.bfloat16)
    return Problem(problem.shape, (mapped, *others)), weakref.ref(array)  # type: ignore[arg-type]


@pytest.mark.parametrize("workspace", ["async", "device"])
def test_a_tensor_is_dropped_by_the_thread_that_synchronizes(workspace: Workspace) -> None:
    torch.manual_seed(0)
    problem, array = array_backed(batch_problem(SHAPE, 1, 30, 40))
    q, k, v, dout = problem.tensors
    out, lse = batch_forward(q, k, v, scale=0.2, causal=True)
    stream = Stream()
    keep_busy(stream)
    hip_ext.mha_bwd(
        *(dout, q, k, v, out, lse, 0.0, 0.2, True, -1, -1, True), workspace=workspace, stream=stream
    )
    del problem, q
    _library.release_finished()
    assert array() is not None
    assert not stream.query()
    stream.synchronize()
    assert array() is None


def test_the_next_call_drops_what_earlier_calls_held() -> None:
    torch.manual_seed(0)
    problem, array = array_backed(batch_problem(SHAPE, 1, 30, 40))
    stream = Stream()
    q, k, v, dout = problem.tensors
    out, lse = batch_forward(q, k, v, scale=0.2, causal=True)
    hip_ext.mha_bwd(*(dout, q, k, v, out, lse, 0.0, 0.2, True, -1, -1, True), stream=stream)
    del problem, q
    _host_runtime.stream_synchronize(stream.handle)  # waits, and nothing else
    assert array() is not None
    backward(small_problem(), stream=stream)
    assert array() is None
    stream.synchronize()


def record(workspace: Workspace, stream: Stream) -> _host_runtime.Records:
    backward(small_problem(), workspace=workspace, stream=stream)  # fills the pinned pool
    stream.synchronize()
    keep_busy(stream)
    _host_runtime.start_recording()
    backward(small_problem(), workspace=workspace, stream=stream)
    _host_runtime.stop_recording()
    stream.synchronize()
    return _host_runtime.take_records()


def kinds(records: _host_runtime.Records) -> list[_host_runtime.OpKind]:
    return [_host_runtime.OpKind(kind) for kind in records["device"]["kind"]]


def test_device_mode_enqueues_a_fill_and_kernels_and_nothing_else() -> None:
    """No copy, no host function, no wait; and keeping tensors alive leaves nothing in the trace."""
    records = record(Workspace.DEVICE, Stream())
    assert records["api"]["name"] == ["hipMemsetAsync"] + ["hipLaunchKernel"] * 6
    fill, *kernels = kinds(records)
    assert fill is _host_runtime.OpKind.MEMSET
    assert set(kernels) == {_host_runtime.OpKind.KERNEL}
    assert records["device"]["name"][1:] == [
        "fmha_bwd_write_metadata",
        "fmha_bwd_dot_do_o",
        "fmha_bwd_dq_dk_dv",
        "fmha_bwd_convert_dq",
        "fmha_bwd_reduce_heads",
        "fmha_bwd_reduce_heads",
    ]
    assert records["host_functions"]["name"] == []
    assert not records["api"]["waited"].any()


def test_async_mode_copies_packs_and_waits_for_nothing() -> None:
    records = record(Workspace.ASYNC, Stream())
    copies = records["device"]["copy_kind"][records["device"]["kind"] == _host_runtime.OpKind.MEMCPY]
    to_host, to_device = _host_runtime.CopyKind.DEVICE_TO_HOST, _host_runtime.CopyKind.HOST_TO_DEVICE
    assert copies.tolist() == [to_host, to_host, to_device]
    assert len(records["host_functions"]["name"]) == 2  # the pack, and the release of its block
    assert not records["api"]["waited"].any()


def test_sync_mode_waits_for_what_was_queued_before() -> None:
    api = record(Workspace.SYNC, Stream())["api"]
    waited = [name for name, waited in zip(api["name"], api["waited"], strict=True) if waited]
    assert waited[:1] == ["hipMemcpy"]


def test_python_runs_while_sync_mode_waits() -> None:
    """The call waits for a kernel that only ends after Python code of another thread has run."""
    stream = Stream()
    keep_busy(stream)
    entered, ticks = threading.Event(), 0

    def count() -> None:
        nonlocal ticks
        entered.wait()
        while not stream.query():
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()
    entered.set()
    before = ticks
    backward(small_problem(), workspace="sync", stream=stream)
    during = ticks - before
    stream.synchronize()
    thread.join()
    # One switch of threads may happen before the op releases the lock; hundreds may not.
    assert during > 100


def test_sync_mode_on_a_non_blocking_stream_says_that_it_waits() -> None:
    expected = backward(small_problem(), workspace="device")
    hip_ext.synchronize()
    stream = Stream(StreamKind.NON_BLOCKING)
    keep_busy(stream)
    with pytest.warns(RuntimeWarning, match="this call waits for the whole stream first"):
        given = backward(small_problem(), workspace="sync", stream=stream)
    stream.synchronize()
    for left, right in zip(given, expected, strict=True):
        assert torch.equal(left, right)


def test_without_a_stream_a_call_uses_the_current_one() -> None:
    stream = Stream()
    with hip_ext.use_stream(stream) as current:
        assert current is hip_ext.current_stream() is stream
        _host_runtime.start_recording()
        backward(small_problem(), workspace="device")
        _host_runtime.stop_recording()
    assert hip_ext.current_stream() is hip_ext.NULL_STREAM
    stream.synchronize()
    records = _host_runtime.take_records()
    handles = dict(zip(records["streams"]["stream_id"], records["streams"]["handle"], strict=True))
    assert {int(handles[stream_id]) for stream_id in records["device"]["stream_id"]} == {stream.handle}


@pytest.mark.parametrize("gqa_ratio", [1, 2])
def test_padding_rows_are_left_as_they_are(gqa_ratio: int) -> None:
    torch.manual_seed(0)
    problem = varlen_problem(Shape(2, gqa_ratio, 16, 16, torch.bfloat16, causal=False), [2], [3], [4], [6])
    q, k, v, dout = problem.tensors
    assert problem.borders is not None
    out, lse = varlen_forward(q, k, v, problem.borders, scale=0.2, causal=False)
    nan = [torch.full_like(tensor, torch.nan) for tensor in (q, k, v)]
    b = problem.borders
    for zero_tensors in (False, True):
        dq, dk, dv, _ = hip_ext.mha_varlen_bwd(
            *(dout, q, k, v, out, lse, b.cu_seqlens_q, b.cu_seqlens_k, 2, 3, 0.0, 0.2, zero_tensors),
            *(False, -1, -1, True, *nan),
            cu_seqlens_q_padded=b.cu_seqlens_q_padded,
            cu_seqlens_k_padded=b.cu_seqlens_k_padded,
        )
        hip_ext.synchronize()
        for gradient, rows in ((dq, 2), (dk, 3), (dv, 3)):
            assert gradient[:rows].isfinite().all()
            padding = gradient[rows:]
            assert (padding == 0).all() if zero_tensors else padding.isnan().all()


def test_the_kinds_of_streams() -> None:
    assert Stream().kind is StreamKind.BLOCKING
    assert _host_runtime.stream_is_blocking(Stream().handle)
    other = Stream(StreamKind.NON_BLOCKING)
    assert not _host_runtime.stream_is_blocking(other.handle)
    assert hip_ext.NULL_STREAM.handle == 0
    assert other.query()


def test_a_stream_is_destroyed_with_its_last_reference() -> None:
    stream = Stream()
    handle = stream.handle
    del stream
    gc.collect()
    with pytest.raises(RuntimeError, match="hipErrorContextIsDestroyed"):
        _host_runtime.stream_synchronize(handle)
