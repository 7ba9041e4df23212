"""Columns of Kineto events of one kind, from their keys and arguments."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.api_names import api_codes, copy_directions
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.loaders.json_text import Event
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    DEVICE_KINDS,
    Api,
    CopyKind,
    Kind,
    Memory,
)
from overlap_lab.trace import Column

__all__ = ["columns", "fill_devices", "labels", "part_merged_devices"]

_NO_STREAM: Final = (-1, (1 << 32) - 1, (1 << 64) - 1)
_DIRECTIONS: Final = {
    "HtoD": CopyKind.HOST_TO_DEVICE,
    "DtoH": CopyKind.DEVICE_TO_HOST,
    "DtoD": CopyKind.DEVICE_TO_DEVICE,
    "HtoH": CopyKind.HOST_TO_HOST,
    "PtoP": CopyKind.PEER_TO_PEER,
}
_DIRECTION: Final = re.compile(r"\b(HtoD|DtoH|DtoD|HtoH|PtoP)\b")
_CALL_KINDS: Final = {
    "0": CopyKind.HOST_TO_HOST,
    "1": CopyKind.HOST_TO_DEVICE,
    "2": CopyKind.DEVICE_TO_HOST,
    "3": CopyKind.DEVICE_TO_DEVICE,
}
_LONGEST_LABEL: Final = 200
"""A longer one names no thread, and the search below takes time with the square of a label's digits."""
_LAST_NUMBER: Final = re.compile(r"(-?\d+)\D*$")
_ON_DEVICE: Final = (*DEVICE_KINDS, Kind.DEVICE_RANGE, Kind.SYNC)


def columns(kind: Kind, events: list[Event]) -> Columns:
    """Every column that these events' keys give, times apart."""
    args = [_arguments(event) for event in events]
    found: Columns = {"correlation": unsigned_column([_correlation(a) for a in args])}
    if kind in _ON_DEVICE:
        found |= _device_columns(kind, events, args)
    else:
        found["process"] = _narrow([_number(e.get("pid")) for e in events], np.int32, ABSENT_PROCESS)
        found["thread"] = integer_column([_number(e.get("tid")) for e in events])
    if kind in (Kind.MEMCPY, Kind.MEMSET, Kind.API):
        found["bytes"] = integer_column([a.get("bytes", a.get("size")) for a in args])
    if kind == Kind.API:
        calls = [str(e.get("name", "")) for e in events]
        found["api"] = api_codes(calls)
        said = _call_directions(found["api"], args)
        found["copy_kind"] = np.where(said == CopyKind.UNKNOWN, copy_directions(calls), said)
        found["stream"] = integer_column([_stream(a.get("call_stream")) for a in args])
        found["device"] = _narrow([a.get("call_device") for a in args], np.int16, ABSENT_DEVICE)
    if kind == Kind.MEMCPY:
        names = [str(e.get("name", "")) for e in events]
        found["copy_kind"] = np.array([_direction(n, a) for n, a in zip(names, args, strict=True)], np.uint8)
        found["memory"] = np.array([_memory(name) for name in names], np.uint8)
    return found


def labels(events: list[Event]) -> Column:
    """The writer's own process label of each row: the device for device rows, distinct in merged files."""
    return integer_column([_number(event.get("pid")) for event in events])


def part_merged_devices(rows: Columns, label: Column, findings: Findings) -> None:
    """Give devices of several hosts that share a number numbers of their own, in place.

    Writers that merge ranks rename the label of each rank's device and leave its number as it was.
    """
    ops = np.isin(rows["kind"], DEVICE_KINDS) & (rows["device"] != ABSENT_DEVICE)
    pairs = np.unique(np.stack([rows["device"][ops].astype(np.int64), label[ops]]), axis=1)
    free = int(pairs[0].max(initial=-1)) + 1
    for device in np.unique(pairs[0]).tolist():
        for other in pairs[1][pairs[0] == device][1:].tolist():
            here = (label == other) & (rows["device"] == device) & np.isin(rows["kind"], _ON_DEVICE)
            rows["device"][here] = free
            findings.note(
                f"Device {device} of {other} is shown as device {free}: ranks of several hosts share it."
            )
            free += 1


