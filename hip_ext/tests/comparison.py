"""How far a result is from the float64 reference, and whether that is near enough.

The allowance is AITER's: a multiple of the error that the dtype alone makes in plain torch, and never
less than 0.01.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from hip_ext.tests.reference import Result

GRADIENT_FACTOR: Final = 10.0
FLOOR: Final = 0.01


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    largest: float
    of_dtype: float  # the same for plain torch in this dtype
    factor: float

    @property
    def tolerance(self) -> float:
        return max(self.factor * self.of_dtype, FLOOR)

    @property
    def passed(self) -> bool:
        return self.largest <= self.tolerance  # False for NaN

    def __str__(self) -> str:
        return (
            f"{self.name:<3} | Max diff: {self.largest:.4f} | Ref diff: {self.of_dtype:.4f} | "
            f"Tol: {self.tolerance:.4f}{'' if self.passed else ' | FAIL'}"
        )


def largest_difference(left: Tensor, right: Tensor) -> float:
    difference = (left.double() - right.double()).abs()
    return float(difference.max()) if difference.numel() else 0.0


def differences(
    result: Result, exact: Result, same_dtype: Result, *, out_factor: float
) -> tuple[Difference, ...]:
    """out, dq, dk and dv against the float64 reference."""
    return tuple(
        Difference(
            name,
            largest_difference(getattr(result, name), getattr(exact, name)),
            largest_difference(getattr(same_dtype, name), getattr(exact, name)),
            out_factor if name == "out" else GRADIENT_FACTOR,
        )
        for name in ("out", "dq", "dk", "dv")
    )


def identical(left: Result, right: Result) -> bool:
    """Bit for bit."""
    return all(torch.equal(getattr(left, name), getattr(right, name)) for name in ("out", "dq", "dk", "dv"))


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Fills what torch allocates without a value: floats with NaN, bytes (the workspace) with 255.

    So a result that nobody wrote is NaN, and so is a workspace that was read before it was written.
    """
    # What torch asks for before it takes cuBLAS for deterministic; it has to be there at the first product.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
