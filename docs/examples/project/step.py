"""Ten steps of the FMHA backward of four layers, group mode, on the CPU host target."""

from itertools import accumulate

import hip_ext
import torch

import overlap_lab

WORKSPACE = "async"  # "sync" is the change that must not pass
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
        "workspace": WORKSPACE,
    }
    return (dout, q, k, v, out, lse, *where), options


def backward(layers, stream):
    for tensors, options in layers:
        hip_ext.mha_varlen_bwd(*tensors, **options, stream=stream)


if __name__ == "__main__":
    LAYERS, STREAM = [backward_of_a_layer(seed) for seed in range(4)], hip_ext.Stream()
    for number in range(10):
        with overlap_lab.annotate(f"step #{number}"):
            backward(LAYERS, STREAM)
    STREAM.synchronize()
