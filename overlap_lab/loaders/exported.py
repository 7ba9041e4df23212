"""What our own exports keep about the trace that they were made of."""

from __future__ import annotations

from dataclasses import replace

from overlap_lab.loaders.building import Columns
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer
from overlap_lab.schema import EXPORTED_KEY, THREADS_KEY
from overlap_lab.source_json import source_from_json
from overlap_lab.trace import Source

__all__ = ["put_back_threads", "with_exported"]


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


def put_back_threads(header: Event, *tables: Columns) -> None:
    """Give the rows that an export put on a further lane of their thread that thread again, in place."""
    lanes = header.get(THREADS_KEY)
    for lane, thread in lanes.items() if isinstance(lanes, dict) else ():
        number, recorded = integer(lane), integer(thread)
        for columns in tables:
            rows = columns["thread"] == number
            if rows.any():
                columns["thread"][rows] = recorded
