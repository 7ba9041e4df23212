"""The same tests on every target: where the ops are built for a GPU, tensors are made there."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(autouse=True, scope="session")
def _device() -> None:
    try:
        from hip_ext.tests.options import use_device
    except ImportError:
        return  # without torch, and so without ops
    use_device()
    _first_product()


def _first_product() -> None:
    """torch warns about the first product in autograd's thread, once."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = torch.ones(2, 2, requires_grad=True)
        (matrix @ matrix).sum().backward()
