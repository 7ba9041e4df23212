"""What the ops refuse, and how they say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

import hip_ext

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

BF16 = torch.bfloat16


def batch_arguments() -> dict[str, Tensor]:
    """b=2 sq=3 sk=4 hq=4 hk=2 d=16 dv=8"""
    return {
        "dout": torch.zeros(2, 3, 4, 8, dtype=BF16),
        "q": torch.zeros(2, 3, 4, 16, dtype=BF16),
        "k": torch.zeros(2, 4, 2, 16, dtype=BF16),
        "v": torch.zeros(2, 4, 2, 8, dtype=BF16),
        "out": torch.zeros(2, 3, 4, 8, dtype=BF16),
        "softmax_lse": torch.zeros(2, 4, 3),
    }


def varlen_arguments() -> dict[str, Tensor]:
    """Two sequences of 2 and 1 queries, 3 and 1 keys; hq=4 hk=2 d=16 dv=8"""
    return {
        "dout": torch.zeros(3, 4, 8, dtype=BF16),
        "q": torch.zeros(3, 4, 16, dtype=BF16),
        "k": torch.zeros(4, 2, 16, dtype=BF16),
        "v": torch.zeros(4, 2, 8, dtype=BF16),
        "out": torch.zeros(3, 4, 8, dtype=BF16),
        "softmax_lse": torch.zeros(4, 3),
        "cu_seqlens_q": torch.tensor([0, 2, 3], dtype=torch.int32),
        "cu_seqlens_k": torch.tensor([0, 3, 4], dtype=torch.int32),
    }


def call_batch(**changed: object) -> tuple[Tensor, ...]:
    arguments = batch_arguments() | changed
    defaults = {
        "dropout_p": 0.0,
        "softmax_scale": 0.25,
        "is_causal": False,
        "window_size_left": -1,
        "window_size_right": -1,
        "deterministic": False,
    }
    result = hip_ext.mha_bwd(**(defaults | arguments))
    hip_ext.synchronize()
    return result


def made(changed: dict[str, object]) -> dict[str, object]:
    """Tensors of parametrize are functions, so that they are made on the device that is chosen later."""
    return {name: value() if callable(value) else value for name, value in changed.items()}


def call_varlen(**changed: object) -> tuple[Tensor, ...]:
    arguments = varlen_arguments() | made(changed)
    defaults = {
        "max_seqlen_q": 2,
        "max_seqlen_k": 3,
        "dropout_p": 0.0,
        "softmax_scale": 0.25,
        "zero_tensors": False,
        "is_causal": False,
        "window_size_left": -1,
        "window_size_right": -1,
        "deterministic": False,
    }
    result = hip_ext.mha_varlen_bwd(**(defaults | arguments))
    hip_ext.synchronize()
    return result


def test_results_have_aiters_shapes() -> None:
    assert [list(t.shape) for t in call_batch()] == [[2, 3, 4, 16], [2, 4, 2, 16], [2, 4, 2, 8], [2, 4, 3]]
    assert [list(t.shape) for t in call_varlen()] == [[3, 4, 16], [4, 2, 16], [4, 2, 8], [2, 4, 3]]


def test_given_outputs_are_the_results() -> None:
    given = {"dq": torch.ones(2, 3, 4, 16, dtype=BF16), "dk": torch.ones(2, 4, 2, 16, dtype=BF16)}
    dq, dk, _, _ = call_batch(**given)
    assert dq is given["dq"]
    assert dk is given["dk"]
    assert dq.count_nonzero() == dk.count_nonzero() == 0


@pytest.mark.parametrize("name", list(batch_arguments()))
def test_a_wrong_shape_is_named(name: str) -> None:
    tensor = batch_arguments()[name]
    wrong = torch.zeros(*tensor.shape[:-1], tensor.shape[-1] + 8, dtype=tensor.dtype)
    named = {"q": "k", "v": "out"}.get(name, name)  # q and v say what the others have to match
    with pytest.raises(ValueError, match=rf"^{named}: shape \[.*\], expected \["):
        call_batch(**{name: wrong})


@pytest.mark.parametrize("name", list(batch_arguments()))
def test_a_wrong_number_of_dimensions_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: shape \[.*\], expected "):
        call_batch(**{name: batch_arguments()[name][0]})


@pytest.mark.parametrize("name", list(varlen_arguments()))
def test_a_wrong_dtype_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: dtype Double, expected "):
        call_varlen(**{name: varlen_arguments()[name].double()})


@pytest.mark.parametrize("name", ["dout", "q", "k", "v", "out"])
def test_a_strided_last_dimension_is_named(name: str) -> None:
    tensor = batch_arguments()[name]
    strided = torch.zeros(*tensor.shape[:-1], tensor.shape[-1] * 2, dtype=BF16)[..., ::2]
    with pytest.raises(ValueError, match=rf"^{name}: its last dimension must be contiguous \(stride 2\)"):
        call_batch(**{name: strided})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"cu_seqlens_k": lambda: torch.zeros(4, dtype=torch.int32)},
            r"cu_seqlens_k: shape \[4\], expected \[3\]",
        ),
        ({"cu_seqlens_q": lambda: torch.zeros(1, dtype=torch.int32)}, "cu_seqlens_q: the batch must have"),
        (
            {"cu_seqlens_q": lambda: torch.zeros(6, dtype=torch.int32)[::2]},
            "cu_seqlens_q: .* must be contiguous",
        ),
        ({"cu_seqlens_q_padded": lambda: torch.zeros(3)}, "cu_seqlens_q_padded: dtype Float, expected Int"),
        ({"max_seqlen_k": -1}, "max_seqlen_q and max_seqlen_k must not be negative"),
        ({"max_seqlen_k_padded": 1}, "max_seqlen_k_padded must be 0 .unknown. or at least max_seqlen_k"),
        ({"softmax_scale": float("nan")}, "scale must be finite"),
        ({"dk": lambda: torch.zeros(4, 2, 16)}, "dk: dtype Float, expected BFloat16"),
        ({"dq": lambda: torch.zeros(3, 4, 8, dtype=BF16)}, r"dq: shape \[3, 4, 8\], expected \[3, 4, 16\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_varlen_arguments_are_checked(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call_varlen(**changed)


@pytest.mark.parametrize("size", [4, 12, 264])
def test_head_sizes_are_multiples_of_eight_up_to_256(size: int) -> None:
    wrong = {"q": torch.zeros(2, 3, 4, size, dtype=BF16), "k": torch.zeros(2, 4, 2, size, dtype=BF16)}
    with pytest.raises(ValueError, match=f"q: head size {size}, expected a multiple of 8 from 8 to 256"):
        call_batch(**wrong)


def test_key_heads_must_divide_query_heads() -> None:
    wrong = {"k": torch.zeros(2, 4, 3, 16, dtype=BF16), "v": torch.zeros(2, 4, 3, 8, dtype=BF16)}
    with pytest.raises(ValueError, match="k: 3 heads do not divide the 4 heads of q"):
        call_batch(**wrong)


def test_a_batch_without_sequences_is_refused() -> None:
    empty = {name: tensor[:0] for name, tensor in batch_arguments().items()}
    with pytest.raises(ValueError, match="q: the batch must have at least one sequence"):
        call_batch(**empty)


def test_float32_is_refused() -> None:
    with pytest.raises(ValueError, match="q: dtype Float, expected Half or BFloat16"):
        call_batch(q=batch_arguments()["q"].float())


def test_tensors_on_different_devices_are_refused() -> None:
    with pytest.raises(ValueError, match=f"different devices: {torch.get_default_device().type}, meta"):
        call_batch(k=batch_arguments()["k"].to("meta"))


@pytest.mark.parametrize("call", [call_batch, call_varlen])
def test_an_unknown_workspace_is_refused(call: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="workspace: 'fast', expected 'sync', 'async' or 'device'"):
        call(workspace="fast")


def test_a_stream_must_be_a_stream() -> None:
    with pytest.raises(TypeError, match=r"stream: expected hip_ext\.Stream or None, got int"):
        call_batch(stream=0)


UNSUPPORTED = {
    "dropout_p": 0.1,
    "alibi_slopes": torch.zeros(4),
    "rng_state": torch.zeros(2, dtype=torch.int64),
    "gen": torch.Generator(),
    "sink": torch.zeros(2, 4),
    "d_sink": torch.zeros(4),
}


@pytest.mark.parametrize("name", [*UNSUPPORTED, "bias", "dbias"])
def test_what_is_not_built_yet_is_refused_in_one_sentence(name: str) -> None:
    value = UNSUPPORTED.get(name, torch.zeros(3, 4))
    with pytest.raises(NotImplementedError, match=f"^mha_bwd: {name} is not supported yet; leave it at "):
        call_batch(**{name: value})
    if name in UNSUPPORTED:
        with pytest.raises(NotImplementedError, match=f"^mha_varlen_bwd: {name} is not supported yet"):
            call_varlen(**{name: value})


@pytest.mark.parametrize("window", [(0, -1), (-1, 0), (1, 1)])
def test_a_sliding_window_is_refused(window: tuple[int, int]) -> None:
    with pytest.raises(NotImplementedError, match="a sliding window"):
        call_batch(window_size_left=window[0], window_size_right=window[1])


def test_a_window_over_all_keys_is_none() -> None:
    call_batch(window_size_left=4, window_size_right=4)


def test_causal_is_a_window_that_ends_at_zero() -> None:
    call_batch(is_causal=True, window_size_right=0)


@pytest.mark.parametrize("name", ["block_table", "out", "sink_ptr", "return_attn_probs", "min_seqlen_q"])
def test_attention_refuses_the_same_way(name: str) -> None:
    a = varlen_arguments()
    given = [a[name] for name in ("q", "k", "v", "cu_seqlens_q", "cu_seqlens_k")]
    with pytest.raises(NotImplementedError, match=f"^flash_attn_varlen_func: {name} is not supported yet"):
        hip_ext.flash_attn_varlen_func(*given, 2, 3, **{name: 1})


def test_attention_checks_head_size_and_dtype() -> None:
    q = torch.zeros(1, 2, 1, 257, dtype=BF16)
    with pytest.raises(ValueError, match="q: head size 257, expected at most 256"):
        hip_ext.flash_attn_func(q, q, q)
    q = torch.zeros(1, 2, 1, 8)
    with pytest.raises(ValueError, match=r"q: dtype torch.float32, expected torch.float16 or torch.bfloat16"):
        hip_ext.flash_attn_func(q, q, q)


def test_bad_borders_raise_at_once_in_sync_mode() -> None:
    beyond = torch.tensor([0, 3, 9], dtype=torch.int32)
    with pytest.raises(
        ValueError, match="seqstart_q or seqstart_k does not start with 0, decreases, or ends"
    ):
        call_varlen(cu_seqlens_k=beyond, workspace="sync")


def test_bad_borders_raise_from_check_in_async_mode() -> None:
    beyond = torch.tensor([0, 3, 9], dtype=torch.int32)
    dq, _, _, _ = call_varlen(cu_seqlens_k=beyond, workspace="async")
    with pytest.raises(RuntimeError, match="an earlier async call failed, its dq is NaN"):
        hip_ext.check()
    assert dq.isnan().all()
    hip_ext.check()  # said once


def test_bad_borders_are_nan_in_device_mode() -> None:
    beyond = torch.tensor([0, 3, 9], dtype=torch.int32)
    dq, _, _, _ = call_varlen(cu_seqlens_k=beyond, workspace="device")
    assert dq.isnan().all()
    hip_ext.check()


@pytest.mark.parametrize("workspace", ["sync", "async", "device"])
@pytest.mark.parametrize("value", [2**31, 2**62, -(2**31) - 1])
@pytest.mark.parametrize("name", ["max_seqlen_q", "max_seqlen_k", "max_seqlen_k_padded"])
def test_a_length_of_more_than_32_bits_is_refused_and_not_cut(name: str, value: int, workspace: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: {value} does not fit into 32 bits"):
        call_varlen(**{name: value}, workspace=workspace)


def test_results_that_share_memory_are_refused() -> None:
    dk = torch.empty(2, 4, 2, 16, dtype=BF16)
    with pytest.raises(ValueError, match="dk: begins in memory where k does"):
        call_batch(k=dk, dk=dk)
    same = torch.empty(2, 4, 2, 8, dtype=BF16)
    with pytest.raises(ValueError, match="dk: begins in memory where dv does"):
        call_batch(
            k=torch.zeros(2, 4, 2, 8, dtype=BF16), q=torch.zeros(2, 3, 4, 8, dtype=BF16), dk=same, dv=same
        )
    with pytest.raises(ValueError, match="dq: shows the same memory along dimension 0"):
        call_batch(dq=torch.empty(1, 3, 4, 16, dtype=BF16).expand(2, 3, 4, 16))


def test_results_that_are_slices_of_one_tensor_are_written() -> None:
    packed = torch.full((2, 4, 4, 16), torch.nan, dtype=BF16)
    dk, dv = packed[:, :, :2], packed[:, :, 2:, :8]
    call_batch(dk=dk, dv=dv)
    assert dk.isfinite().all()
    assert dv.isfinite().all()
