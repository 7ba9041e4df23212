"""Ten steps of the FMHA backward of four layers, group mode, on the CPU host target."""

import hip_ext
from hip_ext.example_layer import backward_arguments

import overlap_lab

WORKSPACE = "async"  # "sync" is the change that must not pass


def made_layers():
    return [backward_arguments((192, 128), heads=2, head_size=64, seed=seed) for seed in range(4)]


def backward(layers, stream):
    for layer in layers:
        hip_ext.mha_varlen_bwd(**layer, workspace=WORKSPACE, stream=stream)


if __name__ == "__main__":
    LAYERS, STREAM = made_layers(), hip_ext.Stream()
    for number in range(10):
        with overlap_lab.annotate(f"step #{number}"):
            backward(LAYERS, STREAM)
    STREAM.synchronize()
