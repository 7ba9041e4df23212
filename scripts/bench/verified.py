"""A check that a repeated capture is what it should be: well-formed, and N times the original's numbers."""

from __future__ import annotations

import json
from pathlib import Path

from overlap_lab import analyze, load
from overlap_lab.schema import Kind
from scripts.bench.repeated_json import repeat_kineto
from scripts.bench.repeated_text import Unrepeatable

__all__ = ["numbers_of", "verify_kineto"]

_SEEN: set[Path] = set()
_COPIES = 2


def verify_kineto(capture: Path, folder: Path) -> None:
    """Raise Unrepeatable unless two copies hold twice what the capture holds; once for each capture."""
    if capture in _SEEN:
        return
    path = folder / "verified.json"
    repeat_kineto(capture, path, _COPIES)
    try:
        json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"), strict=False)
    except json.JSONDecodeError as error:
        raise Unrepeatable(f"{_COPIES} copies are no JSON: {error}") from error
    found, expected = numbers_of(path), {name: _COPIES * n for name, n in numbers_of(capture).items()}
    path.unlink()
    if found != expected:
        raise Unrepeatable(f"{_COPIES} copies have {found}, not {expected}")
    _SEEN.add(capture)


def numbers_of(path: Path) -> dict[str, int]:
    """Rows, kernels and device operations, and the busy time of all devices."""
    trace = load(path)
    report = analyze(trace)
    busy = [m for m in report.measurements if m.tag == "device/busy" and m.value is not None]
    scoped = [m for m in busy if m.scope] or busy
    return {
        "rows": len(trace),
        "kernels": int((trace.kind == Kind.KERNEL).sum()),
        "device rows": int(trace.is_device.sum()),
        "busy_ns": sum(int(m.value or 0) for m in scoped),
    }
