"""Small Kineto documents for the loaders' tests: events by hand, spelled as a test wants them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from overlap_lab.loaders import load
from overlap_lab.trace import Trace

__all__ = ["call", "device_op", "document", "load_events", "load_text"]


def call(
    name: str, ts: object, dur: object = "5.000", *, correlation: object = 1, **args: Any
) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": name, "pid": 100, "tid": 101, "ts": ts, "dur": dur,
        "args": {"correlation": correlation, **args},
    }  # fmt: skip


def device_op(
    cat: str,
    name: str,
    ts: object,
    dur: object = "50.000",
    *,
    correlation: object = 1,
    device: int = 0,
    **args: Any,
) -> dict[str, Any]:
    return {
        "ph": "X", "cat": cat, "name": name, "pid": device, "tid": 7, "ts": ts, "dur": dur,
        "args": {"device": device, "stream": 7, "correlation": correlation, **args},
    }  # fmt: skip


def document(events: list[Any], **header: Any) -> str:
    return json.dumps({"schemaVersion": 1, **header, "traceEvents": events})


def load_text(folder: Path, text: str | bytes, name: str = "trace.json") -> Trace:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path)


def load_events(folder: Path, *events: Any, **header: Any) -> Trace:
    return load_text(folder, document(list(events), **header))
