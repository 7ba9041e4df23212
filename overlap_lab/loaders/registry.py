"""Which formats there are: the readers of this package, those of installed plug-ins, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from overlap_lab.arrow_file import read_trace
from overlap_lab.errors import UnknownFormat, UsageError
from overlap_lab.loaders.arrow import sniff_arrow
from overlap_lab.loaders.content import head
from overlap_lab.loaders.csv_table import TableKind, header_kind
from overlap_lab.loaders.kineto import read_kineto, sniff_kineto
from overlap_lab.loaders.nsys import read_nsys, sniff_nsys
from overlap_lab.loaders.refused import refusal
from overlap_lab.loaders.rocpd import read_rocpd, sniff_rocpd
from overlap_lab.loaders.rocprof_csv import read_rocprof_csv
from overlap_lab.loaders.rocprof_json import read_rocprof_json, sniff_rocprof_json
from overlap_lab.trace import Trace

__all__ = ["Format", "format_of", "formats"]

_GROUP = "overlap_lab.loaders"


@dataclass(frozen=True, slots=True)
class Format:
    """A trace format. An entry point of the group `overlap_lab.loaders` names an object of this class."""

    name: str
    sniff: Callable[[Path, bytes], bool]
    """Path and the first unpacked bytes -> whether the file is of this format. Never raises."""
    read: Callable[[Sequence[Path]], Trace]
    """The files of one input -> its trace. Raises InputError for content that cannot be used."""


def _sniff_csv(_path: Path, start: bytes) -> bool:
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", "replace").strip()
    header = [name.strip().strip('"') for name in line.split(",")]
    return header_kind(header) is not TableKind.OTHER


_BUILT_IN = (
    Format("arrow", sniff_arrow, lambda files: read_trace(files[0])),
    Format("rocpd", sniff_rocpd, lambda files: read_rocpd(files[0])),
    Format("nsys", sniff_nsys, lambda files: read_nsys(files[0])),
    Format("rocprofv3-csv", _sniff_csv, read_rocprof_csv),
    Format("rocprofv3-json", sniff_rocprof_json, lambda files: read_rocprof_json(files[0])),
    Format("kineto", sniff_kineto, lambda files: read_kineto(files[0])),
)


@cache
def formats() -> tuple[Format, ...]:
    """Every format that can be read, plug-ins first."""
    found = []
    for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name):
        plugged = point.load()
        if not isinstance(plugged, Format):
            raise UsageError(
                f"entry point {point.value!r} of {_GROUP} is not a Format; see loaders/registry.py"
            )
        found.append(plugged)
    return (*found, *_BUILT_IN)


def format_of(path: Path) -> Format:
    """The format of a file's content. Raises UnknownFormat, with the way out where it is known."""
    start = head(path)
    plugged = formats()[: -len(_BUILT_IN)]
    for known in plugged:
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
