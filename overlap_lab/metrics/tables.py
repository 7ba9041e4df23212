"""The tables of a report: waits, drains, idle time, and totals by stream, thread, device, fault and call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Rows, order, sum_of_each
from overlap_lab.intervals import clip
from overlap_lab.metrics.blocking import calls_inside, host_threads, threads_by_tag
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.drained import waited_devices
from overlap_lab.metrics.drains import device_drains, drains_inside, stream_drains
from overlap_lab.metrics.idle import device_idle, idle_segments
from overlap_lab.metrics.overlap import overlap
from overlap_lab.metrics.places import around_waits, lines_around_waits, names_of, relative_start_ns
from overlap_lab.metrics.run_ahead import twice_median_lead
from overlap_lab.metrics.waits import REASONS
from overlap_lab.quality import Quality
from overlap_lab.report import Cell, Coded, Column, ColumnRows, Difference, Table
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    EARLIEST_NS,
    LATEST_NS,
    LONGEST_NS,
    Kind,
)

__all__ = ["calls_table", "tables_of", "waits_inside"]

_Places = Sequence[npt.NDArray[np.object_]]
"""For each wait the range, the framework op and the Python frame around it."""


def tables_of(context: Context, faults: Quality) -> dict[str, Table]:
    """Every table but `steps`; times count from the trace's first moment unless the name says absolute."""
    ranges, framework_ops = (around_waits(context, kind) for kind in (Kind.RANGE, Kind.CPU_OP))
    places = tuple(map(_cells, (ranges, framework_ops, lines_around_waits(context))))
    waits = _waits_table(context, places)
    return {
        "waits": waits,
        "calls_by_cause": calls_table(waits),
        "drains": _drains_table(context, places),
        "idle": _idle_table(context),
        "devices": _devices_table(context),
        "streams": _streams_table(context),
        "threads": _threads_table(context),
        "quality": _quality_table(faults),
    }


def table(columns: str, rows: Iterable[Sequence[Cell]], title: str) -> Table:
    """A table from "name:unit name:unit" and rows."""
    return Table(_named(columns), tuple(tuple(row) for row in rows), title)


def _named(columns: str) -> tuple[Column, ...]:
    return tuple(Column(*column.split(":")) for column in columns.split())


def _cells(values: Sequence[Cell]) -> npt.NDArray[np.object_]:
    """The values as they are, in an array."""
    return np.array(values, object)


def _known(values: Ints, absent: int) -> npt.NDArray[np.object_]:
    """The values, None for those that are absent."""
    cells = values.astype(object)
    cells[values == absent] = None
    return cells


def _waits_table(context: Context, places: _Places) -> Table:
    """One row for each wait, of which some part lies in the window."""
    waits, trace = context.waits, context.trace
    start, end = clip(waits.counted_from, waits.end, context.window)
    keep = waits_inside(context)
    bound = np.clip(waits.bound_end, start, end)
    zero = relative_start_ns(context)
    device, drained, terminal, idle = _consequences(context)
    rows = waits.row[keep]
    rows_of_waits = ColumnRows(
        waits.start[keep] - zero,
        waits.end[keep] - zero,
        waits.start[keep],
        _known(trace.process[rows].astype(np.int64), ABSENT_PROCESS),
        _known(trace.thread[rows], ABSENT),
        _cells(names_of(trace, rows)),
        np.array([str(reason) for reason in REASONS], object)[waits.reason[keep]],
        waits.explicit[keep],
        (end - start)[keep],
        (bound - start)[keep],
        (end - bound)[keep],
        _known(device[keep], ABSENT_DEVICE),
        drained[keep],
        terminal[keep],
        idle[keep],
        *(names[keep] for names in places),
    )
    columns = (
        "start:ns end:ns start_absolute:ns process:id thread:id call:text reason:text explicit:text "
        "blocked:ns device_bound:ns return_latency:ns device:id drained:text terminal:text idle_caused:ns "
        "range:text op:text frame:text"
    )
    return Table(_named(columns), rows_of_waits, "Waits")


def waits_inside(context: Context) -> Ints:
    """The wait of each row of the table of waits."""
    waits = context.waits
    start, end = clip(waits.counted_from, waits.end, context.window)
    instant = (waits.end == waits.start) & _inside(context, waits.start, waits.end)
    return np.flatnonzero((end > start) | instant)


def _consequences(context: Context) -> tuple[Ints, Mask, Mask, Ints]:
    """Per wait: the first device it waited for, whether it drained one, whether terminally, idle caused."""
    size = context.waits.row.size
    device = np.full(size, ABSENT_DEVICE, np.int64)
    wait, number = waited_devices(context.ops, context.waits)
    last_first = order(wait, number, descending=0b10)
    device[wait[last_first]] = number[last_first]
    drained, terminal = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    idle = np.zeros(size, np.int64)
    for drains in context.drains.values():
        first, last = clip(drains.start, drains.end, context.window)
        drained[drains.wait[last > first]] = True  # as drain/count: a gap past the window is not its drain
        terminal[drains.terminal_waits] = True
        np.add.at(idle, drains.wait, last - first)
    return device, drained, terminal, idle


