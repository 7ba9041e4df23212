"""What an Nsight Systems export says about processes, devices, contexts and streams."""

from __future__ import annotations

from typing import Final

import numpy as np

from overlap_lab.loaders.alike import CodedNumbers, gathered
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.nsys_tables import NsysTables, distinct_rows, known_ids
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS
from overlap_lab.trace import Column

__all__ = ["UNKNOWN_MACHINE", "Target", "owners", "owners_of", "stream_kinds"]

UNKNOWN_MACHINE: Final = -1
"""Part of rows without a global id, until the whole file is read."""

_LOW: Final = (1 << 24) - 1
_HOST_BITS: Final = 48
_MAX_DEVICE: Final = np.iinfo(np.int16).max
_STREAM_TYPES: Final = {1: "FLAG_DEFAULT", 2: "FLAG_NON_BLOCKING", 3: "FLAG_NULL"}

Pair = tuple[int, int]


def owners(global_ids: Column) -> Columns:
    """`part`, `process` and `thread` from `globalTid` or `globalPid`.

    The upper 16 bits name the machine, the next 24 the process, the last 24 the thread.
    """
    known = global_ids != ABSENT
    return {
        "part": np.where(known, (global_ids >> _HOST_BITS) & 0xFFFF, UNKNOWN_MACHINE).astype(np.int32),
        "process": np.where(known, (global_ids >> 24) & _LOW, ABSENT_PROCESS).astype(np.int32),
        "thread": np.where(known, global_ids & _LOW, ABSENT),
    }


def owners_of(global_ids: CodedNumbers) -> dict[str, CodedNumbers]:
    """The same of each row."""
    return {name: global_ids.mapped(column) for name, column in owners(global_ids.values).items()}


class Target:
    """Device numbers and names, and the devices of contexts.

    `deviceId` counts the devices that a process can see. Where processes see different ones under the same
    number, the number of the GPU in the file stands for it, so that two GPUs are never one device.
    """

    def __init__(self, tables: NsysTables, findings: Findings) -> None:
        gpu, seen_as, pid = tables.integers("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid")
        rows = zip(pid.tolist(), seen_as.tolist(), gpu.tolist(), strict=True)
        seen = {(p, c): g for p, c, g in rows if ABSENT not in (c, g)}
        by_number: dict[int, set[int]] = {}
        for (_, number), which in seen.items():
            by_number.setdefault(number, set()).add(which)
        self._renumbered = seen if any(len(gpus) > 1 for gpus in by_number.values()) else {}
        if self._renumbered:
            findings.note(
                "Processes see different GPUs under one CUDA device number: devices have the numbers of the "
                "GPUs in the file."
            )
        names = _gpu_names(tables)
        self._names = dict(names)
        if not self._renumbered:
            self._names |= {number: names.get(min(gpus), "") for number, gpus in by_number.items()}
        process, context, device = tables.integers(
            "TARGET_INFO_CUDA_CONTEXT_INFO", "processId", "contextId", "deviceId"
        )
        seen_by = (CodedNumbers.of(column) for column in (process, context, self.devices(process, device)))
        self._contexts = _pairs(*seen_by)

    def devices(self, process: Column, device: Column) -> Column:
        """The `device` column of rows with these processes and `deviceId`s."""
        fits = (device >= 0) & (device < _MAX_DEVICE)  # the largest integer stands for "on the host"
        found = np.where(fits, device, ABSENT_DEVICE)
        for (pid, number), gpu in self._renumbered.items():
            found[(process == pid) & (device == number)] = gpu
        return found.astype(np.int16)

    def devices_of(
        self, global_pid: CodedNumbers, device: CodedNumbers, context: CodedNumbers
    ) -> CodedNumbers:
        """The `device` column of ops.

        What it says of their contexts beats what the file declares.
        """
        (owner, number, label), place = distinct_rows(global_pid, device, context)
        process = owners(owner)["process"]
        found = self.devices(process, number)
        self._contexts |= _pairs(*(CodedNumbers.of(column) for column in (process, label, found)))
        return CodedNumbers(place, found)

    def context_devices(self, global_pid: CodedNumbers, context: CodedNumbers) -> Column:
        """The device of each context; ABSENT_DEVICE where nothing says it."""
        (owner, numbers), place = distinct_rows(global_pid, context)
        pids = owners(owner)["process"].tolist()
        known = map(self._contexts.get, zip(pids, numbers.tolist(), strict=True))
        devices = [ABSENT_DEVICE if device is None else device for device in known]
        return gathered(np.array(devices, np.int16), place)

    def named(self, devices: Column) -> dict[int, str]:
        """The names of these distinct devices, by number."""
        used = sorted(devices.tolist())
        return {device: self._names.get(device, "") for device in used if device != ABSENT_DEVICE}


