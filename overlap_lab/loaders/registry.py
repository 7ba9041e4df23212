"""Which formats there are: the readers of this package, those of installed plug-ins, and what is refused.

A reader is imported when a file of its kind is met: a short answer must not wait for readers that it does not
need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from overlap_lab.errors import UnknownFormat, UsageError
from overlap_lab.loaders.content import head
from overlap_lab.loaders.plugins import plugged
from overlap_lab.loaders.refused import ARROW, SQLITE, refusal
from overlap_lab.trace import Trace

__all__ = ["Format", "format_of", "formats"]

_GROUP = "overlap_lab.loaders"
_SDK_ROOT: Final = b'"rocprofiler-sdk-tool"'


@dataclass(frozen=True, slots=True)
class Format:
    """A trace format. An entry point of the group `overlap_lab.loaders` names an object of this class."""

    name: str
    sniff: Callable[[Path, bytes], bool]
    """Path and the first unpacked bytes -> whether the file is of this format. Never raises."""
    read: Callable[[Sequence[Path]], Trace]
    """The files of one input -> its trace. Raises InputError for content that cannot be used."""


def _sniff_arrow(path: Path, start: bytes) -> bool:
    if not start.startswith(ARROW):
        return False
    from overlap_lab.loaders.arrow import sniff_arrow

    return sniff_arrow(path, start)


def _read_arrow(files: Sequence[Path]) -> Trace:
    from overlap_lab.arrow_file import read_trace

    return read_trace(files[0])


def _sniff_rocpd(path: Path, start: bytes) -> bool:
    if not start.startswith(SQLITE):
        return False
    from overlap_lab.loaders.rocpd import sniff_rocpd

    return sniff_rocpd(path, start)


def _read_rocpd(files: Sequence[Path]) -> Trace:
    from overlap_lab.loaders.rocpd import read_rocpd

    return read_rocpd(files[0])


def _sniff_nsys(path: Path, start: bytes) -> bool:
    if not start.startswith(SQLITE):
        return False
    from overlap_lab.loaders.nsys import sniff_nsys

    return sniff_nsys(path, start)


def _read_nsys(files: Sequence[Path]) -> Trace:
    from overlap_lab.loaders.nsys import read_nsys

    return read_nsys(files[0])


def _sniff_csv(_path: Path, start: bytes) -> bool:
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", "replace").strip()
    if line.startswith(("{", "[")):
        return False
    from overlap_lab.loaders.csv_table import TableKind, header_kind

    header = [name.strip().strip('"') for name in line.split(",")]
    return header_kind(header) is not TableKind.OTHER


def _read_csv(files: Sequence[Path]) -> Trace:
    from overlap_lab.loaders.rocprof_csv import read_rocprof_csv

    return read_rocprof_csv(files)


def _sniff_rocprof_json(path: Path, start: bytes) -> bool:
    if _SDK_ROOT not in start:
        return False
    from overlap_lab.loaders.rocprof_json import sniff_rocprof_json

    return sniff_rocprof_json(path, start)


def _read_rocprof_json(files: Sequence[Path]) -> Trace:
    from overlap_lab.loaders.rocprof_json import read_rocprof_json

    return read_rocprof_json(files[0])


def _sniff_kineto(path: Path, start: bytes) -> bool:
    from overlap_lab.loaders.kineto import sniff_kineto

    return sniff_kineto(path, start)


def _read_kineto(files: Sequence[Path]) -> Trace:
    from overlap_lab.loaders.kineto import read_kineto

    return read_kineto(files[0])


_BUILT_IN = (
    Format("arrow", _sniff_arrow, _read_arrow),
    Format("rocpd", _sniff_rocpd, _read_rocpd),
    Format("nsys", _sniff_nsys, _read_nsys),
    Format("rocprofv3-csv", _sniff_csv, _read_csv),
    Format("rocprofv3-json", _sniff_rocprof_json, _read_rocprof_json),
    Format("kineto", _sniff_kineto, _read_kineto),
)


@cache
def formats() -> tuple[Format, ...]:
    """Every format that can be read, plug-ins first."""
    found = []
    for place, known in plugged(_GROUP):
        if not isinstance(known, Format):
            raise UsageError(f"entry point {place!r} of {_GROUP} is not a Format; see loaders/registry.py")
        found.append(known)
    return (*found, *_BUILT_IN)


def format_of(path: Path) -> Format:
    """The format of a file's content. Raises UnknownFormat, with the way out where it is known."""
    start = head(path)
    for known in formats()[: -len(_BUILT_IN)]:
        if known.sniff(path, start):
            return known
    reason = refusal(path, start)
    if reason:
        raise UnknownFormat(f"{path}: {reason}")
    for known in _BUILT_IN:
        if known.sniff(path, start):
            return known
    if start.lstrip()[:1] in (b"{", b"["):
        raise UnknownFormat(f"{path}: JSON without traceEvents; give a trace as torch.profiler writes it")
    names = ", ".join(known.name for known in formats())
    raise UnknownFormat(f"{path}: none of the formats that can be read ({names})")