def calls_table(waits: Table) -> Table:
    """Waits by call, reason and place, the costliest first."""
    names = [column.name for column in waits.columns]
    columns = dict(zip(names, _columns(waits), strict=True))
    keys, code = _numbered([columns[name] for name in ("call", "reason", "range", "op")])
    sums = [
        np.bincount(code, minlength=len(keys)).tolist(),
        *(
            sum_of_each(code, np.array(columns[name], np.int64), len(keys)).tolist()
            for name in ("blocked", "drained", "idle_caused")
        ),
    ]
    rows = [(*key[:2], *total, *key[2:]) for key, *total in zip(keys, *sums, strict=True)]
    rows.sort(key=lambda row: (-int(row[5] or 0), -int(row[3] or 0), str(row)))
    return table(
        "call:text reason:text count:count blocked:ns drains:count idle_caused:ns range:text op:text",
        rows,
        "What blocks",
    )


def _columns(table: Table) -> list[list[Cell]]:
    """The cells of a table by column."""
    if isinstance(table.rows, ColumnRows):
        return table.rows.columns()
    return [list(column) for column in zip(*table.rows, strict=True)] or [[] for _ in table.columns]


def _numbered(columns: list[list[Cell]]) -> tuple[list[tuple[Cell, ...]], Ints]:
    """Distinct rows as they come, and the number of each row among them."""
    keys = list(dict.fromkeys(zip(*columns, strict=True)))
    number = {key: place for place, key in enumerate(keys)}
    rows = zip(*columns, strict=True)
    return keys, np.fromiter(map(number.__getitem__, rows), np.int64, len(columns[0]))


def _drains_table(context: Context, places: _Places) -> Table:
    """One row for each device drain with idle time in the window; its parts are those of the whole gap."""
    zero = relative_start_ns(context)
    rows: list[Sequence[Cell]] = []
    for device, drains in context.drains.items():
        keep = np.flatnonzero(drains_inside(drains, context.window))
        wait = drains.wait[keep]
        call = context.waits.row[wait]
        lead, recovery = _lead_and_recovery(context, device, context.waits.start[wait], keep)
        columns: list[Sequence[Cell]] = [
            [None if device == ABSENT_DEVICE else device] * keep.size,
            (drains.start[keep] - zero).tolist(),
            (drains.end[keep] - zero).tolist(),
            (drains.end - drains.start)[keep].tolist(),
            (drains.returned - drains.start)[keep].tolist(),
            (drains.enqueued - drains.returned)[keep].tolist(),
            (drains.end - drains.enqueued)[keep].tolist(),
            names_of(context.trace, call),
            *(names[wait].tolist() for names in places),
            lead,
            recovery,
        ]
        rows += zip(*columns, strict=True)
    return table(
        "device:id start:ns end:ns idle:ns return:ns refill:ns launch:ns call:text range:text op:text "
        "frame:text run_ahead_before:ns recovery:ns",
        rows,
        "Drains",
    )


def _lead_and_recovery(
    context: Context, device: int, called: Ints, keep: Ints
) -> tuple[list[int | None], list[int | None]]:
    """Run-ahead of the last op enqueued before each wait, and the time from its return until an op starts
    with at least the median run-ahead."""
    none: list[int | None] = [None] * keep.size
    ops = context.ops.lent(context.devices[device])
    twice_median = twice_median_lead(context, device)
    if twice_median is None or keep.size == 0:
        return none, none
    drains = context.drains[device]
    waits = called, drains.end[keep], drains.returned[keep]
    before, recovery = native.recoveries(ops, waits, twice_median, ABSENT)
    return _known(before, ABSENT).tolist(), _known(recovery, ABSENT).tolist()


def _idle_table(context: Context) -> Table:
    zero = relative_start_ns(context)
    words = np.array([str(cause) for cause in CAUSES], object)
    found = [idle_segments(context, device) for device in context.devices]
    numbers = [None if device == ABSENT_DEVICE else device for device in context.devices]
    device = np.repeat(np.arange(len(found), dtype=np.int16), [each.start.size for each in found])
    start, end = (_joined([getattr(each, name) for each in found]) for name in ("start", "end"))
    cause = np.concatenate([np.zeros(0, np.uint8), *(each.cause for each in found)])
    rows = ColumnRows(
        Coded(_cells(numbers), device),
        Difference(start, zero),
        Difference(end, zero),
        Difference(end, start),
        Coded(words, cause),
    )
    return Table(_named("device:id start:ns end:ns idle:ns cause:text"), rows, "Idle time by cause")


