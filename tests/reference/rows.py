"""Rows of random traces as dictionaries, and the Trace that they make."""

from __future__ import annotations

from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, CopyKind, Memory
from overlap_lab.trace import Source, Trace

__all__ = ["Row", "trace_of"]

TICK_NS = 1_000
NAMES = {api: f"api_{api.name.lower()}" for api in Api}
Row = dict[str, int]


def trace_of(rows: list[Row], source: Source) -> Trace:
    names = tuple(NAMES.values())
    columns = {
        "kind": [row["kind"] for row in rows],
        "api": [row.get("api", Api.NONE) for row in rows],
        "name": [row.get("api", -1) for row in rows],
        "start_ns": [row["start"] * TICK_NS for row in rows],
        "end_ns": [row["end"] * TICK_NS for row in rows],
        "process": [row["process"] for row in rows],
        "thread": [row.get("thread", ABSENT) for row in rows],
        "device": [row.get("device", ABSENT_DEVICE) for row in rows],
        "stream": [row.get("stream", ABSENT) for row in rows],
        "correlation": [row["correlation"] for row in rows],
        "wait_correlation": [row.get("wait_correlation", 0) for row in rows],
        "copy_kind": [row.get("copy_kind", CopyKind.UNKNOWN) for row in rows],
        "memory": [row.get("memory", Memory.UNKNOWN) for row in rows],
        "graph": [row.get("graph", ABSENT) for row in rows],
    }
    return Trace.from_columns(columns, names=names, source=source)