def fill_devices(rows: Columns, label: Column) -> None:
    """Give device annotations the device of ops with the same label, in place.

    They name only the label, and writers that merge ranks rename it.
    """
    ops = np.isin(rows["kind"], DEVICE_KINDS) & (rows["device"] != ABSENT_DEVICE)
    for value in np.unique(label[rows["kind"] == Kind.DEVICE_RANGE]).tolist():
        devices = np.unique(rows["device"][ops & (label == value)])
        here = (rows["kind"] == Kind.DEVICE_RANGE) & (label == value)
        if devices.size == 1:
            rows["device"][here] = devices[0]


def _device_columns(kind: Kind, events: list[Event], args: list[Event]) -> Columns:
    streams = [_stream(a.get("stream", _number(e.get("tid")))) for e, a in zip(events, args, strict=True)]
    found: Columns = {
        "device": _narrow(
            [a.get("device", e.get("pid")) for e, a in zip(events, args, strict=True)],
            np.int16,
            ABSENT_DEVICE,
        ),
        "stream": integer_column(streams),
    }
    if kind == Kind.SYNC:
        found["stream"] = integer_column(
            [
                _stream(a["wait_on_stream"]) if "wait_on_stream" in a else s
                for a, s in zip(args, streams, strict=True)
            ]
        )
        found["wait_correlation"] = unsigned_column(
            [a.get("wait_on_cuda_event_record_corr_id", 0) for a in args]
        )
    if kind in DEVICE_KINDS:
        found["graph"] = integer_column([a.get("graph id") or None for a in args])
        found["queue"] = integer_column([a.get("hsa_queue", a.get("queue")) for a in args])
    return found


def _arguments(event: Event) -> Event:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _correlation(args: Event) -> Any:
    return args.get("correlation", 0)


def _number(value: object) -> object:
    """A process, thread or stream number; "stream 7" and "24200 (python)" hold one."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_LABEL:
        return None
    if value.isdecimal():
        return integer(value)
    found = re.match(r"\s*(-?\d+)", value) or _LAST_NUMBER.search(value)
    return integer(found[1]) if found else None


def _stream(value: object) -> object:
    """A stream number; the writers' ways to say "none" become None. 0 is a real stream."""
    number = integer(_number(value))
    return None if number in _NO_STREAM or number == ABSENT else number


def _narrow(values: list[Any], dtype: type[np.signedinteger[Any]], absent: int) -> Column:
    wide = integer_column(values)
    fits = (wide > np.iinfo(dtype).min) & (wide <= np.iinfo(dtype).max)
    return np.where(fits, wide, absent).astype(dtype)


def _direction(name: str, args: Event) -> CopyKind:
    found = _DIRECTION.search(name) or _DIRECTION.search(str(args.get("kind", "")))
    return _DIRECTIONS[found[1]] if found else CopyKind.UNKNOWN


def _call_directions(api: Column, args: list[Event]) -> Column:
    """`kind` of copy calls; ROCm writes it, as text, and CUDA does not."""
    copies = np.isin(api, (Api.MEMCPY, Api.MEMCPY_ASYNC))
    found = np.zeros(len(api), np.uint8)
    for row in np.flatnonzero(copies).tolist():
        found[row] = _CALL_KINDS.get(str(args[row].get("kind", "")), CopyKind.UNKNOWN)
    return found


def _memory(name: str) -> Memory:
    """The host side as CUPTI names it: "Memcpy HtoD (Pinned -> Device)"."""
    if "Pinned" in name:
        return Memory.PINNED
    return Memory.PAGEABLE if "Pageable" in name else Memory.UNKNOWN
