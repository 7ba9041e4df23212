"""Traces with thousands of devices, threads, streams or waits, drawn so that their numbers can be counted.

  python scripts/many_ranks.py ranks 3000 ranks.arrow
  python scripts/many_ranks.py null_streams 12500 hostile.arrow

Each shape takes the number of what there are many of; `overlap-lab analyze` reads the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, Kind
from overlap_lab.trace import Source, Trace

__all__ = ["SHAPES", "devices_of_one_thread", "long_waits", "null_streams", "ranks", "threads"]

_EPOCH: Final = 1_700_000_000_000_000_000
_NAMES: Final = ("hipLaunchKernel", "gemm", "hipStreamSynchronize", "hipMemcpy", "Memcpy DtoH")
_LAUNCH, _GEMM, _SYNC, _COPY, _COPIED = range(5)
_ROUND_NS: Final = 200_000
_STREAM: Final = 7
_PROCESS: Final = 1_000

_Ints = npt.NDArray[np.int64]


def ranks(count: int, *, rounds: int = 3) -> Trace:
    """As many processes, each with one thread that feeds a device of its own, one after the other.

    A round is 200 us: a launch at 0 for 5, its kernel from 10 to 110, a synchronize from 6 to 115. Each
    device has one drain of 100 us idle between two rounds, and a terminal one; each thread is blocked for
    109 us a round. Rank i is i us late.
    """
    return _rounds(np.repeat(np.arange(count), rounds), np.tile(np.arange(rounds), count), process=True)


def devices_of_one_thread(count: int, *, rounds: int = 3) -> Trace:
    """As `ranks`, yet one thread feeds every device, a round behind the other."""
    device, order = np.repeat(np.arange(count), rounds), np.tile(np.arange(rounds), count)
    return _rounds(device, device + order * count, process=False, late_ns=0)


def threads(count: int, *, rounds: int = 1) -> Trace:
    """As many threads of one process that take turns on one device, each in rounds as those of `ranks`."""
    who, order = np.repeat(np.arange(count), rounds), np.tile(np.arange(rounds), count)
    at = (who + order * count) * _ROUND_NS
    return _trace(
        _calls(_LAUNCH, Api.LAUNCH, at, at + 5_000, thread=who, correlation=at // _ROUND_NS + 1),
        _ops(_GEMM, Kind.KERNEL, at + 10_000, at + 110_000, correlation=at // _ROUND_NS + 1),
        _calls(_SYNC, Api.STREAM_SYNC, at + 6_000, at + 115_000, thread=who, stream=_STREAM),
    )


def null_streams(count: int) -> Trace:
    """As many streams with one kernel each, then as many synchronous copies on the null stream.

    Every copy waits for all streams by the rules of the null stream, yet all kernels have ended by then: a
    copy of 10 us every 20 us. Kernel i is launched at i us for 1 and runs for 1 us from 2 us later on.
    """
    which = np.arange(count, dtype=np.int64)
    at = which * 1_000
    copy = count * 1_000 + 10_000 + which * 20_000
    return _trace(
        _calls(_LAUNCH, Api.LAUNCH, at, at + 500, stream=which + 1, correlation=which + 1),
        _ops(_GEMM, Kind.KERNEL, at + 1_000, at + 2_000, stream=which + 1, correlation=which + 1),
        _calls(_COPY, Api.MEMCPY, copy, copy + 10_000, stream=0, correlation=count + which + 1),
        _ops(_COPIED, Kind.MEMCPY, copy + 2_000, copy + 9_000, stream=0, correlation=count + which + 1),
        null_stream=True,
    )


def long_waits(count: int) -> Trace:
    """As many threads of one process whose waits all begin behind `count` launches and end behind their ops.

    The kernels run for 1 us each, one every 2 us; thread i waits from i ns behind the last launch until i ns
    behind the last kernel, so that every wait spans every kernel.
    """
    which = np.arange(count, dtype=np.int64)
    launch, asked = which * 100, count * 100 + which
    start = count * 110 + which * 2_000
    done = int(start[-1]) + 1_000 + which
    return _trace(
        _calls(_LAUNCH, Api.LAUNCH, launch, launch + 50, thread=which, correlation=which + 1),
        _ops(_GEMM, Kind.KERNEL, start, start + 1_000, stream=which % 97, correlation=which + 1),
        _calls(_SYNC, Api.DEVICE_SYNC, asked, done, thread=which),
    )


def _rounds(device: _Ints, order: _Ints, *, process: bool, late_ns: int = 1_000) -> Trace:
    """Rounds as `ranks` describes them; `order` says which round of 200 us each is."""
    at = device * late_ns + order * _ROUND_NS
    ids = np.arange(device.size) + 1
    host = {"process": _PROCESS + device, "thread": device} if process else {}
    place = {"device": device, "process": host.get("process", np.full(device.size, _PROCESS))}
    return _trace(
        _calls(_LAUNCH, Api.LAUNCH, at, at + 5_000, correlation=ids, **host),
        _ops(_GEMM, Kind.KERNEL, at + 10_000, at + 110_000, correlation=ids, **place),
        _calls(_SYNC, Api.STREAM_SYNC, at + 6_000, at + 115_000, stream=_STREAM, device=device, **host),
    )


def _calls(name: int, api: Api, start: _Ints, end: _Ints, **more: object) -> dict[str, _Ints]:
    given = {"name": name, "kind": Kind.API, "api": api, "start_ns": start, "end_ns": end}
    return _columns(start.size, {"device": ABSENT_DEVICE, "stream": ABSENT, "thread": 0, **given, **more})


def _ops(name: int, kind: Kind, start: _Ints, end: _Ints, **more: object) -> dict[str, _Ints]:
    given = {"name": name, "kind": kind, "start_ns": start, "end_ns": end}
    return _columns(start.size, {"device": 0, "stream": _STREAM, "thread": ABSENT, **given, **more})


def _columns(size: int, given: dict[str, object]) -> dict[str, _Ints]:
    whole = {"api": Api.NONE, "process": _PROCESS, "correlation": 0, **given}
    return {key: np.broadcast_to(np.asarray(value, np.int64), size) for key, value in whole.items()}


def _trace(*blocks: dict[str, _Ints], null_stream: bool = False) -> Trace:
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    for name in ("start_ns", "end_ns"):
        columns[name] = columns[name] + _EPOCH
    devices = np.unique(columns["device"][columns["device"] != ABSENT_DEVICE]).tolist()
    source = Source(
        format="drawn",
        vendor="amd",
        devices={number: f"device {number}" for number in devices},
        null_streams=frozenset({0} if null_stream else ()),
    )
    return Trace.from_columns(columns, names=_NAMES, source=source)


SHAPES: Final[dict[str, Callable[[int], Trace]]] = {
    "devices_of_one_thread": devices_of_one_thread,
    "long_waits": long_waits,
    "null_streams": null_streams,
    "ranks": ranks,
    "threads": threads,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shape", choices=tuple(SHAPES))
    parser.add_argument("count", type=int, help="how many of what the shape has many of")
    parser.add_argument("path", type=Path, help="the Arrow file to write, replaced if it is there")
    arguments = parser.parse_args()
    SHAPES[arguments.shape](arguments.count).save(arguments.path, force=True)


if __name__ == "__main__":
    main()
