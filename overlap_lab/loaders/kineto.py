"""Chrome trace JSON as torch.profiler (Kineto) writes it, on CUDA and on ROCm.

Times are microseconds whatever `displayTimeUnit` says, relative to `baseTimeNanoseconds` where it is given.
Host calls and device rows are joined by `args.correlation`; flow arrows are not used, because for calls
without device work they end on the host thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.content import HEAD_BYTES, head
from overlap_lab.loaders.device_rows import adopt_processes, class_blit_kernels, fill_copies_from_calls
from overlap_lab.loaders.exported import put_back_threads
from overlap_lab.loaders.kineto_devices import fill_devices, part_merged_devices
from overlap_lab.loaders.kineto_events import read_events
from overlap_lab.loaders.kineto_header import base_ns_of, facts_of, source_of
from overlap_lab.loaders.kineto_rows import KinetoRows, kineto_rows
from overlap_lab.loaders.kineto_trace import ordered_trace
from overlap_lab.schema import ABSENT_PROCESS, Kind
from overlap_lab.trace import Trace

__all__ = ["read_kineto", "sniff_kineto"]

_LONG_HEAD: Final = 16 << 20
_SIGNS: Final = (b'"traceEvents"', b'"schemaVersion"', b'"deviceProperties"', b'"distributedInfo"', b'"ph"')


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
    events = read_events(path, findings)
    facts = facts_of(events)
    base_ns = base_ns_of(events.header, findings)
    rows = kineto_rows(path, events.parser, base_ns, findings)
    put_back_threads(events.header, findings, rows.raw.columns, rows.columns)
    _complete(rows, findings)
    source = source_of(path, events.header, facts, rows, findings)
    return ordered_trace(rows, source)


def _complete(found: KinetoRows, findings: Findings) -> None:
    """Fill in, in place, what only other rows of the file know."""
    rows, labels = found.columns, found.labels
    processes = np.unique(rows["process"][rows["kind"] == Kind.API])
    if processes.size == 1:
        found.frame_process = int(processes[0])
    part_merged_devices(rows, labels, findings)
    fill_devices(rows, labels)
    adopt_processes(rows, labels)
    class_blit_kernels(rows, found.names, findings)
    fill_copies_from_calls(rows)
    _tell_processes(found, processes.size, findings)


def _tell_processes(found: KinetoRows, processes: int, findings: Findings) -> None:
    if processes > 1:
        findings.note(
            f"{processes} processes in one file: an op belongs to the process whose calls have its id."
        )
    if processes and (found.host_without_process or (found.columns["process"] == ABSENT_PROCESS).any()):
        findings.note("Some device rows could not be given to a process.")
