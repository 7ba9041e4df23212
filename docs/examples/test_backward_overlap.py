"""Does the FMHA backward keep the device fed? Group mode, four layers, on the CPU host target.

pytest docs/examples/test_backward_overlap.py
"""

from itertools import accumulate

import hip_ext
import pytest
import torch

LENGTHS, HEADS, SIZE = (192, 128), 2, 64


def backward_of_a_layer(seed):
    torch.manual_seed(seed)
    q, k, v, dout = torch.randn(4, sum(LENGTHS), HEADS, SIZE, dtype=torch.bfloat16)
    borders = torch.tensor([0, *accumulate(LENGTHS)], dtype=torch.int32)
    where = (borders, borders, max(LENGTHS), max(LENGTHS))
    out, lse = hip_ext.flash_attn_varlen_func(q, k, v, *where, causal=True, return_lse=True)
    options = {
        "dropout_p": 0.0,
        "softmax_scale": SIZE**-0.5,
        "zero_tensors": False,
        "is_causal": True,
        "window_size_left": -1,
        "window_size_right": -1,
        "deterministic": True,
    }
    return (dout, q, k, v, out, lse, *where), options


@pytest.mark.parametrize("workspace", ["sync", "async", "device"])
def test_backward_keeps_overlap(overlap, workspace):
    layers = [backward_of_a_layer(seed) for seed in range(4)]
    stream = hip_ext.Stream()
    with overlap.capture(backend="host"):
        for tensors, options in layers:
            hip_ext.mha_varlen_bwd(*tensors, **options, workspace=workspace, stream=stream)
        stream.synchronize()
    overlap.check(drains=0, blocked_per_call="50us", ratio=0.95)
