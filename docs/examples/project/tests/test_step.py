import hip_ext
import pytest
from step import backward, made_layers


@pytest.fixture(scope="module")
def layers():
    return made_layers()


def test_backward_keeps_overlap(overlap, layers):
    stream = hip_ext.Stream()
    with overlap.capture(backend="host"):
        backward(layers, stream)
        stream.synchronize()
    overlap.check(drains=0)
