"""Chrome trace JSON as torch.profiler (Kineto) writes it, on CUDA and on ROCm.

Times are microseconds whatever `displayTimeUnit` says, relative to `baseTimeNanoseconds` where it is given.
Host calls and device rows are joined by `args.correlation`; flow arrows are not used, because for calls
without device work they end on the host thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.chrome_json import read_chrome_json
from overlap_lab.loaders.content import HEAD_BYTES, head, plain_bytes
from overlap_lab.loaders.device_rows import adopt_processes, class_blit_kernels, fill_copies_from_calls
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.kineto_header import base_ns_of
from overlap_lab.loaders.kineto_raw import tell_decimal_commas
from overlap_lab.loaders.numbers import decimal_column, has_decimal_comma
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, Fault, Kind
from overlap_lab.trace import Column, Trace
from tests.reference_readers import kineto_columns as columns_of
from tests.reference_readers.kineto_header import source_of

__all__ = ["read_kineto", "sniff_kineto"]

_KINDS: Final = {
    "cuda_runtime": Kind.API,
    "cuda_driver": Kind.API,
    "hip_runtime": Kind.API,
    "runtime": Kind.API,
    "driver": Kind.API,
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.MEMCPY,
    "memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "memset": Kind.MEMSET,
    "cuda_sync": Kind.SYNC,
    "user_annotation": Kind.RANGE,
    "gpu_user_annotation": Kind.DEVICE_RANGE,
    "cpu_op": Kind.CPU_OP,
    "operator": Kind.CPU_OP,
    "python_function": Kind.PYTHON,
    "python": Kind.PYTHON,
    "overhead": Kind.OVERHEAD,
}
"""Category, in lower case, -> kind; the capital spellings are those of 2021."""
_LONG_HEAD: Final = 16 << 20
_SIGNS: Final = (b'"traceEvents"', b'"schemaVersion"', b'"deviceProperties"', b'"distributedInfo"', b'"ph"')
_FAR: Final = 1 << 62
_END: Final = "\0end"
"""Key of the end time in events that were joined from a begin and an end."""
_UNUSED: Final = frozenset(
    ("trace", "ac2g", "async_cpu_to_gpu", "fwdbwd", "cpu_instant_event", "overlap_lab", "")
)


def sniff_kineto(path: Path, start: bytes) -> bool:
    """True for JSON that starts like a Chrome trace; whether torch.profiler wrote it, `read_kineto` says."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] not in (b"{", b"["):
        return False
    if any(key in text for key in _SIGNS):
        return True
    longer = head(path, _LONG_HEAD) if len(start) >= HEAD_BYTES else b""  # other keys may come first
    return any(key in longer for key in _SIGNS)


def read_kineto(path: Path) -> Trace:
    """The trace in a Kineto file, plain or gzip."""
    findings = Findings()
    document = read_chrome_json(path, plain_bytes(path), findings)
    base_ns = base_ns_of(document.header, findings)
    tell_decimal_commas(sum(map(_has_comma, document.events)), findings)
    by_kind = _sorted_by_kind(path, document.events, findings)
    builder = TraceBuilder()
    labels: list[Column] = []
    for kind, events in by_kind.items():
        timed, start_ns, end_ns = _timed(events, base_ns, findings)
        if timed:
            labels.append(columns_of.labels(timed))
            builder.add(
                kind,
                [str(event.get("name", "")) for event in timed],
                start_ns=start_ns,
                end_ns=end_ns,
                **columns_of.columns(kind, timed),
            )
    rows = builder.columns()
    if not rows["kind"].size:
        raise BrokenTrace(f"{path}: no trace events with a readable time")
    _complete(rows, np.concatenate(labels), builder, findings)
    source = source_of(path, document.header, document.events, rows, findings)
    return builder.build(rows, source)


def _has_comma(event: Event) -> bool:
    """Whether a time of an event that may become a row is written with a decimal comma."""
    if event.get("ph") in ("B", "E"):
        return has_decimal_comma(event.get("ts"))
    known = event.get("ph") == "X" and str(event.get("cat", "")).lower() in _KINDS
    return known and any(has_decimal_comma(event.get(key)) for key in ("ts", "dur"))


def _sorted_by_kind(path: Path, events: list[Event], findings: Findings) -> dict[Kind, list[Event]]:
    by_kind: dict[Kind, list[Event]] = {}
    unused: dict[str, int] = {}
    for event in _paired(events, findings):
        category = str(event.get("cat", "")).lower()
        kind = _KINDS.get(category)
        if kind is not None:
            by_kind.setdefault(kind, []).append(event)
        elif category not in _UNUSED:
            unused[category] = unused.get(category, 0) + 1
    for category, count in unused.items():
        findings.note(f"{count} events of category {category!r} are of no known kind and were left out.")
    if not by_kind:
        if unused or any("ts" in event for event in events):
            raise UnknownFormat(
                f"{path}: Chrome JSON of another writer: no event has a category of torch.profiler's; "
                "record with torch.profiler, or with rocprofv3 -f rocpd"
            )
        skipped = findings.faults.get(Fault.ROWS_SKIPPED, 0)
        raise BrokenTrace(f"{path}: no trace events" + (f"; {skipped} could not be read" if skipped else ""))
    return by_kind


def _paired(events: list[Event], findings: Findings) -> list[Event]:
    """Events with a duration; begin and end events of a thread are joined."""
    complete = [event for event in events if event.get("ph") == "X"]
    open_events: dict[tuple[Any, Any], list[Event]] = {}
    lost = 0
    for event in events:
        phase = event.get("ph")
        if phase not in ("B", "E"):
            continue
        stack = open_events.setdefault((str(event.get("pid")), str(event.get("tid"))), [])
        if phase == "B":
            stack.append(event)
        elif stack:
            complete.append({**stack.pop(), _END: event.get("ts")})
        else:
            lost += 1
    lost += sum(map(len, open_events.values()))
    if lost:
        findings.count(Fault.ROWS_SKIPPED, lost)
        findings.note(f"{lost} begin or end events have no counterpart and were left out.")
    return complete


def _timed(events: list[Event], base_ns: int, findings: Findings) -> tuple[list[Event], Column, Column]:
    """Events with a readable time, and their start and end in ns."""
    start = decimal_column([event.get("ts") for event in events])
    length = decimal_column([event.get("dur", 0) for event in events])
    for row in [row for row, event in enumerate(events) if _END in event]:
        [end] = decimal_column([events[row][_END]]).tolist()
        length[row] = end - int(start[row]) if ABSENT not in (end, start[row]) else ABSENT
    good = (start != ABSENT) & (length != ABSENT) & _fits(start, base_ns) & _fits(length, 0)
    lost = int((~good).sum())
    if lost:
        findings.count(Fault.ROWS_SKIPPED, lost)
        findings.note(f"{lost} events without a readable time were left out.")
        events = [event for event, kept in zip(events, good.tolist(), strict=True) if kept]
    start_ns = start[good] + (base_ns if good.any() else 0)
    return events, start_ns, start_ns + length[good]


def _fits(times: Column, base_ns: int) -> Column:
    """Where adding the base, and a duration, stays within int64."""
    if abs(base_ns) >= _FAR:
        return np.zeros(len(times), bool)
    return (times < _FAR - base_ns) & (times > -_FAR - base_ns)


def _complete(rows: Columns, labels: Column, builder: TraceBuilder, findings: Findings) -> None:
    """Fill in, in place, what only other rows of the file know."""
    calls = rows["kind"] == Kind.API
    processes = np.unique(rows["process"][calls])
    if processes.size == 1:  # frames whose process the profiler did not know are filed under 0
        strays = (rows["kind"] == Kind.PYTHON) & (rows["process"] == 0)
        rows["process"][strays] = processes[0]
    columns_of.part_merged_devices(rows, labels, findings)
    columns_of.fill_devices(rows, labels)
    adopt_processes(rows, labels)
    class_blit_kernels(rows, builder.names(), findings)
    fill_copies_from_calls(rows)
    if processes.size > 1:
        findings.note(
            f"{processes.size} processes in one file: an op belongs to the process whose calls have its id."
        )
    if (rows["process"] == ABSENT_PROCESS).any() and processes.size:
        findings.note("Some device rows could not be given to a process.")
