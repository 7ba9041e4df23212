"""Arguments of HIP calls: the stream that a call names, copy directions and sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.api_names import copy_directions
from overlap_lab.loaders.building import Columns
from overlap_lab.loaders.numbers import integer, integer_column
from overlap_lab.schema import ABSENT, NO_CORRELATION, CopyKind
from overlap_lab.trace import Column

__all__ = ["SIZES", "STREAM_TYPES", "CallArguments", "Links", "copy_kind_of", "null_pointers", "pointer_of"]

STREAM_TYPES: Final = ("hipStream_t", "ihipStream_t*", "cudaStream_t")
SIZES: Final = ("sizeBytes", "sizebytes", "count", "ByteCount")
_KINDS: Final = {
    "HostToHost": CopyKind.HOST_TO_HOST,
    "HostToDevice": CopyKind.HOST_TO_DEVICE,
    "DeviceToHost": CopyKind.DEVICE_TO_HOST,
    "DeviceToDevice": CopyKind.DEVICE_TO_DEVICE,
    "0": CopyKind.HOST_TO_HOST,
    "1": CopyKind.HOST_TO_DEVICE,
    "2": CopyKind.DEVICE_TO_HOST,
    "3": CopyKind.DEVICE_TO_DEVICE,
}
_LEGACY: Final = 1
"""hipStreamLegacy, a handle for the null stream besides 0."""

Links = tuple[Column, Column]


class CallArguments:
    """What the arguments of one process's calls say, by the key of the call.

    `arguments` are (key, type, name, value), `links` key -> correlation id, `ops` ids and streams of ops.

    A stream argument is a pointer, and no table maps it to a stream number. Calls that have both, the pointer
    and a device op with a stream, do: the stream of most of their ops is the pointer's.
    """

    def __init__(
        self,
        arguments: Iterable[tuple[Any, Any, Any, Any]],
        links: Mapping[Any, int],
        ops: Sequence[Links],
        null_stream: int | None,
    ) -> None:
        self._pointers: dict[Any, int] = {}
        self._kinds: dict[Any, CopyKind] = {}
        self._sizes: dict[Any, int] = {}
        for event, kind, name, value in arguments:
            if name == "stream" or kind in STREAM_TYPES:
                self._pointers[event] = pointer_of(value)
            elif name == "kind":
                self._kinds[event] = copy_kind_of(value)
            elif name in SIZES:
                self._sizes[event] = integer(value)
        self._streams = self._learn(links, ops) | null_pointers(null_stream)

    def _learn(self, links: Mapping[Any, int], ops: Sequence[Links]) -> dict[int, int]:
        stream_of: dict[int, int] = {}
        for ids, streams in ops:
            known = (ids != NO_CORRELATION) & (streams != ABSENT)
            stream_of |= dict(zip(ids[known].tolist(), streams[known].tolist(), strict=True))
        votes: dict[int, Counter[int]] = {}
        for event, pointer in self._pointers.items():
            stream = stream_of.get(links.get(event, NO_CORRELATION))
            if stream is not None and pointer != ABSENT:
                votes.setdefault(pointer, Counter())[stream] += 1
        return {pointer: seen.most_common(1)[0][0] for pointer, seen in votes.items()}

    def columns(self, events: Sequence[Any], names: Sequence[str]) -> Columns:
        """`stream`, `copy_kind` and `bytes` of the calls with these keys and names."""
        kinds = np.array([self._kinds.get(event, CopyKind.UNKNOWN) for event in events], np.uint8)
        pointers = [self._pointers.get(event, ABSENT) for event in events]
        return {
            "stream": integer_column([self._streams.get(pointer, ABSENT) for pointer in pointers]),
            "copy_kind": np.where(kinds == CopyKind.UNKNOWN, copy_directions(names), kinds),
            "bytes": integer_column([self._sizes.get(event, ABSENT) for event in events]),
        }


def null_pointers(null_stream: int | None) -> dict[int, int]:
    """The pointers that stand for the null stream, and its number."""
    if null_stream is None or null_stream == ABSENT:
        return {}
    return {0: null_stream, _LEGACY: null_stream}


def pointer_of(value: object) -> int:
    """A stream argument as a number; ABSENT where it is none."""
    return integer("0" if value in ("nullptr", "(nil)", "null", "") else value)


def copy_kind_of(value: object) -> CopyKind:
    """The direction that a `kind` argument gives."""
    return _KINDS.get(str(value).removeprefix("hipMemcpy"), CopyKind.UNKNOWN)
