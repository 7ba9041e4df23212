"""What the other parts of a rocprofv3 JSON file say of the records of one process."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer, integer_column
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Api, CopyKind
from overlap_lab.trace import Column

__all__ = [
    "COPIES",
    "KERNELS",
    "MARKERS",
    "NULL_STREAM",
    "ON_A_STREAM",
    "ProcessNames",
    "direction_of",
    "handle_of",
    "mapping",
    "objects",
    "shortened",
]

MARKERS: Final = "marker_api"
KERNELS: Final = "kernel_dispatch"
COPIES: Final = "memory_copy"
NULL_STREAM: Final = 0
_GPU: Final = 2
_SHOWN: Final = 8
ON_A_STREAM: Final = (
    Api.LAUNCH,
    Api.GRAPH_LAUNCH,
    Api.HOST_FUNC,
    Api.MEMCPY,
    Api.MEMCPY_ASYNC,
    Api.MEMSET,
    Api.MEMSET_ASYNC,
    Api.STREAM_SYNC,
    Api.STREAM_WAIT_EVENT,
    Api.EVENT_RECORD,
    Api.ASYNC_ALLOC,
    Api.STREAM_DESTROY,
)
"""Calls whose `stream_id` says something; the tool writes the null stream beside all others."""


class ProcessNames:
    """The agents, strings and settings of one process."""

    def __init__(self, process: Event) -> None:
        self.metadata = mapping(process.get("metadata"))
        pid = integer(self.metadata.get("pid"), ABSENT_PROCESS)
        self.pid = pid if 0 <= pid < 1 << 31 else ABSENT_PROCESS
        self.by_queue = mapping(self.metadata.get("config")).get("group_by_queue") is True
        """Whether the tool was told to group by queue, which makes all streams 0."""
        strings = mapping(process.get("strings"))
        self._operations = [kind.get("operations") for kind in objects(strings.get("buffer_records"))]
        self.messages = {
            integer(each.get("key")): str(each.get("value", "")) for each in objects(strings.get(MARKERS))
        }
        """Correlation id -> message of a marker."""
        agents = objects(process.get("agents"))
        self._agents = {handle_of(agent.get("id")): integer(agent.get("node_id")) for agent in agents}
        gpus = [agent for agent in agents if agent.get("type") == _GPU]
        self.device_names = {
            integer(agent.get("node_id")): str(agent.get("product_name") or agent.get("name") or "")
            for agent in gpus
        }
        self.gpus = set(self.device_names)

    def operations(self, name: str, pairs: list[tuple[int, int]]) -> list[str]:
        """What the operations of a list's records are called, by the numbers of kind and operation."""
        found = [self._operation(kind, number) for kind, number in pairs]
        if name == "hip_api" and found and not any(found):
            raise BrokenTrace(
                f"host calls of process {self.pid} have no names: 'strings' is missing or cannot be read; "
                "record again with -f rocpd"
            )
        return [text or f"{name} {number}" for text, (_, number) in zip(found, pairs, strict=True)]

    def _operation(self, kind: int, number: int) -> str:
        named = self._operations[kind] if 0 <= kind < len(self._operations) else None
        return str(named[number]) if isinstance(named, list) and 0 <= number < len(named) else ""

    def devices(self, agents: list[Any]) -> Column:
        """The `node_id` of each agent; ABSENT_DEVICE for an agent that the file does not list."""
        wide = integer_column([self._agents.get(handle_of(agent), ABSENT) for agent in agents])
        fits = (wide >= 0) & (wide <= np.iinfo(np.int16).max)
        return np.where(fits, wide, ABSENT_DEVICE).astype(np.int16)


def handle_of(value: Any) -> int:
    """The number of `{"handle": 1}` or `1`."""
    return integer(value.get("handle") if isinstance(value, dict) else value)


def shortened(names: list[str]) -> str:
    """The names in one line, whatever is in them and however many there are."""
    shown = ", ".join(repr(name[:40]) for name in names[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")


def mapping(value: Any) -> Event:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Event]:
    """The objects of a list; none of anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def direction_of(name: str) -> CopyKind:
    """The direction of a copy whose operation has this name."""
    return CopyKind.__members__.get(name.upper().removeprefix("MEMORY_COPY_"), CopyKind.UNKNOWN)
