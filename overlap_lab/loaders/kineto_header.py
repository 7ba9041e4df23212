"""What the header of a Kineto file says about where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.exported import with_exported
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.kineto_events import EventColumns
from overlap_lab.loaders.kineto_raw import decoded
from overlap_lab.loaders.kineto_rows import KinetoRows
from overlap_lab.loaders.numbers import integer
from overlap_lab.loaders.origin import facts_in
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, DEVICE_KINDS, ORIGIN_KEY, Fault, Kind
from overlap_lab.trace import Source

__all__ = ["EventFacts", "base_ns_of", "facts_of", "source_of"]

_EPOCH_NS: Final = 10**18
_TOOLS: Final = ("rocprofiler-sdk_version", "roctracer_version", "cupti_version")
_KEPT: tuple[str, ...] = (
    "schemaVersion",
    "trace_id",
    "hip_runtime_version",
    "hip_driver_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    *_TOOLS,
)
_RANK: Final = ("backend", "rank", "world_size", "nccl_version")


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What events say that no row holds."""

    process_names: list[Event]
    hip_calls: bool
    cuda_calls: bool
    whole_thousands: bool
    """All times are integers that 1000 divides, and there are some."""


def facts_of(events: EventColumns) -> EventFacts:
    """Must be asked before the parser's columns are taken."""
    parser = events.parser
    naming = [decoded(text) for text in parser.process_names().decode().split("\0") if text]
    return EventFacts(naming, parser.hip_calls, parser.cuda_calls, parser.whole_thousands)


def source_of(path: Path, header: Event, facts: EventFacts, found: KinetoRows, findings: Findings) -> Source:
    """Provenance of the trace."""
    rows = found.columns
    vendor = _vendor(header, facts)
    stated_ns = header.get("displayTimeUnit") == "ns" and "baseTimeNanoseconds" not in header
    if stated_ns and facts.whole_thousands:
        findings.note(
            "Every time is a whole number of thousands: the writer may have stored ns where the format "
            "has us; times were read as us."
        )
    if vendor == "amd" and "roctracer_version" in header:
        findings.note(
            "Stream numbers of roctracer captures are HSA queues: several HIP streams can share one."
        )
    tool = [f"{key.removesuffix('_version')} {header[key]}" for key in _TOOLS if key in header]
    metadata: dict[str, str] = {key: str(header[key]) for key in _KEPT if key in header}
    distributed = header.get("distributedInfo")
    if isinstance(distributed, dict):
        metadata |= {key: str(distributed[key]) for key in _RANK if key in distributed}
    own = facts_in(header.get(ORIGIN_KEY))
    _count_dropped(own, findings)
    read = Source(
        files=(str(path),),
        format="kineto",
        vendor=vendor,
        tool=" ".join(["Kineto", *tool]),
        clock="epoch" if found.first_ns > _EPOCH_NS else "unknown",
        devices=_devices(header, rows),
        processes=_processes(facts.process_names, rows),
        metadata={**own, **metadata},
        faults=findings.faults,
        notes=tuple(findings.notes),
    )
    return with_exported(read, header)


def base_ns_of(header: Event, findings: Findings) -> int:
    """What all times of the file are relative to, in ns; 0 where it does not say."""
    given = header.get("baseTimeNanoseconds", 0)
    base_ns = integer(given)
    if base_ns != ABSENT:
        return base_ns
    findings.count(Fault.ROWS_REPAIRED)
    findings.note("baseTimeNanoseconds is no number: times were read as if it were 0.")
    return 0


def _count_dropped(own: Mapping[str, str], findings: Findings) -> None:
    """What the recording itself says that it lost."""
    dropped = integer(own.get("dropped records"), 0)
    if dropped > 0:
        findings.count(Fault.ROWS_SKIPPED, dropped)
        findings.note(f"{dropped} records were dropped while the trace was recorded.")


def _vendor(header: Event, facts: EventFacts) -> str:
    keys = " ".join(header)
    if "hip_" in keys or "roctracer" in keys or "rocprofiler" in keys:
        return "amd"
    if "cuda_" in keys or "cupti" in keys:
        return "nvidia"
    return "amd" if facts.hip_calls else "nvidia" if facts.cuda_calls else "unknown"


def _devices(header: Event, rows: Columns) -> dict[int, str]:
    """Names of the devices with ops; roctracer counts CPU agents too, so its numbers match no property."""
    properties = header.get("deviceProperties")
    given = [p for p in properties if isinstance(p, dict)] if isinstance(properties, list) else []
    names = {integer(p.get("id"), -1): str(p.get("name", "")) for p in given}
    ops = np.isin(rows["kind"], DEVICE_KINDS) & (rows["device"] != ABSENT_DEVICE)
    used = np.unique(rows["device"][ops]).tolist()
    if "roctracer_version" in header or not set(used) <= set(names):
        same = set(names.values())
        only = same.pop() if len(same) == 1 else ""
        return dict.fromkeys(used, only)
    return {device: names[device] for device in used}


def _processes(naming: list[Event], rows: Columns) -> dict[int, str]:
    host = np.unique(rows["process"][rows["kind"] == Kind.API]).tolist()
    names: dict[int, str] = {}
    for event in naming:
        args = event.get("args")
        process = integer(event.get("pid"), -1)
        if isinstance(args, dict) and process in host:
            names[process] = str(args.get("name", ""))
    return names
