"""What is wrong with a trace: counted, and repaired where the truth is certain enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Rows,
    code_bits,
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    order,
)
from overlap_lab.intervals import last_below, spread
from overlap_lab.link import OWNERS, Link
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    NO_CORRELATION,
    Api,
    Fault,
)
from overlap_lab.trace import Trace

__all__ = [
    "CORRUPT_OVERLAP_NS",
    "JITTER_NS",
    "Quality",
    "launches_without_op",
    "negative_rows_closed",
    "overlong_ops_clipped",
    "overruns",
]

JITTER_NS = 1_000
"""Ops of one stream may overlap by this much: timestamps are not better."""
CORRUPT_OVERLAP_NS = 50_000
"""An op that runs further over its successor, or over a proven end, has a corrupt duration."""

_NEVER = np.iinfo(np.int64).max
_FROM_LOADER = (Fault.ROWS_REPAIRED, Fault.ROWS_SKIPPED, Fault.TRUNCATED)


@dataclass(frozen=True, slots=True, eq=False)
class Overruns:
    """How ops of one stream run past the start of the next one."""

    overlaps: int
    """How many do by more than jitter, but not by so much that they must be corrupt."""
    op: Rows
    """Ops that do by more, and those that none follows."""
    over: Ints
    """ns by which each does."""
    following: Ints
    """Start of the next op; the largest integer where there is none."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Faults of a trace by count, each with the number of things that could have had it."""

    count: Mapping[Fault, int]
    out_of: Mapping[Fault, int]
    cut_ns: int
    """Device time that clipping removed."""

    def share(self, fault: Fault) -> float | None:
        """Count divided by what could have had the fault; None where nothing could."""
        total = self.out_of[fault]
        return self.count[fault] / total if total else None


def negative_rows_closed(trace: Trace) -> Trace:
    """Rows that end before they start get length zero at their start."""
    if not native.any_below(trace.end_ns, trace.start_ns):
        return trace
    return trace.replace(end_ns=np.maximum(trace.start_ns, trace.end_ns))


def overlong_ops_clipped(trace: Trace, links: Link, runs: Overruns) -> Trace:
    """Ops that run over 50 us into their successor, or past the sync that proves them complete, are cut."""
    asked, over, following = runs.op, runs.over, runs.following
    end = trace.end_ns[links.op[asked]]
    believable, certain = _proven_end(trace, links, asked)
    # A sync of another device proves nothing, so an op without a successor is cut only at a certain proof.
    last = following == _NEVER
    believable = np.where(last, certain, believable)
    past_proof = last & (end > _saturated_add(certain, CORRUPT_OVERLAP_NS))
    corrupt = (over > CORRUPT_OVERLAP_NS) | past_proof
    if not bool(corrupt.any()):
        return trace
    cut = np.where(corrupt, np.minimum(end, np.minimum(following, believable)), end)
    fixed = trace.end_ns.copy()
    fixed[links.op[asked]] = cut
    return trace.replace(end_ns=fixed)


def quality(recorded: Trace, repaired: Trace, links: Link, runs: Overruns) -> Quality:
    """Every fault of the trace as recorded, `runs` too; `repaired` is what the repairs above made of it."""
    ops, calls = links.op, links.host
    end = links.end if recorded.end_ns is repaired.end_ns else gather(recorded.end_ns, ops)
    rows = (calls, ops, links.caller, links.start, end, links.enqueue)
    unlinked, inverted, empty, graph = native.op_faults(recorded, *rows, Api.GRAPH_LAUNCH, ABSENT)
    owning, copies, bare_copies, lost = _faulty_calls(recorded, links)
    cut, negative = _cuts(recorded, repaired, links)
    count = {
        Fault.UNLINKED_OPS: unlinked,
        Fault.LAUNCHES_WITHOUT_OP: int(lost.size),
        Fault.ID_REUSED: _reused_ids(recorded, links),
        Fault.INVERTED: inverted,
        Fault.NEGATIVE_DURATION: negative,
        Fault.ZERO_DURATION: empty,
        Fault.CLIPPED: cut.size,
        Fault.STREAM_OVERLAP: runs.overlaps,
        Fault.NO_STREAM: int((links.stream == ABSENT).sum()),
        Fault.GRAPH_OPS: graph,
        Fault.COPIES_WITHOUT_RECORD: bare_copies,
        Fault.NO_HOST_RECORDS: int(calls.size == 0),
        Fault.NO_DEVICE_RECORDS: int(ops.size == 0),
    }
    for fault, more in recorded.source.faults.items():
        count[fault] = count.get(fault, 0) + more
    size = len(recorded)
    out_of = dict.fromkeys(Fault, int(ops.size)) | {
        Fault.LAUNCHES_WITHOUT_OP: owning - copies,
        Fault.ID_REUSED: owning,
        Fault.NEGATIVE_DURATION: size,
        Fault.ROWS_REPAIRED: size,
        Fault.ROWS_SKIPPED: size + count.get(Fault.ROWS_SKIPPED, 0),
        Fault.COPIES_WITHOUT_RECORD: copies,
        Fault.TRUNCATED: 1,
        Fault.NO_HOST_RECORDS: 1,
        Fault.NO_DEVICE_RECORDS: 1,
    }
    return Quality({fault: count.get(fault, 0) for fault in Fault}, out_of, int(cut.sum()))