def _joined(columns: list[Ints]) -> Ints:
    return columns[0] if len(columns) == 1 else np.concatenate([np.zeros(0, np.int64), *columns])


def _devices_table(context: Context) -> Table:
    rows: list[Sequence[Cell]] = []
    for device in context.devices:
        values = device_idle(context, device) | device_drains(context, device) | overlap(context, device)
        number = None if device == ABSENT_DEVICE else device
        name = context.trace.source.devices.get(device)
        tags = ("device/window", "device/busy", "device/idle", "device/gaps")
        more = ("drain/count", "drain/terminal", "drain/idle", "overlap/ratio", "overlap/ratio_literal")
        told = context.links.host.size > 0
        cells = [values[tag] for tag in tags] + [values[tag] if told else None for tag in more]
        rows.append((number, name, _count_inside(context, context.devices[device].index), *cells))
    return table(
        "device:id name:text ops:count window:ns busy:ns idle:ns gaps:count drains:count "
        "terminal_drains:count drain_idle:ns overlap:ratio overlap_literal:ratio",
        rows,
        "Devices",
    )


def _count_inside(context: Context, index: Rows) -> int:
    """How many of these ops have some part in the window."""
    if context.window is None:
        return int(index.size)
    return int(_ops_inside(context)[index].sum())


def _ops_inside(context: Context) -> Mask:
    """Per op whether some part of it lies in the window, as its busy time does."""
    return _inside(context, context.ops.start, context.ops.end)


def _inside(context: Context, start: Ints, end: Ints) -> Mask:
    """Per span whether some part of it lies in the window; one without length lies where it starts."""
    first, last = context.window or (EARLIEST_NS, LATEST_NS + LONGEST_NS)
    return np.asarray((start < last) & ((end > first) | ((start == end) & (start >= first))))


def _ops_by_place(context: Context) -> list[int]:
    """Ops with some part in the window, by place."""
    place = context.links.place
    mine = place if context.window is None else place[_ops_inside(context)]
    counts: list[int] = np.bincount(mine, minlength=context.links.places.part.size).tolist()
    return counts


def _streams_table(context: Context) -> Table:
    rows: list[Sequence[Cell]] = []
    ops, links = context.ops, context.links
    limits = context.window or (EARLIEST_NS, LATEST_NS + LONGEST_NS)
    busy = native.busy_by_place(ops.start, ops.end, links.place, links.places.part.size, *limits)
    ran = _ops_by_place(context)
    places: dict[tuple[int, int], list[int]] = {}
    streams = zip(links.places.device.tolist(), links.places.stream.tolist(), strict=True)
    for place, of_device in enumerate(streams):
        places.setdefault(of_device, []).append(place)
    for (device, stream), lanes in context.stream_drains.items():
        values = stream_drains(context, lanes)
        its = places[device, stream]
        counts = (sum(ran[place] for place in its), sum(busy[place] for place in its))
        number = None if device == ABSENT_DEVICE else device
        rows.append((number, stream, *counts, values["stream/drain/count"], values["stream/drain/idle"]))
    return table("device:id stream:id ops:count busy:ns drains:count drain_idle:ns", rows, "Streams")


def _threads_table(context: Context) -> Table:
    thread, sample = host_threads(context)
    values = threads_by_tag(context)
    tags = (
        "host/blocked",
        "host/blocked/explicit",
        "host/blocked/implicit",
        "host/blocked/device_bound",
        "host/blocked/return_latency",
        "host/unknown_wait",
        "host/redundant_waits",
        "host/polling_calls",
        "host/polling_time",
    )
    trace = context.trace
    made = context.links.host_thread
    if context.window is not None:
        made = made[calls_inside(context, np.arange(made.size, dtype=np.int32))]
    calls = np.bincount(made, minlength=max(sample.size, 1))
    columns: list[Sequence[Cell]] = [
        _known(trace.process[sample].astype(np.int64), ABSENT_PROCESS).tolist(),
        _known(trace.thread[sample], ABSENT).tolist(),
        calls[thread].tolist(),
        *(values[tag][thread].tolist() for tag in tags),
    ]
    return table(
        "process:id thread:id calls:count blocked:ns explicit:ns implicit:ns device_bound:ns "
        "return_latency:ns unknown_wait:ns redundant_waits:count polling_calls:count polling_time:ns",
        zip(*columns, strict=True),
        "Threads",
    )


def _quality_table(faults: Quality) -> Table:
    rows = [(str(fault), count, faults.share(fault)) for fault, count in faults.count.items()]
    return table("fault:text count:count share:ratio", rows, "Trace quality")