def _gpu_names(tables: NsysTables) -> dict[int, str]:
    for table, key in (("TARGET_INFO_GPU", "id"), ("TARGET_INFO_CUDA_GPU", "deviceId")):
        if tables.has(table):
            ids, names = tables.integers(table, key)[0].tolist(), tables.texts(table, "name")[0]
            return dict(zip(ids, names, strict=True))
    return {}


def _pairs(process: CodedNumbers, context: CodedNumbers, device: CodedNumbers) -> dict[Pair, int]:
    """(process, context) -> device, for contexts whose rows all have the same device."""
    (pids, numbers, devices), _ = distinct_rows(process, context, device)
    found: dict[Pair, int] = {}
    for pid, number, at in zip(pids.tolist(), numbers.tolist(), devices.tolist(), strict=True):
        if at != ABSENT_DEVICE:
            found[pid, number] = at if found.get((pid, number), at) == at else ABSENT_DEVICE
    return found


def stream_kinds(
    tables: NsysTables, process: Column, stream: Column, findings: Findings
) -> tuple[frozenset[int], frozenset[int]]:
    """The null streams and the non-blocking streams among those that rows use.

    The table is per process and the trace's two sets are not: a number counts where it is of that kind in
    every process that uses it. What no table says stays unsaid.
    """
    types = tables.enum("ENUM_CUPTI_STREAM_TYPE", _STREAM_TYPES)
    numbers, pids, flags = tables.integers("TARGET_INFO_CUDA_STREAM", "streamId", "processId", "flag")
    declared = list(zip(pids.tolist(), numbers.tolist(), flags.tolist(), strict=True))
    null = {(pid, number) for pid, number, flag in declared if types.get(flag, "").endswith("_NULL")}
    free = {(p, number) for p, number, flag in declared if types.get(flag, "").endswith("_NON_BLOCKING")}
    pids, numbers = tables.integers("TARGET_INFO_CUDA_CONTEXT_INFO", "processId", "nullStreamId")
    null |= set(zip(pids.tolist(), known_ids(numbers).tolist(), strict=True))
    pairs = distinct_rows(CodedNumbers.of(process), CodedNumbers.of(stream))[0]
    users, streams = (column.tolist() for column in pairs)
    used = [(user, number) for user, number in zip(users, streams, strict=True) if number != ABSENT]
    return _everywhere(null, used, "null", findings), _everywhere(free, used, "non-blocking", findings)


def _everywhere(kind: set[Pair], used: list[Pair], word: str, findings: Findings) -> frozenset[int]:
    somewhere = {number for pid, number in used if (pid, number) in kind}
    elsewhere = {number for pid, number in used if (pid, number) not in kind}
    mixed = sorted(somewhere & elsewhere)
    if mixed:
        shown = ", ".join(map(str, mixed[:8])) + (", ..." if len(mixed) > 8 else "")
        findings.note(
            f"Taken as no {word} streams, because they are in one process and not in another: {shown}."
        )
    return frozenset(somewhere - elsewhere)
