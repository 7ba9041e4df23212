"""The backward on a real GPU: what its modes wait for, graphs, threads, torch.compile and autograd."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA or ROCm device here", allow_module_level=True)
hip_ext = pytest.importorskip("hip_ext", reason="hip_ext is not built")
if not hip_ext.ON_GPU:
    pytest.skip("hip_ext is built for the CPU host target", allow_module_level=True)

from hip_ext.forward import Borders, varlen_forward  # noqa: E402
from overlap_lab import analyze, load  # noqa: E402
from overlap_lab.capture import kineto  # noqa: E402
from overlap_lab.cli.demo_results import blocked_but_terminal_ns  # noqa: E402
from overlap_lab.report import Report  # noqa: E402
from overlap_lab.trace import Trace  # noqa: E402
from tests.threads import hold_python, run_at_once, working  # noqa: E402

MODES = ("sync", "async", "device")
IN_ORDER = ("async", "device")
HEADS, HEAD_SIZE, SCALE = 4, 64, 0.125


@dataclass
class Backward:
    """A deterministic, causal varlen backward over 384 rows, cut into three sequences as `lengths` says."""

    lengths: list[int] = field(default_factory=lambda: [100, 200, 84])

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(7)
        self.q, self.k, self.v, self.dout = (
            torch.randn(384, HEADS, HEAD_SIZE, generator=generator).to("cuda", torch.bfloat16)
            for _ in range(4)
        )
        self.borders = torch.zeros(4, dtype=torch.int32, device="cuda")
        self.out, self.lse = torch.empty_like(self.q), torch.empty(HEADS, 384, device="cuda")
        self.results = tuple(torch.empty_like(self.q) for _ in range(3))
        self.cut(self.lengths)

    def cut(self, lengths: list[int]) -> None:
        self.borders.copy_(torch.tensor([0, *lengths]).cumsum(0))
        borders = Borders(self.borders, self.borders, max(lengths), max(lengths))
        out, lse = varlen_forward(self.q, self.k, self.v, borders, scale=SCALE, causal=True)
        self.out.copy_(out)
        self.lse.copy_(lse)

    def __call__(self, mode: str, **more: Any) -> None:
        hip_ext.mha_varlen_bwd(
            *(self.dout, self.q, self.k, self.v, self.out, self.lse, self.borders, self.borders),
            *(384, 384, 0.0, SCALE, False, True, -1, -1, True),
            *self.results,
            workspace=mode,
            **more,
        )

    def solved(self, mode: str = "device") -> tuple[Any, ...]:
        self(mode)
        torch.cuda.synchronize()
        return tuple(tensor.clone() for tensor in self.results)

    def has(self, expected: tuple[Any, ...]) -> bool:
        torch.cuda.synchronize()
        return all(torch.equal(a, b) for a, b in zip(self.results, expected, strict=True))


@pytest.fixture(scope="module")
def matrix() -> Any:
    made = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    (made @ made).sum().item()
    return made


def captured(mode: str, matrix: Any, folder: Path) -> tuple[Trace, Report]:
    """Five calls in steady state, behind work that keeps the device busy."""
    backward = Backward()

    def step() -> None:
        for _ in range(4):
            matrix @ matrix
        for _ in range(5):
            backward(mode)

    for _ in range(3):  # kernels are loaded; then as many pinned blocks as are under way at once
        step()
        torch.cuda.synchronize()
    with kineto(folder) as capture:
        step()
    trace = load(capture.path)
    return trace, analyze(trace)


ALLOCATIONS = ("Malloc", "Free", "HostAlloc", "HostRegister", "MallocHost", "FreeHost")


CERTAIN = ("stream_sync", "event_sync", "sync_copy", "pageable_copy", "alloc_free", "module_load")
"""Reasons of waits that are no guess. An async call that happened to last long as an op ended has another."""


@pytest.mark.parametrize("mode", IN_ORDER)
def test_in_steady_state_nothing_waits_and_nothing_allocates(mode: str, matrix: Any, tmp_path: Path) -> None:
    trace, report = captured(mode, matrix, tmp_path)
    assert report.value("drain/count") == 0
    assert [report.value(f"host/blocked/{reason}") for reason in CERTAIN] == [0] * len(CERTAIN)
    names = {trace.name_of(i) for i in range(len(trace))}
    assert not [name for name in names if name.startswith(("cuda", "hip")) and name.endswith(ALLOCATIONS)]
    copies = [name for name in names if name.startswith("Memcpy")]
    assert bool(copies) == (mode == "async")
    assert not [name for name in copies if "Pageable" in name]


def test_sync_mode_drains_the_device_and_the_analysis_says_so(matrix: Any, tmp_path: Path) -> None:
    _, report = captured("sync", matrix, tmp_path)
    assert report.value("drain/count") >= 5
    assert blocked_but_terminal_ns(report) > 0


@contextmanager
def synchronizing_is_an_error() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that the mode is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("mode", MODES)
def test_torch_itself_notices_no_mode(mode: str) -> None:
    """Not even the one that waits: its copies do not go through torch."""
    backward = Backward()
    expected = backward.solved()
    with synchronizing_is_an_error():
        backward(mode)
    assert backward.has(expected)


def test_torch_notices_its_own_synchronizing_calls() -> None:
    total = torch.ones(3, device="cuda").sum()
    with synchronizing_is_an_error(), pytest.raises(RuntimeError, match="synchronizing CUDA operation"):
        total.item()


def cuts() -> list[list[int]]:
    return [[20 + 3 * i, 384 - 60 - 8 * i, 40 + 5 * i] for i in range(20)]


@pytest.mark.parametrize("pinned", ["pool", "torch"])
@pytest.mark.parametrize("mode", IN_ORDER)
def test_a_captured_call_replays_a_thousand_times_with_changing_borders(mode: str, pinned: str) -> None:
    backward = Backward()
    inputs = []
    for lengths in cuts():
        backward.cut(lengths)
        expected = backward.solved()
        inputs.append((*(t.clone() for t in (backward.borders, backward.out, backward.lse)), expected))
    hip_ext.set_pinned_memory(pinned)
    try:
        backward.solved(mode)  # fills the pool: a capture must not allocate
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            backward(mode)
    finally:
        hip_ext.set_pinned_memory("pool")
    for replay in range(1000):
        borders, out, lse, expected = inputs[replay % len(inputs)]
        backward.borders.copy_(borders)
        backward.out.copy_(out)
        backward.lse.copy_(lse)
        for tensor in backward.results:
            tensor.fill_(torch.nan)
        graph.replay()
        assert backward.has(expected), replay
    hip_ext.check()


def test_other_calls_do_not_get_the_block_of_a_graph() -> None:
    backward, other = Backward(), Backward([10, 300, 74])
    expected, other_expected = backward.solved("async"), other.solved("async")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        backward("async")
    for _ in range(20):
        other("async")
        graph.replay()
        other("async")
    assert backward.has(expected)
    assert other.has(other_expected)
    del graph
    gc.collect()
    assert other.solved("async")[0].isfinite().all()


def test_sync_mode_refuses_a_capture_and_leaves_it_valid() -> None:
    backward = Backward()
    expected = backward.solved()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(ValueError, match="captured; use async or device"):
            backward("sync")
        backward("device")
    for tensor in backward.results:
        tensor.fill_(torch.nan)
    graph.replay()
    assert backward.has(expected)


def allocate_and_free() -> None:
    torch.empty(1 << 20, dtype=torch.uint8).pin_memory()
    torch.empty(1 << 22, device="cuda", dtype=torch.uint8)
    torch.cuda.empty_cache()


def test_threads_streams_and_frees_get_along() -> None:
    """As the test of this name on every target; here with what a GPU's allocators can be asked to free."""
    streams = [hip_ext.Stream(hip_ext.StreamKind.NON_BLOCKING) for _ in range(8)]

    def run(thread: int) -> None:
        backwards = [Backward([50 + thread, 250, 84 - thread]) for _ in streams]
        expected = backwards[0].solved()
        for call in range(2000):
            backwards[call % 8](IN_ORDER[(call // 8) % 2], stream=streams[(call + thread) % 8])
        assert all(backward.has(expected) for backward in backwards)

    with working(hold_python), working(allocate_and_free):
        run_at_once(8, run, timeout_s=240)
    hip_ext.check()


@pytest.mark.filterwarnings("ignore")  # torch.compile's own
def test_a_compiled_function_with_the_ops_gives_what_eager_gives() -> None:
    backward = Backward()
    expected = backward.solved()

    def step(dout: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, borders: Any) -> tuple[Any, ...]:
        dq, dk, dv, _ = hip_ext.mha_varlen_bwd(
            *(dout, q, k, v, out, lse, borders, borders, 384, 384, 0.0, SCALE, False, True, -1, -1, True),
            workspace="device",
        )
        return dq + 1, dk, dv * 2

    tensors = (*(backward.dout, backward.q, backward.k, backward.v, backward.out), backward.lse)
    dq, dk, dv = torch.compile(step)(*tensors, backward.borders)
    torch.testing.assert_close(dq, expected[0] + 1)
    torch.testing.assert_close(dk, expected[1])
    torch.testing.assert_close(dv, expected[2] * 2)


@pytest.mark.parametrize("mode", MODES)
def test_autograd_runs_on_the_stream_of_the_forward(mode: str) -> None:
    q, k, v = (torch.randn(2, 96, 4, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))

    def gradients(workspace: str) -> tuple[Any, ...]:
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        out = hip_ext.flash_attn_func(*leaves, causal=True, deterministic=True, workspace=workspace)
        return torch.autograd.grad(out.square().sum(), leaves)

    expected = gradients("device")
    torch.cuda.synchronize()
    stream = hip_ext.Stream()
    with hip_ext.use_stream(stream):
        found = gradients(mode)
    stream.synchronize()
    for left, right in zip(found, expected, strict=True):
        assert torch.equal(left, right)
