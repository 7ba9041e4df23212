"""Every tag of a report: its unit, its title, and which direction is good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from overlap_lab.report import Better, Measurement
from overlap_lab.schema import Cause, Fault, Reason

__all__ = [
    "ALL_TAGS",
    "COLLECTIVE_TAGS",
    "COMPARED_TAGS",
    "DEVICE_TAGS",
    "HOST_TAGS",
    "QUALITY_TAGS",
    "STREAM_TAGS",
    "Entry",
    "entry",
    "measurement",
]


@dataclass(frozen=True, slots=True)
class Entry:
    unit: str
    title: str
    better: Better


_LOWER, _HIGHER, _NEITHER = Better.LOWER, Better.HIGHER, Better.NEITHER

_REASON_WORDS = {
    Reason.STREAM_SYNC: "in a stream synchronize",
    Reason.DEVICE_SYNC: "in a device synchronize",
    Reason.EVENT_SYNC: "in an event synchronize",
    Reason.SYNC_COPY: "in a synchronous copy",
    Reason.PAGEABLE_COPY: "in an async copy of pageable memory",
    Reason.ALLOC_FREE: "in an allocation or free",
    Reason.QUEUE_FULL: "in a launch onto a full queue",
    Reason.MODULE_LOAD: "in a module load",
    Reason.LOCK: "behind another thread's wait",
    Reason.OTHER: "in another call",
}
_CAUSE_WORDS = {
    Cause.UNKNOWN: "for a cause that the trace cannot tell",
    Cause.DRAIN: "after a host wait drained it",
    Cause.HOST_LATE: "because the host launched late",
    Cause.LAUNCH: "while a launch was on its way",
    Cause.IN_CALL: "while the launch call had not returned",
    Cause.HOST_FUNCTION: "behind a host function",
    Cause.DEPENDENCY: "between queued operations",
}
_FAULT_WORDS = {
    Fault.UNLINKED_OPS: "Device operations without a call",
    Fault.LAUNCHES_WITHOUT_OP: "Launches without a device operation",
    Fault.ID_REUSED: "Correlation ids used twice",
    Fault.INVERTED: "Operations that start before their launch",
    Fault.NEGATIVE_DURATION: "Rows that end before they start",
    Fault.ZERO_DURATION: "Operations of no duration",
    Fault.CLIPPED: "Operations cut at a proven end",
    Fault.STREAM_OVERLAP: "Operations that overlap on one stream",
    Fault.ROWS_REPAIRED: "Rows repaired while reading",
    Fault.ROWS_SKIPPED: "Rows skipped while reading",
    Fault.TRUNCATED: "Files cut off",
    Fault.NO_STREAM: "Operations without a stream",
    Fault.GRAPH_OPS: "Operations made by a graph launch",
    Fault.COPIES_WITHOUT_RECORD: "Synchronous copies without a record of the copy",
    Fault.NO_HOST_RECORDS: "No host records",
    Fault.NO_DEVICE_RECORDS: "No device records",
}
_NEUTRAL_FAULTS = (Fault.GRAPH_OPS, Fault.COPIES_WITHOUT_RECORD, Fault.ZERO_DURATION)
_QUANTILES = {
    "min": "smallest",
    "p10": "10th percentile",
    "median": "median",
    "p90": "90th percentile",
    "max": "largest",
}

_HOST: dict[str, Entry] = {
    "host/blocked": Entry("ns", "Host blocked by the device", _LOWER),
    "host/blocked/explicit": Entry("ns", "Host blocked in calls that wait by name", _LOWER),
    "host/blocked/implicit": Entry("ns", "Host blocked in calls that do not say so", _LOWER),
    "host/blocked/device_bound": Entry("ns", "Host blocked until the device was done", _LOWER),
    "host/blocked/return_latency": Entry("ns", "Host blocked after the device was done", _LOWER),
    **{
        f"host/blocked/{reason}": Entry("ns", f"Host blocked {words}", _LOWER)
        for reason, words in _REASON_WORDS.items()
    },
    "host/unknown_wait": Entry("ns", "Host in waits for work outside of the file", _NEITHER),
    "host/redundant_waits": Entry("count", "Synchronizes that waited for nothing", _LOWER),
    "host/polling_calls": Entry("count", "Stream and event queries", _LOWER),
    "host/polling_time": Entry("ns", "Host in stream and event queries", _LOWER),
    "host/polling_span": Entry("ns", "From first to last query", _NEITHER),
}
_DEVICE: dict[str, Entry] = {
    "host/blocked_while_idle": Entry("ns", "Host blocked while the device did nothing", _LOWER),
    "device/busy": Entry("ns", "Device busy", _NEITHER),
    "device/window": Entry("ns", "Window", _LOWER),
    "device/idle": Entry("ns", "Device idle", _LOWER),
    "device/gaps": Entry("count", "Idle gaps", _LOWER),
    **{
        f"device/idle/{cause}": Entry("ns", f"Device idle {words}", _LOWER)
        for cause, words in _CAUSE_WORDS.items()
    },
    "drain/count": Entry("count", "Device drains", _LOWER),
    "drain/terminal": Entry("count", "Device drains with no later work", _NEITHER),
    "drain/idle": Entry("ns", "Device idle after drains", _LOWER),
    "drain/idle/return": Entry("ns", "Device idle until the wait returned", _LOWER),
    "drain/idle/refill": Entry("ns", "Device idle until the host launched again", _LOWER),
    "drain/idle/launch": Entry("ns", "Device idle until that launch arrived", _LOWER),
    "overlap/ratio": Entry(
        "ratio", "Device work that did not block the host (without terminal waits)", _HIGHER
    ),
    "overlap/ratio_literal": Entry("ratio", "Device work that did not block the host (all waits)", _HIGHER),
    **{
        f"run_ahead/{name}": Entry("ns", f"Run-ahead, {words}", _HIGHER) for name, words in _QUANTILES.items()
    },
    **{
        f"run_ahead_from_end/{name}": Entry("ns", f"Run-ahead from the call's return, {words}", _HIGHER)
        for name, words in _QUANTILES.items()
    },
    "launch/floor": Entry("ns", "Launch onto an empty stream to its start", _LOWER),
    "queue/depth_max": Entry("count", "Deepest queue", _NEITHER),
    "queue/work_max": Entry("ns", "Most device time in the queue", _NEITHER),
}
_COLLECTIVE: dict[str, Entry] = {
    "collectives/count": Entry("count", "Collective operations", _NEITHER),
    "collectives/time": Entry("ns", "Device in collectives", _LOWER),
    "collectives/exposed": Entry("ns", "Device in collectives and in nothing else", _LOWER),
    "collectives/matched": Entry("count", "Collectives matched with another device's", _NEITHER),
    "collectives/last": Entry("count", "Collectives that the device was the last to start", _NEITHER),
    "collectives/waited": Entry("ns", "Device waiting in collectives for the last to start", _LOWER),
    "collectives/waited/exposed": Entry("ns", "Device waiting in collectives and doing nothing else", _LOWER),
    "collectives/awaited": Entry("ns", "Other devices doing nothing but wait for this one", _LOWER),
    "collectives/span": Entry("ns", "From the first to the last collective that all devices share", _LOWER),
    "collectives/launching": Entry("ns", "Host handing out work in between, without its waits", _LOWER),
    "collectives/work": Entry("ns", "Device at its own work in between, without waits for others", _LOWER),
    "collectives/gain": Entry("ns", "Gained at most if the device were as fast as the next slowest", _LOWER),
}
_STREAM: dict[str, Entry] = {
    "stream/drain/count": Entry("count", "Stream drains", _LOWER),
    "stream/drain/idle": Entry("ns", "Stream idle after drains", _LOWER),
}
_QUALITY: dict[str, Entry] = {
    f"quality/{fault}": Entry("count", words, _NEITHER if fault in _NEUTRAL_FAULTS else _LOWER)
    for fault, words in _FAULT_WORDS.items()
}

HOST_TAGS: Final = tuple(_HOST)
"""Once with scope {}, once per process, once per thread."""
DEVICE_TAGS: Final = tuple(_DEVICE)
"""Once per device, and with exactly one device also with scope {}."""
COLLECTIVE_TAGS: Final = tuple(_COLLECTIVE)
"""As device tags where any op is a collective; else once with scope {}, null."""
STREAM_TAGS: Final = tuple(_STREAM)
QUALITY_TAGS: Final = tuple(_QUALITY)
_ALL = _HOST | _DEVICE | _COLLECTIVE | _STREAM | _QUALITY
ALL_TAGS: Final = tuple(_ALL)
COMPARED_TAGS: Final = tuple(_HOST | _DEVICE | _COLLECTIVE | _QUALITY)
"""Without those of streams: a stream's number names nothing in another run."""


def entry(tag: str) -> Entry:
    """What the tag means."""
    return _ALL[tag]


def measurement(
    tag: str, scope: Mapping[str, int], value: int | float | None, reason: str | None = None
) -> Measurement:
    """A measurement of a known tag; a null one says why."""
    known = _ALL[tag]
    return Measurement(tag, scope, value, known.unit, known.title, known.better, reason)
