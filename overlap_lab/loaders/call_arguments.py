"""Arguments of host calls in a rocpd file: the stream that a call names, copy directions and sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.api_names import copy_directions
from overlap_lab.loaders.building import Columns
from overlap_lab.loaders.numbers import integer, integer_column
from overlap_lab.loaders.rocpd_tables import GuidTables
from overlap_lab.schema import ABSENT, NO_CORRELATION, CopyKind
from overlap_lab.trace import Column

__all__ = ["CallArguments"]

_STREAM_TYPES: Final = ("hipStream_t", "ihipStream_t*", "cudaStream_t")
_SIZES: Final = ("sizeBytes", "sizebytes", "count", "ByteCount")
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
    """What the arguments of one GUID's calls say, by event id.

    A stream argument is a pointer, and no table maps it to a stream number. Calls that have both, the pointer
    and a device op with a stream, do: the stream of most of their ops is the pointer's.
    """

    def __init__(
        self,
        tables: GuidTables,
        regions: Mapping[int, tuple[int, str]],
        ops: Sequence[Links],
        null_stream: int | None,
    ) -> None:
        events, types, names, values = tables.columns("arg", "event_id", "type", "name", "value")
        self._pointers: dict[int, int] = {}
        self._kinds: dict[int, CopyKind] = {}
        self._sizes: dict[int, int] = {}
        for event, kind, name, value in zip(events, types, names, values, strict=True):
            if name == "stream" or kind in _STREAM_TYPES:
                self._pointers[event] = integer(_pointer(value))
            elif name == "kind":
                self._kinds[event] = _KINDS.get(_kind(value), CopyKind.UNKNOWN)
            elif name in _SIZES:
                self._sizes[event] = integer(value)
        self._streams = self._learn(regions, ops)
        if null_stream is not None and null_stream != ABSENT:
            self._streams |= {0: null_stream, _LEGACY: null_stream}

    def _learn(self, regions: Mapping[int, tuple[int, str]], ops: Sequence[Links]) -> dict[int, int]:
        stream_of: dict[int, int] = {}
        for links, streams in ops:
            known = (links != NO_CORRELATION) & (streams != ABSENT)
            stream_of |= dict(zip(links[known].tolist(), streams[known].tolist(), strict=True))
        votes: dict[int, Counter[int]] = {}
        for event, pointer in self._pointers.items():
            stream = stream_of.get(regions.get(event, (NO_CORRELATION, ""))[0])
            if stream is not None and pointer != ABSENT:
                votes.setdefault(pointer, Counter())[stream] += 1
        return {pointer: seen.most_common(1)[0][0] for pointer, seen in votes.items()}

    def columns(self, events: Sequence[Any], names: Sequence[str]) -> Columns:
        """`stream`, `copy_kind` and `bytes` of the calls with these event ids and names."""
        kinds = np.array([self._kinds.get(event, CopyKind.UNKNOWN) for event in events], np.uint8)
        pointers = [self._pointers.get(event, ABSENT) for event in events]
        return {
            "stream": integer_column([self._streams.get(pointer, ABSENT) for pointer in pointers]),
            "copy_kind": np.where(kinds == CopyKind.UNKNOWN, copy_directions(names), kinds),
            "bytes": integer_column([self._sizes.get(event, ABSENT) for event in events]),
        }


def _pointer(value: object) -> object:
    return "0" if value in ("nullptr", "(nil)", "null", "") else value


def _kind(value: object) -> str:
    return str(value).removeprefix("hipMemcpy")
