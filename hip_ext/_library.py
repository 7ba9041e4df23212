"""Loads the compiled ops, and says what is missing when that fails."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

try:
    import torch
except ImportError as error:
    raise ImportError(
        "hip_ext needs torch 2.11 or later for its ops (mha_bwd, flash_attn_varlen_func): "
        "pip install 'overlap_lab[torch]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def _compiled(name: str) -> Path:
    """Where a compiled part lies: beside this file, or, after an editable install, where that put it."""
    module = find_spec(f"hip_ext.{name}")  # only asked where it is: it is no Python module
    return (
        Path(module.origin) if module is not None and module.origin else Path(__file__).parent / f"{name}.so"
    )


_OPS = _compiled("_torch_ops")


def _load() -> None:
    if not _OPS.exists():
        raise ImportError(
            f"hip_ext was built without its torch ops ({_OPS.name} is missing), as torch was not there: "
            "pip install torch scikit-build-core nanobind, then "
            "pip install --no-build-isolation --force-reinstall --no-deps overlap_lab"
        )
    load_library: Callable[[str], None] = torch.ops.load_library
    try:
        load_library(str(_OPS))
    except OSError as error:
        raise ImportError(
            f"hip_ext's ops do not load into torch {torch.__version__} (they need 2.11 or later): {error}"
        ) from error


_load()

# Whether these ops were built for a GPU: there they run on torch's current stream, and know how to make one.
ON_GPU: Final = hasattr(torch.ops.hip_ext, "stream_create")


# What the ops take for the workspace.
WORKSPACES: Final = {"sync": 0, "async": 1, "device": 2}


# torch comes here instead of to the op when any tensor is on the meta device.
def _check_devices(*arguments: object) -> None:
    devices = {argument.device.type for argument in arguments if isinstance(argument, torch.Tensor)}
    if len(devices) > 1:
        raise ValueError(f"the tensors are on different devices: {', '.join(sorted(devices))}")


def _fake_mha_bwd(*arguments: Any) -> Tensor:
    _check_devices(*arguments)
    softmax_lse: Tensor = arguments[5]
    return softmax_lse.new_empty(softmax_lse.shape)


def _fake_mha_varlen_bwd(*arguments: Any) -> Tensor:
    _check_devices(*arguments)
    softmax_lse: Tensor = arguments[5]
    cu_seqlens_q: Tensor = arguments[6]
    heads, rows = softmax_lse.shape
    return softmax_lse.new_empty_strided((cu_seqlens_q.shape[0] - 1, heads, rows), (0, rows, 1))


torch.library.register_fake("hip_ext::mha_bwd", _fake_mha_bwd)
torch.library.register_fake("hip_ext::mha_varlen_bwd", _fake_mha_varlen_bwd)

# Nothing to differentiate: what the ops write is no function of their arguments to autograd. Passing by it
# costs less than torch.no_grad, and than what torch does for ops that say nothing.
_library: Callable[[str, str], Any] = torch.library.Library
_AUTOGRAD: Final = _library("hip_ext", "IMPL")
for _name in ("mha_bwd", "mha_varlen_bwd"):
    for _key in ("AutogradCPU", "AutogradCUDA"):
        _AUTOGRAD.impl(_name, torch.library.fallthrough_kernel, _key)

# They write dq, dk and dv, which they are given, and return softmax_d. The overload and not the op: there
# is nothing to choose from.
mha_bwd: Final[Callable[..., Tensor]] = torch.ops.hip_ext.mha_bwd.default
mha_varlen_bwd: Final[Callable[..., Tensor]] = torch.ops.hip_ext.mha_varlen_bwd.default


def check() -> None:
    """Raises RuntimeError if the preparation of an earlier asynchronous call has failed.

    That call's dq is NaN. Failures show only once the stream has come to them: synchronize first to
    see all. Every backward begins with this check.
    """
    torch.ops.hip_ext.check()


def release_finished() -> None:
    """Drops the tensors that finished calls still hold; every call and synchronization does it."""
    torch.ops.hip_ext.release_finished()


def set_pinned_memory(kind: str) -> None:
    """Where the async mode's pinned blocks come from, for this process.

    "pool" keeps blocks for reuse (the default), "bare" allocates and frees each, as AITER's C++ callers
    do, and "torch" takes torch's caching host allocator, which only a GPU has.
    """
    torch.ops.hip_ext.set_pinned_memory(kind)


def stream_create(*, blocking: bool) -> int:
    """A new stream of the GPU, for `_gpu_streams`."""
    handle: int = torch.ops.hip_ext.stream_create(blocking)
    return handle


def stream_destroy(handle: int) -> None:
    torch.ops.hip_ext.stream_destroy(handle)


def stream_is_blocking(handle: int) -> bool:
    blocking: bool = torch.ops.hip_ext.stream_is_blocking(handle)
    return blocking
