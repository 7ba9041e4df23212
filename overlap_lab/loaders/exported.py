"""What our own exports keep about the trace that they were made of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import numpy as np

from overlap_lab.columns import count_before, gather
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.json_text import Event
from overlap_lab.schema import EXPORTED_KEY, THREADS_KEY, Fault
from overlap_lab.source_json import source_from_json
from overlap_lab.trace import Source

__all__ = ["put_back_threads", "with_exported"]

_LANE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_INT64: Final = np.iinfo(np.int64)


def with_exported(read: Source, header: Event) -> Source:
    """The source as it was when the trace was exported, with what reading the export found.

    The source as it was read where the header has none, or none that is whole, which is noted.
    """
    if EXPORTED_KEY not in header:
        return read
    try:
        before = source_from_json(header[EXPORTED_KEY])
    except (ValueError, RecursionError) as error:
        return replace(read, notes=(*read.notes, f"Where this export came from cannot be read: {error}."))
    faults = dict(before.faults)
    for fault, count in read.faults.items():
        faults[fault] = faults.get(fault, 0) + count
    origin = ", ".join(before.files) or "a trace in memory"
    notes = (*before.notes, f"Exported by overlap_lab from {origin}.", *read.notes)
    return replace(before, files=read.files, faults=faults, notes=notes)


def put_back_threads(header: Event, findings: Findings, *tables: Columns) -> None:
    """Give the rows that an export put on a further lane of their thread that thread again, in place.

    What is not written as our exports write it is counted, and leaves the rows of its lane as they are.
    """
    lanes = _thread_of_lane(header[THREADS_KEY], findings) if THREADS_KEY in header else {}
    if not lanes:
        return
    known = np.array(sorted(lanes), np.int64)
    threads = np.array([lanes[lane] for lane in known.tolist()], np.int64)
    for columns in tables:
        recorded = columns["thread"]
        at = np.minimum(count_before(known, recorded), known.size - 1)
        is_lane = gather(known, at) == recorded
        if is_lane.any():
            columns["thread"] = np.where(is_lane, gather(threads, at), recorded)


def _thread_of_lane(given: Any, findings: Findings) -> dict[int, int]:
    entries = list(given.items()) if isinstance(given, dict) else [(None, given)]
    found: dict[int, int] = {}
    for lane, thread in entries:
        whole = isinstance(thread, int) and not isinstance(thread, bool)
        if whole and isinstance(lane, str) and _LANE.fullmatch(lane) and _INT64.min <= thread <= _INT64.max:
            found[int(lane)] = thread
    bad = len(entries) - len(found)
    if bad:
        findings.count(Fault.ROWS_REPAIRED, bad)
        findings.note(f"{THREADS_KEY} does not say of {bad} lanes which thread's they are: each is a thread.")
    return found
