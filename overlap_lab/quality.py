"""What is wrong with a trace: counted, and repaired where the truth is certain enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlap_lab.columns import (
    Ints,
    Mask,
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    is_one_of,
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


Overruns = tuple[Ints, Ints]
"""Per op: ns by which it runs past the start of the next op of its stream, and that start."""


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
    if not bool((trace.end_ns < trace.start_ns).any()):
        return trace
    return trace.replace(end_ns=np.maximum(trace.start_ns, trace.end_ns))


def overlong_ops_clipped(trace: Trace, links: Link, runs: Overruns) -> Trace:
    """Ops that run over 50 us into their successor, or past the sync that proves them complete, are cut."""
    over, following = runs
    asked = np.flatnonzero((over > CORRUPT_OVERLAP_NS) | (following == _NEVER))
    end = trace.end_ns[links.op[asked]]
    believable, certain = _proven_end(trace, links, asked)
    # A sync of another device proves nothing, so an op without a successor is cut only at a certain proof.
    last = following[asked] == _NEVER
    believable = np.where(last, certain, believable)
    past_proof = last & (end > _saturated_add(certain, CORRUPT_OVERLAP_NS))
    corrupt = (over[asked] > CORRUPT_OVERLAP_NS) | past_proof
    if not bool(corrupt.any()):
        return trace
    cut = np.where(corrupt, np.minimum(end, np.minimum(following[asked], believable)), end)
    fixed = trace.end_ns.copy()
    fixed[links.op[asked]] = cut
    return trace.replace(end_ns=fixed)


def quality(recorded: Trace, repaired: Trace, links: Link, runs: Overruns) -> Quality:
    """Every fault of the trace as recorded, `runs` too; `repaired` is what the repairs above made of it."""
    ops, calls = links.op, links.host
    owning = calls[is_one_of(gather(recorded.api, calls), OWNERS)]
    copies = calls[gather(recorded.api, calls) == Api.MEMCPY]
    over, _ = runs
    start, end = gather(recorded.start_ns, ops), gather(recorded.end_ns, ops)
    cut, negative = _cuts(recorded, repaired, links)
    graph = (gather(recorded.graph, ops) != ABSENT) | (gather(recorded.api, links.call) == Api.GRAPH_LAUNCH)
    count = {
        Fault.UNLINKED_OPS: int((~links.linked).sum()),
        Fault.LAUNCHES_WITHOUT_OP: int(launches_without_op(recorded, links).size),
        Fault.ID_REUSED: _reused_ids(recorded, links),
        Fault.INVERTED: int((start < links.enqueue_start_ns).sum()),
        Fault.NEGATIVE_DURATION: negative,
        Fault.ZERO_DURATION: int((end == start).sum()),
        Fault.CLIPPED: cut.size,
        Fault.STREAM_OVERLAP: int(((over > JITTER_NS) & (over <= CORRUPT_OVERLAP_NS)).sum()),
        Fault.NO_STREAM: int((gather(recorded.stream, ops) == ABSENT).sum()),
        Fault.GRAPH_OPS: int(graph.sum()),
        Fault.COPIES_WITHOUT_RECORD: int((~_owns(links, copies)).sum()),
        Fault.NO_HOST_RECORDS: int(calls.size == 0),
        Fault.NO_DEVICE_RECORDS: int(ops.size == 0),
    }
    for fault, more in recorded.source.faults.items():
        count[fault] = count.get(fault, 0) + more
    rows = len(recorded)
    out_of = dict.fromkeys(Fault, int(ops.size)) | {
        Fault.LAUNCHES_WITHOUT_OP: int(owning.size - copies.size),
        Fault.ID_REUSED: int(owning.size),
        Fault.NEGATIVE_DURATION: rows,
        Fault.ROWS_REPAIRED: rows,
        Fault.ROWS_SKIPPED: rows + count.get(Fault.ROWS_SKIPPED, 0),
        Fault.COPIES_WITHOUT_RECORD: int(copies.size),
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


def launches_without_op(trace: Trace, links: Link) -> Ints:
    """Rows of kernel, graph, async copy and memset calls that should own an op and do not."""
    should_own = is_one_of(gather(trace.api, links.host), (api for api in OWNERS if api is not Api.MEMCPY))
    calls = links.host[should_own]
    calls = calls[~links.captured[calls]]
    # An outer call and the driver call in it are one launch: the inner one is not asked.
    calls = calls[gather(links.outer, calls) == calls]
    return np.asarray(calls[~_owns(links, calls)])


def _owns(links: Link, calls: Ints) -> Mask:
    return gather(links.owns, gather(links.outer, calls))


def _reused_ids(trace: Trace, links: Link) -> int:
    """How many ids two or more enqueue calls of one process carry, nested calls not counted."""
    calls = links.host[is_one_of(gather(trace.api, links.host), OWNERS)]
    calls = calls[(gather(trace.correlation, calls) != NO_CORRELATION) & ~links.captured[calls]]
    calls = calls[gather(links.outer, calls) == calls]
    key = dense_codes(
        gather(trace.part, calls), gather(trace.process, calls), gather(trace.correlation, calls)
    )
    return int((np.bincount(key) > 1).sum()) if key.size else 0


def overruns(trace: Trace, links: Link) -> Overruns:
    """Per op: ns by which it runs past the start of the next op of its stream, and that start."""
    size = links.op.size
    over, following = np.full(size, -_NEVER, np.int64), np.full(size, _NEVER, np.int64)
    known = np.flatnonzero(links.stream != ABSENT)
    if known.size < 2:
        return over, following
    row = gather(links.op, known)
    lane = dense_codes(
        gather(trace.part, row),
        *(gather(each, known) for each in (links.process, links.device, links.stream)),
    )
    start, end = gather(trace.start_ns, row), gather(trace.end_ns, row)
    ordered = order(lane, start, end, descending=0b100)
    here, there = ordered[:-1], ordered[1:]
    neighbours = gather(lane, here) == gather(lane, there)
    here, there = here[neighbours], there[neighbours]
    at, after = gather(known, here), gather(start, there)
    following[at] = after
    over[at] = gather(end, here) - after
    return over, following


def _proven_end(trace: Trace, links: Link, asked: Ints) -> tuple[Ints, Ints]:
    """Per op asked for the earliest return, after its start, of a device or context sync of its process that
    covers its device and began after its enqueue call did; the largest integer where there is none.

    Twice: of all such syncs, and of those that can mean no other device. One that names no device covers all
    that its thread feeds, else its process.
    """
    proof, certain = (np.full(asked.size, _NEVER, np.int64) for _ in range(2))
    syncs = links.host[is_one_of(gather(trace.api, links.host), (Api.DEVICE_SYNC, Api.CONTEXT_SYNC))]
    if syncs.size == 0 or asked.size == 0:
        return proof, certain
    sync, device, only = _covered(trace, links, syncs)
    place = dense_codes(
        trace.part[np.concatenate((sync, links.op[asked]))],
        np.concatenate((trace.process[sync], links.process[asked])),
        np.concatenate((device, links.device[asked])),
    )
    sync_place, op_place = place[: sync.size], place[sync.size :]
    for one in np.unique(sync_place).tolist():
        here = sync_place == one
        ops = np.flatnonzero(op_place == one)
        times = links.enqueue_start_ns[asked[ops]], trace.start_ns[links.op[asked[ops]]]
        proof[ops] = _first_return(trace, sync[here], *times)
        certain[ops] = _first_return(trace, sync[here & only], *times)
    return proof, certain


def _first_return(trace: Trace, syncs: Ints, began_after: Ints, op_start: Ints) -> Ints:
    """Earliest return after each op's start of the syncs that began after its enqueue call did."""
    latest_first = syncs[order(trace.end_ns[syncs], descending=1)]
    returns, begins = trace.end_ns[latest_first], trace.start_ns[latest_first]
    high = count_before(-returns, -op_start)
    at = last_below(-begins, np.zeros_like(high), high, -began_after)
    return np.where(at >= 0, np.r_[returns, _NEVER][at], _NEVER)


def _covered(trace: Trace, links: Link, syncs: Ints) -> tuple[Ints, Ints, Mask]:
    """Pairs (sync, device that it covers), and whether that is the sync's only device."""
    named = trace.device[syncs] != ABSENT_DEVICE
    sync, device = [syncs[named]], [trace.device[syncs[named]].astype(np.int64)]
    rest = syncs[~named]
    feeder, fed = links.call[links.linked], links.device[links.linked]
    for columns in ((links.thread,), (trace.part, trace.process)):
        if rest.size == 0:
            break
        known_by = dense_codes(*(column[np.concatenate((feeder, rest))] for column in columns))
        feeds, asked = known_by[: feeder.size], known_by[feeder.size :]
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