def _cuts(recorded: Trace, repaired: Trace, links: Link) -> tuple[Ints, int]:
    """What was cut off each op that was clipped, and how many rows end before they start."""
    if recorded.end_ns is repaired.end_ns:
        return np.zeros(0, np.int64), 0
    negative = recorded.end_ns < recorded.start_ns
    cut = recorded.end_ns[links.op] - repaired.end_ns[links.op]
    return cut[(cut > 0) & ~negative[links.op]], int(negative.sum())


def launches_without_op(trace: Trace, links: Link) -> Rows:
    """Kernel, graph, async copy and memset calls, by index, that should own an op and do not."""
    return _faulty_calls(trace, links)[3]


def _faulty_calls(trace: Trace, links: Link) -> tuple[int, int, int, Rows]:
    if not links.faults:
        captured = None if links.captured is None else links.captured.view(np.uint8)
        calls = links.host, links.outer, links.last_op, captured
        links.faults.append(native.call_faults(trace, *calls, code_bits(OWNERS), Api.MEMCPY))
    return links.faults[0]


def _reused_ids(trace: Trace, links: Link) -> int:
    """How many ids two or more enqueue calls of one process carry, nested calls not counted."""
    if not links.ids_repeat:
        return 0
    calls = links.calls_of(trace, OWNERS)
    rows = links.host[calls[links.outer[calls] == calls]]
    rows = rows[gather(trace.correlation, rows) != NO_CORRELATION]
    key = dense_codes(gather(trace.part, rows), gather(trace.process, rows), gather(trace.correlation, rows))
    return int((np.bincount(key) > 1).sum()) if key.size else 0


def overruns(links: Link, end: Ints) -> Overruns:
    """How ops, which end then, run past the start of the next op of their stream."""
    in_turn = (links.places.stream != ABSENT).astype(int).tolist()
    limits = JITTER_NS, CORRUPT_OVERLAP_NS
    return Overruns(*native.overruns(links.start, end, links.place, in_turn, *limits))


def _proven_end(trace: Trace, links: Link, asked: Rows) -> tuple[Ints, Ints]:
    """Per op asked for the earliest return, after its start, of a device or context sync of its process that
    covers its device and began after its enqueue call did; the largest integer where there is none.

    Twice: of all such syncs, and of those that can mean no other device. One that names no device covers all
    that its thread feeds, else its process.
    """
    proof, certain = (np.full(asked.size, _NEVER, np.int64) for _ in range(2))
    apis = code_bits((Api.DEVICE_SYNC, Api.CONTEXT_SYNC))
    if asked.size == 0 or not apis & links.apis:
        return proof, certain
    syncs = native.calls_among(trace, links.host, apis, None)
    sync, device, only = _covered(trace, links, syncs)
    rows, own = links.host[sync], links.place[asked]
    place = dense_codes(
        trace.part[np.concatenate((rows, links.op[asked]))],
        np.concatenate((trace.process[rows], links.places.process[own])),
        np.concatenate((device, links.places.device[own])),
    )
    sync_place, op_place = place[: sync.size], place[sync.size :]
    for one in np.unique(sync_place).tolist():
        here = sync_place == one
        ops = np.flatnonzero(op_place == one)
        times = links.enqueue[asked[ops]], links.start[asked[ops]]
        proof[ops] = _first_return(trace, rows[here], *times)
        certain[ops] = _first_return(trace, rows[here & only], *times)
    return proof, certain


def _first_return(trace: Trace, syncs: Rows, began_after: Ints, op_start: Ints) -> Ints:
    """Earliest return after each op's start of the syncs that began after its enqueue call did."""
    latest_first = syncs[order(trace.end_ns[syncs], descending=1)]
    returns, begins = trace.end_ns[latest_first], trace.start_ns[latest_first]
    high = count_before(-returns, -op_start)
    at = last_below(-begins, np.zeros_like(high), high, -began_after)
    return np.where(at >= 0, np.r_[returns, _NEVER][at], _NEVER)


def _covered(trace: Trace, links: Link, syncs: Rows) -> tuple[Ints, Ints, Mask]:
    """Pairs (sync, device that it covers), and whether that is the sync's only device."""
    number = trace.device[links.host[syncs]].astype(np.int64)
    named = number != ABSENT_DEVICE
    rest = syncs[~named]
    sync, device = [syncs[named].astype(np.int64)], [number[named]]
    thread, place = links.feeds
    fed = links.places.device[place]
    rows = links.thread_rows
    for known_by in (np.arange(rows.size), dense_codes(trace.part[rows], trace.process[rows])):
        feeds, asked = known_by[thread], known_by[links.host_thread[rest]]
        pairs = distinct(feeds, fed)
        which, at = spread(count_before(feeds[pairs], asked), count_until(feeds[pairs], asked))
        sync.append(rest[which])
        device.append(fed[pairs[at]])
        rest = np.delete(rest, which)
    every = np.concatenate(sync)
    code = dense_codes(every)
    return every, np.concatenate(device), np.asarray(np.bincount(code)[code] == 1)


def _saturated_add(value: Ints, more: int) -> Ints:
    return np.where(value > _NEVER - more, _NEVER, value + more)
