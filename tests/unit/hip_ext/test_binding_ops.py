"""The registered ops as torch sees them, and importing hip_ext."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import hip_ext
from hip_ext._library import WORKSPACES
from hip_ext.forward import batch_forward, varlen_forward
from hip_ext.tests.problems import Shape, batch_problem, varlen_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

SHAPE = Shape(4, 2, 16, 16, torch.bfloat16, causal=True)


def batch_arguments() -> tuple[Tensor | float | str | None, ...]:
    torch.manual_seed(0)
    q, k, v, dout = batch_problem(SHAPE, 2, 5, 7).tensors
    out, lse = batch_forward(q, k, v, scale=0.25, causal=True)
    results = hip_ext.mha_bwd(dout, q, k, v, out, lse, 0.0, 0.25, True, -1, -1, True)
    hip_ext.synchronize()
    return (dout, q, k, v, out, lse, 0.25, True, True, *results[:3], WORKSPACES["device"], None)


def varlen_arguments() -> tuple[Tensor | float | str | None, ...]:
    torch.manual_seed(0)
    problem = varlen_problem(SHAPE, [5, 2], [7, 3])
    q, k, v, dout = problem.tensors
    b = problem.borders
    assert b is not None
    out, lse = varlen_forward(q, k, v, b, scale=0.25, causal=True)
    dq, dk, dv, _ = hip_ext.mha_varlen_bwd(
        *(dout, q, k, v, out, lse, b.cu_seqlens_q, b.cu_seqlens_k, 5, 7, 0.0, 0.25, False, True, -1, -1, True)
    )
    hip_ext.synchronize()
    return (
        *(dout, q, k, v, out, lse, b.cu_seqlens_q, b.cu_seqlens_k, 5, 7, 0.25, False, True, True),
        *(dq, dk, dv, None, None, None, WORKSPACES["device"], None),
    )


class Waiting(TorchDispatchMode):
    """Waits behind every op: torch's CPU ops know no stream, and opcheck reads what an op may still write."""

    supports_higher_order_operators = True

    def __torch_dispatch__(
        self,
        op: Callable[..., object],
        types: Any,
        arguments: tuple[object, ...] = (),
        names: Any = None,
    ) -> object:
        result = op(*arguments, **(names or {}))
        hip_ext.synchronize()
        return result


def test_opcheck_passes_for_mha_bwd() -> None:
    with Waiting():
        torch.library.opcheck(torch.ops.hip_ext.mha_bwd.default, batch_arguments())


def test_opcheck_passes_for_mha_varlen_bwd() -> None:
    with Waiting():
        torch.library.opcheck(torch.ops.hip_ext.mha_varlen_bwd.default, varlen_arguments())


def test_the_schemas_say_what_is_written() -> None:
    for op in (torch.ops.hip_ext.mha_bwd.default, torch.ops.hip_ext.mha_varlen_bwd.default):
        written = [argument.name for argument in op._schema.arguments if argument.is_write]
        assert written == ["dq", "dk", "dv"]
        assert [str(returned.type) for returned in op._schema.returns] == ["Tensor"]
        assert not any(returned.alias_info for returned in op._schema.returns)


def test_meta_tensors_give_shapes_without_running() -> None:
    tensors = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in batch_arguments()]
    results = hip_ext.mha_bwd(*tensors[:6], 0.0, 0.25, True, -1, -1, True)
    assert [list(t.shape) for t in results] == [[2, 5, 4, 16], [2, 7, 2, 16], [2, 7, 2, 16], [2, 4, 5]]
    assert all(t.is_meta for t in results)


def test_meta_tensors_give_the_strides_of_the_op() -> None:
    given = varlen_arguments()
    found = hip_ext._library.mha_varlen_bwd(*given)
    hip_ext.synchronize()
    meta = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in given]
    fake = hip_ext._library.mha_varlen_bwd(*meta)
    assert (fake.shape, fake.stride()) == (found.shape, found.stride())
    assert found.stride(0) == 0  # every batch index shows the same rows


def test_public_names_are_sorted_and_there() -> None:
    assert list(hip_ext.__all__) == sorted(hip_ext.__all__)
    assert all(hasattr(hip_ext, name) for name in hip_ext.__all__)


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_import_without_torch_says_for_what_and_how_to_get_it() -> None:
    result = run_python("import sys; sys.modules['torch'] = None; import hip_ext")
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line == (
        "ImportError: hip_ext needs torch 2.11 or later for its ops (mha_bwd, flash_attn_varlen_func): "
        "pip install 'overlap_lab[torch]'"
    )


def test_import_without_the_ops_says_how_to_build_them() -> None:
    code = "import pathlib; pathlib.Path.exists = lambda self, **_: False; import hip_ext"
    assert "was built without its torch ops" in run_python(code).stderr


def test_hip_ext_never_imports_overlap_lab() -> None:
    code = "import sys, hip_ext, hip_ext.tests.mha; sys.exit('overlap_lab' in sys.modules)"
    assert run_python(code).returncode == 0


@pytest.mark.parametrize("name", ["mha_bwd", "mha_varlen_bwd"])
def test_gradients_are_not_tracked_through_the_backward(name: str) -> None:
    arguments = batch_arguments() if name == "mha_bwd" else varlen_arguments()
    dout, q, k, v, out, lse = (a.detach().requires_grad_() for a in arguments[:6])
    if name == "mha_bwd":
        results = hip_ext.mha_bwd(dout, q, k, v, out, lse, 0.0, 0.25, True, -1, -1, True)
    else:
        results = hip_ext.mha_varlen_bwd(
            *(dout, q, k, v, out, lse, *arguments[6:10], 0.0, 0.25, False, True, -1, -1, True)
        )
    hip_ext.synchronize()
    assert not any(result.requires_grad for result in results)
