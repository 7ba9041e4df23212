"""What the header of a Kineto file says about where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer
from overlap_lab.schema import ABSENT_DEVICE, DEVICE_KINDS, Kind
from overlap_lab.trace import Source

__all__ = ["source_of"]

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


def source_of(path: Path, header: Event, events: list[Event], rows: Columns, findings: Findings) -> Source:
    """Provenance of the trace; `events` only for the names of processes."""
    vendor = _vendor(header, events)
    if _looks_like_ns(header, events):
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
    starts = rows["start_ns"]
    return Source(
        files=(str(path),),
        format="kineto",
        vendor=vendor,
        tool=" ".join(["Kineto", *tool]),
        clock="epoch" if starts.size and int(starts.min()) > _EPOCH_NS else "unknown",
        devices=_devices(header, rows),
        processes=_processes(events, rows),
        metadata=metadata,
        faults=findings.faults,
        notes=tuple(findings.notes),
    )


def _vendor(header: Event, events: list[Event]) -> str:
    keys = " ".join(header)
    if "hip_" in keys or "roctracer" in keys or "rocprofiler" in keys:
        return "amd"
    if "cuda_" in keys or "cupti" in keys:
        return "nvidia"
    calls = {
        str(e.get("name", ""))[:3]
        for e in events
        if str(e.get("cat", "")).lower() in ("cuda_runtime", "runtime")
    }
    return "amd" if "hip" in calls else "nvidia" if "cud" in calls else "unknown"


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


def _processes(events: list[Event], rows: Columns) -> dict[int, str]:
    host = np.unique(rows["process"][rows["kind"] == Kind.API]).tolist()
    names: dict[int, str] = {}
    for event in events:
        args = event.get("args")
        if event.get("name") == "process_name" and isinstance(args, dict):
            process = integer(event.get("pid"), -1)
            if process in host:
                names[process] = str(args.get("name", ""))
    return names


def _looks_like_ns(header: Event, events: list[Event]) -> bool:
    if header.get("displayTimeUnit") != "ns" or "baseTimeNanoseconds" in header:
        return False
    times: list[Any] = [e[key] for e in events if e.get("ph") == "X" for key in ("ts", "dur") if key in e]
    return bool(times) and all(isinstance(t, int) and t % 1000 == 0 for t in times)
