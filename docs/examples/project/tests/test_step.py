import hip_ext
import pytest
from step import backward, backward_of_a_layer


@pytest.fixture(scope="module")
def layers():
    return [backward_of_a_layer(seed) for seed in range(4)]


def test_backward_keeps_overlap(overlap, layers):
    stream = hip_ext.Stream()
    with overlap.capture(backend="host"):
        backward(layers, stream)
        stream.synchronize()
    overlap.check(drains=0)
