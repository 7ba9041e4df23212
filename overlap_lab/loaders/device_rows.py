"""What device rows leave to their host calls: the process, and whether a blit kernel was a copy.

Works on columns before they become a Trace; the link that measures use is made later, from the Trace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import Lookup, alike
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, DEVICE_KINDS, NO_CORRELATION, Api, CopyKind, Kind
from overlap_lab.trace import Column, Mask

__all__ = ["adopt_processes", "call_rows", "class_blit_kernels", "copy_sides", "fill_copies_from_calls"]

_COPY_KERNEL: Final = re.compile(r"__amd_rocclr_(?:copy|read|write)(?:Buffer|Image)")
_FILL_KERNEL: Final = re.compile(r"__amd_rocclr_fill(?:Buffer|Image)|hip_host_fill_buffer$")
_COPIES: Final = (Api.MEMCPY, Api.MEMCPY_ASYNC)
_FILLS: Final = (Api.MEMSET, Api.MEMSET_ASYNC)

_TOP_BIT: Final = np.uint64(1 << 63)


def call_rows(columns: Columns, wanted: Mask) -> Column:
    """For each wanted row, the row of the host call with its id that started last before it; -1 for none.

    Ids are compared within a part, and within a process where the wanted row has one.
    """
    calls = columns["kind"] == Kind.API
    rows = np.flatnonzero((calls | wanted) & (columns["correlation"] != NO_CORRELATION))
    all_known = bool((columns["process"][rows] != ABSENT_PROCESS).all())
    ids = (columns["correlation"] ^ _TOP_BIT).view(np.int64)  # the id 0, which is none, becomes ABSENT
    rows = rows[Lookup(ids[wanted]).rows(ids[rows]) >= 0]  # most calls have no wanted row: sort none of them
    owner = columns["process"][rows] if all_known else np.zeros(len(rows), np.int32)
    _, key = alike(ids[rows], columns["part"][rows], owner)
    is_op = wanted[rows]
    order = np.lexsort((is_op, columns["start_ns"][rows], key))
    rows, key, is_op = rows[order], key[order], is_op[order]
    place = np.arange(len(rows))
    before = np.maximum.accumulate(np.where(is_op, -1, place)) if len(rows) else place
    after = np.minimum.accumulate(np.where(is_op, len(rows), place)[::-1])[::-1]
    same = (before >= 0) & (key[before] == key)
    later = np.minimum(after, len(rows) - 1)
    other = (after < len(rows)) & (key[later] == key)
    chosen = np.where(same, rows[before], np.where(other, rows[later], -1))
    found = np.full(len(wanted), -1, np.int64)
    found[rows[is_op]] = chosen[is_op]
    return found[wanted]


def adopt_processes(columns: Columns, group: Column) -> None:
    """Give device rows without a process the one that enqueued them, in place.

    With one process in the part it is that one. With several (merged ranks): the only process whose calls
    have the row's id; else the process of most rows of the same group (the writer's label of the device).
    """
    orphans = (columns["process"] == ABSENT_PROCESS) & np.isin(
        columns["kind"], (*DEVICE_KINDS, Kind.SYNC, Kind.DEVICE_RANGE)
    )
    calls = columns["kind"] == Kind.API
    for part in np.unique(columns["part"][orphans]).tolist():
        mine = orphans & (columns["part"] == part)
        own = np.unique(columns["process"][calls & (columns["part"] == part)])
        if own.size == 1:
            columns["process"][mine] = own[0]
        elif own.size:
            columns["process"][mine] = _elected(columns, mine, calls & (columns["part"] == part), group)


def _elected(columns: Columns, mine: Mask, calls: Mask, group: Column) -> Column:
    pairs = np.unique(
        np.stack([columns["correlation"][calls], columns["process"][calls]]).astype(np.uint64), axis=1
    )
    ids, first, owners = np.unique(pairs[0], return_index=True, return_counts=True)
    owner = np.where(
        (owners == 1) & (ids != NO_CORRELATION), pairs[1][first].astype(np.int64), ABSENT_PROCESS
    )
    at = np.minimum(np.searchsorted(ids, columns["correlation"][mine]), len(ids) - 1)
    process = np.where(ids[at] == columns["correlation"][mine], owner[at], ABSENT_PROCESS)
    if (process == ABSENT_PROCESS).all():
        linked = call_rows(columns, mine)
        process = np.where(linked >= 0, columns["process"][linked], ABSENT_PROCESS)
    labels = group[mine]
    for label in np.unique(labels).tolist():
        here = labels == label
        votes, counts = np.unique(process[here & (process != ABSENT_PROCESS)], return_counts=True)
        if votes.size:
            process[here & (process == ABSENT_PROCESS)] = votes[counts.argmax()]
    return process


def class_blit_kernels(columns: Columns, names: Sequence[str], findings: Findings) -> None:
    """Turn ROCm's copy and fill kernels into copies and memsets where their call is one, in place."""
    copy_names = np.array([bool(_COPY_KERNEL.match(name)) for name in names], bool)
    fill_names = np.array([bool(_FILL_KERNEL.match(name)) for name in names], bool)
    blit = (columns["kind"] == Kind.KERNEL) & (copy_names | fill_names)[columns["name"]]
    if not blit.any():
        return
    linked = call_rows(columns, blit)
    api = np.where(linked >= 0, columns["api"][linked], Api.NONE)
    copies = np.isin(api, _COPIES)
    fills = np.isin(api, _FILLS)
    rows = np.flatnonzero(blit)
    columns["kind"][rows[copies]] = Kind.MEMCPY
    columns["kind"][rows[fills]] = Kind.MEMSET
    if copies.any() or fills.any():
        findings.note(
            f"{int(copies.sum())} copy and {int(fills.sum())} fill kernels of the ROCm runtime "
            "count as copies and memsets."
        )


def fill_copies_from_calls(columns: Columns) -> None:
    """Direction and bytes of copies that their call knows better or alone, in place.

    ROCm shows pinned and blit copies as device to device; the call's own `kind` argument is right.
    """
    copies = np.isin(columns["kind"], (Kind.MEMCPY, Kind.MEMSET))
    if not copies.any():
        return
    rows, linked = np.flatnonzero(copies), call_rows(columns, copies)
    rows, linked = rows[linked >= 0], linked[linked >= 0]
    kind = columns["copy_kind"]
    vague = np.isin(kind[rows], (CopyKind.UNKNOWN, CopyKind.DEVICE_TO_DEVICE))
    said = kind[linked] != CopyKind.UNKNOWN
    kind[rows[vague & said]] = kind[linked[vague & said]]
    size = columns["bytes"]
    missing = (size[rows] == ABSENT) & (size[linked] != ABSENT)
    size[rows[missing]] = size[linked[missing]]


def copy_sides(said: Column, source: Column, target: Column, gpus: set[int]) -> tuple[Column, Column]:
    """Device and direction of copies: the agents decide where exactly one side is a known GPU.

    Some releases show host-to-device copies as device-to-host; the agents are right there.
    """
    from_gpu, to_gpu = np.isin(source, list(gpus)), np.isin(target, list(gpus))
    down, up = from_gpu & ~to_gpu, to_gpu & ~from_gpu
    kind = np.select(
        [down, up, from_gpu & to_gpu & (source != target)],
        [CopyKind.DEVICE_TO_HOST, CopyKind.HOST_TO_DEVICE, CopyKind.PEER_TO_PEER],
        said,
    )
    device = np.where(kind == CopyKind.HOST_TO_DEVICE, target, source)
    return device, kind.astype(np.uint8)
