"""Which of several devices differs from the rest, and in what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["APART", "Unlike", "most_unlike", "set_apart"]

APART: Final = 0.15
"""How far a device's share lies from the middle of all before it is apart from them."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """A number of one device, and the range of the others'."""

    name: str
    value: int
    low: int
    high: int

    @property
    def apart(self) -> int:
        """How far the value lies outside of the range."""
        return max(self.low - self.value, self.value - self.high, 0)


def set_apart(shares: Mapping[int, float]) -> tuple[int, ...]:
    """The devices whose share is far from the middle one; never all of them.

    >>> set_apart({2: 0.35, 3: 0.36, 4: 0.37, 5: 0.65}), set_apart({0: 0.1, 1: 0.2}), set_apart({})
    ((5,), (), ())
    """
    if not shares:
        return ()
    ordered = sorted(shares.values())
    middle = ordered[(len(ordered) - 1) // 2]
    return tuple(device for device, share in shares.items() if abs(share - middle) > APART)


def most_unlike(numbers: Mapping[str, Mapping[int, int]], device: int, others: list[int]) -> Unlike | None:
    """The number in which a device lies farthest above the others; None where it is above in none.

    >>> most_unlike({"late": {0: 30, 1: 28, 5: 57}, "drain": {0: 5, 1: 6, 5: 7}}, 5, [0, 1])
    Unlike(name='late', value=57, low=28, high=30)
    """
    found = [
        Unlike(name, values[device], min(rest), max(rest))
        for name, values in numbers.items()
        if (rest := [values[one] for one in others]) and values[device] > max(rest)
    ]
    return max(found, key=lambda one: one.apart, default=None)
