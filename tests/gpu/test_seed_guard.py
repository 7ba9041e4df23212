"""The three workspace modes on a GPU under the pytest plugin: sync fails by name and line, others pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA or ROCm device here", allow_module_level=True)
hip_ext = pytest.importorskip("hip_ext", reason="hip_ext is not built")
from hip_ext._library import ON_GPU  # noqa: E402

if not ON_GPU:
    pytest.skip("hip_ext is built for the CPU host target", allow_module_level=True)

GUARD = """
import hip_ext
import pytest
import torch

LENGTHS, HEADS, SIZE = (512, 256, 384), 4, 64


def layer(seed):
    torch.manual_seed(seed)
    q, k, v, dout = torch.randn(4, sum(LENGTHS), HEADS, SIZE, device="cuda", dtype=torch.bfloat16)
    borders = torch.tensor([0, *LENGTHS]).cumsum(0).to("cuda", torch.int32)
    where = (borders, borders, max(LENGTHS), max(LENGTHS))
    out, lse = hip_ext.flash_attn_varlen_func(q, k, v, *where, causal=True, return_lse=True)
    return dout, q, k, v, out, lse, *where, 0.0, SIZE**-0.5, False, True, -1, -1, True


@pytest.mark.parametrize("workspace", ["sync", "async", "device"])
def test_backward_keeps_overlap(overlap, workspace):
    layers = [layer(seed) for seed in range(4)]
    matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)

    def step():
        for each in layers:
            torch.mm(matrix, matrix)
            hip_ext.mha_varlen_bwd(*each, workspace=workspace)
        torch.cuda.synchronize()

    step()
    with overlap.capture(backend="kineto", stacks=True):
        step()
    overlap.check(drains=0)
"""


def guarded(workspace: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "test_guard.py").write_text(GUARD)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "overlap_lab.pytest_plugin"]
    test = f"test_guard.py::test_backward_keeps_overlap[{workspace}]"
    return subprocess.run(
        [*command, "--overlap-require", test], cwd=folder, capture_output=True, text=True, check=False
    )


def test_sync_fails_and_names_the_copy_and_the_line_that_calls_it(tmp_path: Path) -> None:
    done = guarded("sync", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "VIOLATED  drain/count <= 0: " in done.stdout
    assert "Memcpy blocked the host" in done.stdout
    assert "test_guard.py(" in done.stdout


@pytest.mark.parametrize("workspace", ["async", "device"])
def test_stream_ordered_modes_pass(workspace: str, tmp_path: Path) -> None:
    done = guarded(workspace, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
