"""What the host was doing while a device stood idle because the next op was launched late."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

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
    gather,
    order,
)
from overlap_lab.intervals import spread
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.dense import Spans, no_spans
from overlap_lab.metrics.idle import idle_segments
from overlap_lab.metrics.places import relative_start_ns
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.schema import ABSENT_DEVICE, Cause, Kind

__all__ = ["LONG_GAP_NS", "LateGaps", "alike", "late_gaps"]

LONG_GAP_NS: Final = 200_000
"""From here on a gap has a story of its own; below, Python hands out one launch after the other."""
_MOST_GAPS: Final = 50_000
"""The longest gaps of a trace that are looked at one by one."""
_NUMBER: Final = re.compile(r"(?<![A-Za-z])\d+(?![A-Za-z])")
Span = tuple[int, int]
_HOST: Final = (Kind.RANGE, Kind.CPU_OP, Kind.PYTHON)


@dataclass(frozen=True, slots=True)
class LateGaps:
    """Gaps of one device before ops that the host launched late, by what it did meanwhile."""

    device: int | None
    name: str | None
    """The innermost op, frame or range of the launching thread that covers at least half of each gap; names
    that differ only by numbers count as one, with * for these; None: the trace names nothing there."""
    is_landmark: bool
    is_long: bool
    """Whether these are gaps of at least LONG_GAP_NS, or of a landmark; the others lie between launches that
    follow each other."""
    gaps: int
    idle_ns: int
    """Host late time of these gaps."""
    covered_ns: int
    """How much of it the named op, frame or range covers."""
    start_ns: int
    """The longest of them, after the trace's first record."""
    end_ns: int
    around: tuple[str, ...] = ()
    """What covers the longest of them, the outermost first."""
    line: str | None = None
    """The innermost frame of the user's own files among these."""
    spans: Spans = field(default_factory=no_spans, compare=False, repr=False)
    """All of them, after the trace's first record."""


@dataclass(frozen=True, slots=True, eq=False)
class _Gaps:
    """The late parts of the devices' gaps, the longest first."""

    start: Ints
    end: Ints
    thread: Ints
    """Number of the thread that launched the op behind the gap; -1 where the op has no call."""
    device: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Rows that cover at least half of a gap: entry i is row[i] over gap[i], by gap, outermost first."""

    gap: Ints
    row: Rows
    covered: Ints


def late_gaps(context: Context, landmarks: Sequence[str] = ()) -> list[LateGaps]:
    """Idle time of the cause `host_late` by what covers it, for each device; together it is all of it.

    `landmarks` are patterns of names that say more than the innermost one, such as a data loader's: gaps
    inside of such a row are named by it.
    """
    pattern = re.compile("|".join(landmarks)) if landmarks else None
    gaps = _gaps_of(context)
    if gaps.start.size == 0:
        return []
    pairs = _pairs(context, gaps, min(gaps.start.size, _MOST_GAPS))
    chosen, marked = _chosen(context, pairs, gaps.start.size, pattern)
    return list(_grouped(context, gaps, pairs, chosen, marked))


def _grouped(context: Context, gaps: _Gaps, pairs: _Pairs, chosen: Ints, marked: Mask) -> Iterator[LateGaps]:
    """The gaps by device, name and length."""
    is_long = (gaps.end - gaps.start >= LONG_GAP_NS) | marked
    named = np.flatnonzero(chosen >= 0)
    code, words = np.zeros(chosen.size, np.int64), [""]
    zero = relative_start_ns(context)
    code[named], words[1:] = _alike_codes(context, pairs.row[chosen[named]])
    number = dense_codes(gaps.device, code, marked.astype(np.int64), is_long.astype(np.int64))
    by_group = order(number)
    edges = np.flatnonzero(np.r_[True, number[by_group][1:] != number[by_group][:-1]])
    for members in np.split(by_group, edges[1:]):
        # Gaps stand in order of length, and the order by group keeps it: the first is the longest.
        first = int(members[0])
        around, (start, end) = _longest(context, gaps, pairs, first)
        pair, device = int(chosen[first]), int(gaps.device[first])
        yield LateGaps(
            device=None if device == ABSENT_DEVICE else device,
            name=_common_name(context, pairs.row[chosen[members]]) if pair >= 0 else None,
            is_landmark=bool(marked[first]),
            is_long=bool(is_long[first]),
            gaps=members.size,
            idle_ns=int((gaps.end - gaps.start)[members].sum()),
            covered_ns=int(pairs.covered[chosen[members]].sum()) if pair >= 0 else 0,
            start_ns=start,
            end_ns=end,
            around=around,
            line=_own_line(around),
            spans=(gaps.start[members] - zero, gaps.end[members] - zero),
        )


def _longest(context: Context, gaps: _Gaps, pairs: _Pairs, gap: int) -> tuple[tuple[str, ...], Span]:
    """The names of what covers a gap, the outermost first, and the gap after the trace's first record."""
    rows = pairs.row[slice(*np.searchsorted(pairs.gap, [gap, gap + 1]).tolist())]
    zero = relative_start_ns(context)
    names = tuple(context.trace.name_of(row) for row in rows.tolist())
    return names, (int(gaps.start[gap]) - zero, int(gaps.end[gap]) - zero)


