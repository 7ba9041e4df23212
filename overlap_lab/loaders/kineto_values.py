"""What single values in Kineto events mean: numbers in text, streams, names of copies."""

from __future__ import annotations

import re
from typing import Final

from overlap_lab.loaders.numbers import integer
from overlap_lab.schema import ABSENT, CopyKind, Memory

__all__ = ["NO_STREAM", "call_direction", "copy_direction", "memory_of", "number_in", "stream_in"]

NO_STREAM: Final = (-1, (1 << 32) - 1, (1 << 64) - 1)
"""The writers' ways to say "none"."""
_DIRECTIONS: Final = {
    "HtoD": CopyKind.HOST_TO_DEVICE,
    "DtoH": CopyKind.DEVICE_TO_HOST,
    "DtoD": CopyKind.DEVICE_TO_DEVICE,
    "HtoH": CopyKind.HOST_TO_HOST,
    "PtoP": CopyKind.PEER_TO_PEER,
}
_DIRECTION: Final = re.compile(r"\b(HtoD|DtoH|DtoD|HtoH|PtoP)\b")
_CALL_KINDS: Final = {
    "0": CopyKind.HOST_TO_HOST,
    "1": CopyKind.HOST_TO_DEVICE,
    "2": CopyKind.DEVICE_TO_HOST,
    "3": CopyKind.DEVICE_TO_DEVICE,
}
_LONGEST_LABEL: Final = 200
"""A longer one names no thread, and the search below takes time with the square of a label's digits."""
_LAST_NUMBER: Final = re.compile(r"(-?\d+)\D*$")


def number_in(value: object) -> object:
    """A process, thread or stream number; "stream 7" and "24200 (python)" hold one."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_LABEL:
        return None
    if value.isdecimal():
        return integer(value)
    found = re.match(r"\s*(-?\d+)", value) or _LAST_NUMBER.search(value)
    return integer(found[1]) if found else None


def stream_in(value: object) -> object:
    """A stream number; the writers' ways to say "none" become None. 0 is a real stream."""
    number = integer(number_in(value))
    return None if number in NO_STREAM or number == ABSENT else number


def copy_direction(text: object) -> CopyKind:
    """The direction in the name of a copy or in its `kind`: "Memcpy HtoD (Host -> Device)"."""
    found = _DIRECTION.search(str(text))
    return _DIRECTIONS[found[1]] if found else CopyKind.UNKNOWN


def call_direction(kind: object) -> CopyKind:
    """The `kind` of a copy call, which ROCm writes, as text, and CUDA does not."""
    return _CALL_KINDS.get(str(kind), CopyKind.UNKNOWN)


def memory_of(name: str) -> Memory:
    """The host side as CUPTI names it: "Memcpy HtoD (Pinned -> Device)"."""
    if "Pinned" in name:
        return Memory.PINNED
    return Memory.PAGEABLE if "Pageable" in name else Memory.UNKNOWN
