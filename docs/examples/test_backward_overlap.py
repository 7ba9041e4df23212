"""Does the FMHA backward keep the device fed? Group mode, four layers, on the CPU host target.

pytest docs/examples/test_backward_overlap.py
"""

import hip_ext
import pytest
from hip_ext.example_layer import backward_arguments


@pytest.mark.parametrize("workspace", ["sync", "async", "device"])
def test_backward_keeps_overlap(overlap, workspace):
    layers = [backward_arguments((192, 128), heads=2, head_size=64, seed=seed) for seed in range(4)]
    stream = hip_ext.Stream()
    with overlap.capture(backend="host"):
        for layer in layers:
            hip_ext.mha_varlen_bwd(**layer, workspace=workspace, stream=stream)
        stream.synchronize()
    overlap.check(drains=0, blocked_per_call="50us", ratio=0.95)
