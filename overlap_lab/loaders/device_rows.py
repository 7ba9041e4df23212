"""What device rows leave to their host calls: the process, and whether a blit kernel was a copy.

Works on columns before they become a Trace; the link that measures use is made later, from the Trace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from overlap_lab.columns import gather, is_one_of, rows_of
from overlap_lab.loaders.building import Columns, Findings, GatheredRows
from overlap_lab.native import callers_of
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, DEVICE_KINDS, NO_CORRELATION, Api, CopyKind, Kind
from overlap_lab.trace import Column, Mask

__all__ = [
    "adopt_processes",
    "call_rows",
    "class_blit_kernels",
    "copy_sides",
    "fill_copies_from_calls",
    "own",
]

_BLIT_PREFIXES: Final = ("__amd_rocclr_", "hip_host_fill_buffer")
_BLIT_KERNEL: Final = re.compile(
    r"__amd_rocclr_(?:copy|read|write|fill)(?:Buffer|Image)|hip_host_fill_buffer$"
)
_COPIES: Final = (Api.MEMCPY, Api.MEMCPY_ASYNC)
_FILLS: Final = (Api.MEMSET, Api.MEMSET_ASYNC)


def call_rows(columns: Columns, wanted: Column) -> Column:
    """For each wanted row, the row of the host call with its id that started last before it; -1 for none.

    Of several it is the one added last; where all calls start later, the first. Ids are compared within a
    part, and within a process where that of every call and wanted row with an id is known. The wanted rows
    are no calls.
    """
    return callers_of(
        columns["kind"],
        columns["correlation"],
        columns["part"],
        columns["process"],
        columns["start_ns"],
        wanted,
        call=Kind.API,
        absent_process=ABSENT_PROCESS,
        added=columns.added if isinstance(columns, GatheredRows) else None,
    )


def own(columns: Columns, name: str) -> Column:
    """A column that can be written: one of a single value is written out first."""
    if not columns[name].flags.writeable:
        columns[name] = columns[name].copy()
    return columns[name]


def adopt_processes(columns: Columns, group: Column) -> None:
    """Give device rows without a process the one that enqueued them, in place.

    With one process in the part it is that one. With several (merged ranks): the only process whose calls
    have the row's id; else the process of most rows of the same group (the writer's label of the device).
    """
    orphans = columns["process"] == ABSENT_PROCESS
    if not orphans.any():
        return
    orphans &= is_one_of(columns["kind"], (*DEVICE_KINDS, Kind.SYNC, Kind.DEVICE_RANGE))
    calls = rows_of(columns["kind"], (Kind.API,))
    process = own(columns, "process")
    of_call, part_of_call = process[calls], columns["part"][calls]
    for part in np.unique(columns["part"][orphans]).tolist():
        mine = orphans & (columns["part"] == part)
        known = of_call[part_of_call == part]
        if known.size and known.min() == known.max():
            process[mine] = known[0]
        elif known.size:
            process[mine] = _elected(columns, mine, calls[part_of_call == part], group)


def _elected(columns: Columns, mine: Mask, calls: Column, group: Column) -> Column:
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
        linked = call_rows(columns, np.flatnonzero(mine))
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
    # A trace may have millions of names: hardly any begins as these do.
    blit_names = np.array([name.startswith(_BLIT_PREFIXES) for name in names], bool)
    for code in np.flatnonzero(blit_names).tolist():
        blit_names[code] = bool(_BLIT_KERNEL.match(names[code]))
    if not blit_names.any():
        return
    rows = np.flatnonzero(gather(blit_names, columns["name"]))
    rows = rows[columns["kind"][rows] == Kind.KERNEL]
    linked = call_rows(columns, rows)
    api = np.where(linked >= 0, columns["api"][linked], np.uint8(Api.NONE))
    copies, fills = is_one_of(api, _COPIES), is_one_of(api, _FILLS)
    if copies.any() or fills.any():
        kind = own(columns, "kind")
        kind[rows[copies]], kind[rows[fills]] = Kind.MEMCPY, Kind.MEMSET
        found = [
            (f"{count} {what} kernel{'' if count == 1 else 's'}", counted)
            for count, what, counted in (
                (int(copies.sum()), "copy", "copies"),
                (int(fills.sum()), "fill", "memsets"),
            )
            if count
        ]
        kernels, counted = (" and ".join(words) for words in zip(*found, strict=True))
        findings.note(f"{kernels} of the HIP runtime count as {counted}.")


def fill_copies_from_calls(columns: Columns) -> None:
    """Direction and bytes of copies that their call knows better or alone, in place.

    ROCm shows pinned and blit copies as device to device; the call's own `kind` argument is right.
    """
    rows = rows_of(columns["kind"], (Kind.MEMCPY, Kind.MEMSET))
    if not rows.size or not _calls_say_more(columns):
        return
    linked = call_rows(columns, rows)
    rows, linked = rows[linked >= 0], linked[linked >= 0]
    kind = columns["copy_kind"]
    vague = is_one_of(kind[rows], (CopyKind.UNKNOWN, CopyKind.DEVICE_TO_DEVICE))
    said = kind[linked] != CopyKind.UNKNOWN
    _copy(columns, "copy_kind", linked[vague & said], rows[vague & said])
    size = columns["bytes"]
    missing = (size[rows] == ABSENT) & (size[linked] != ABSENT)
    _copy(columns, "bytes", linked[missing], rows[missing])


def _copy(columns: Columns, name: str, source: Column, target: Column) -> None:
    if target.size:
        column = own(columns, name)
        column[target] = column[source]


def _calls_say_more(columns: Columns) -> bool:
    """Whether some host call knows a direction or a size."""
    calls = columns["kind"] == Kind.API
    return any(
        bool(((columns[name] != absent) & calls).any())
        for name, absent in (("copy_kind", CopyKind.UNKNOWN), ("bytes", ABSENT))
        if columns[name].strides != (0,) or columns[name][0] != absent
    )


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