def _gaps_of(context: Context) -> _Gaps:
    """The late parts of the gaps of all devices."""
    none = np.zeros(0, np.int64)
    found = [(none, none, none, none), *(_of_device(context, device) for device in context.devices)]
    start, end, thread, device = (np.concatenate(column) for column in zip(*found, strict=True))
    longest = order(end - start, descending=0b1)
    return _Gaps(start[longest], end[longest], thread[longest], device[longest])


def _of_device(context: Context, device: int) -> tuple[Ints, Ints, Ints, Ints]:
    segments, lane, links = idle_segments(context, device), context.devices[device], context.links
    mine = np.flatnonzero(segments.cause == CAUSES.index(Cause.HOST_LATE))
    gap = segments.gap[mine]
    thread = np.full(mine.size, -1, np.int64)
    inside = np.flatnonzero(gap >= 0)
    call = gather(links.caller, lane.next_op[gap[inside]])
    thread[inside[call >= 0]] = gather(links.host_thread, call[call >= 0])
    return segments.start[mine], segments.end[mine], thread, np.full(mine.size, device, np.int64)


def _pairs(context: Context, gaps: _Gaps, looked: int) -> _Pairs:
    """What covers half of a gap covers its middle: rows around the middles, then the exact overlap."""
    trace = context.trace
    asked = np.flatnonzero(gaps.thread[:looked] >= 0)
    middle = (gaps.start[asked] + gaps.end[asked]) // 2
    thread = gaps.thread[asked]
    moments = (thread, middle, middle)
    rows, row_thread = native.rows_near(trace, code_bits(_HOST), context.links.thread_rows, moments)
    # By thread and then by time: of both together a rank among all moments is one number.
    times = np.sort(middle)
    by_time = order(thread, middle)
    at_thread = row_thread.astype(np.int64) * (times.size + 1)
    ranks = (thread * (times.size + 1) + count_before(times, middle))[by_time]
    low = count_before(ranks, at_thread + count_before(times, gather(trace.start_ns, rows)))
    high = count_before(ranks, at_thread + count_until(times, gather(trace.end_ns, rows)))
    which, at = spread(low, high)
    return _covering(context, gaps, asked[by_time[at]], rows[which])


def _covering(context: Context, gaps: _Gaps, gap: Ints, row: Rows) -> _Pairs:
    trace = context.trace
    start, end = gaps.start[gap], gaps.end[gap]
    covered = np.minimum(trace.end_ns[row], end) - np.maximum(trace.start_ns[row], start)
    enough = np.flatnonzero(2 * covered >= end - start)
    by_gap = enough[order(gap[enough], row[enough].astype(np.int64))]
    return _Pairs(gap[by_gap], row[by_gap], covered[by_gap])


def _chosen(
    context: Context, pairs: _Pairs, gaps: int, landmarks: re.Pattern[str] | None
) -> tuple[Ints, Mask]:
    """Per gap the pair that names it, its innermost landmark, else its innermost row, -1 for none; and
    whether that is a landmark."""
    chosen, marked = np.full(gaps, -1, np.int64), np.zeros(gaps, np.bool_)
    at = np.arange(pairs.gap.size)
    chosen[pairs.gap] = at  # the last of a gap wins: pairs of a gap go inwards
    if landmarks is not None and at.size:
        marks = _matching(context, pairs.row, landmarks)
        chosen[pairs.gap[marks]] = at[marks]
        marked[pairs.gap[marks]] = True
    return chosen, marked


def _matching(context: Context, rows: Rows, pattern: re.Pattern[str]) -> Mask:
    codes, which = np.unique(context.trace.name[rows], return_inverse=True)
    names = context.trace.names
    matches = np.array([code >= 0 and pattern.search(names[code]) is not None for code in codes.tolist()])
    return np.asarray(matches[which])


def _common_name(context: Context, rows: Rows) -> str:
    """The name of rows whose names are alike, with * for the numbers where these differ."""
    codes = np.unique(context.trace.name[rows])
    name = context.trace.name_of(int(rows[0]))
    return name if codes.size == 1 else alike(name)


def _alike_codes(context: Context, rows: Rows) -> tuple[Ints, list[str]]:
    """A number from 1 on for the name of each row without its numbers, and these names: step 3 and step 4 do
    the same."""
    codes, which = np.unique(context.trace.name[rows], return_inverse=True)
    names = [alike(context.trace.names[code]) if code >= 0 else "" for code in codes.tolist()]
    words: dict[str, int] = {}
    at = np.array([words.setdefault(name, len(words) + 1) for name in names], np.int64)
    return at[which], list(words)


def alike(name: str) -> str:
    """The name without its numbers, unless they are parts of words.

    >>> alike("ProfilerStep#10"), alike("aten::conv2d")
    ('ProfilerStep#*', 'aten::conv2d')
    """
    return _NUMBER.sub("*", name)


def _own_line(around: Sequence[str]) -> str | None:
    frames = [frame for name in around if (frame := frame_in(name)) is not None and frame.is_own]
    return str(frames[-1]) if frames else None
