"""A rocprofv3 JSON file as the compiled core reads it: the records as columns, the rest as Python objects."""

from __future__ import annotations

import codecs
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import InputError
from overlap_lab.loaders.ahead import pieces_ahead
from overlap_lab.loaders.call_arguments import SIZES, STREAM_TYPES
from overlap_lab.loaders.content import head, opened
from overlap_lab.loaders.packed import is_gzip, is_packed
from overlap_lab.loaders.rocprof_json_names import COPIES, KERNELS
from overlap_lab.native import RecordParser, read_record_file

__all__ = ["Part", "ReadProcess", "read_columns"]

_PART: Final = 16 << 20
"""Bytes that a thread reads before it takes the next part."""
_WANTED: Final = (["stream", "kind", *SIZES], list(STREAM_TYPES))
"""Names and types of the arguments that say something."""

Part = dict[str, Any]
"""Columns by name, of numbers or as codes and what they stand for."""


@dataclass(frozen=True, slots=True)
class ReadProcess:
    """One process as the compiled core has read it."""

    sections: dict[str, Any]
    """Metadata, agents and strings."""
    lists: dict[str, list[Part]]
    """The records of each list in the parts in which they were read, none of an empty list."""
    counters: bool
    """Whether there are records of hardware counters."""
    symbols: dict[int, str | None]
    """Kernel id -> name."""


def read_columns(path: Path) -> list[ReadProcess] | None:
    """The processes of a file; None for what only the plain reader can judge, damaged files among it."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        return None
    if is_packed(start):
        found = _read_packed(path)
    else:
        mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
        found = read_record_file(os.fsencode(path), mark, _PART, *_WANTED)
    if found is None:
        return None
    processes = [_process(*each) for each in found]
    whole = [each for each in processes if each is not None]
    return whole if len(whole) == len(processes) else None


def _read_packed(path: Path) -> list[Any] | None:
    parser, first = RecordParser(*_WANTED), True
    if is_gzip(path):
        return _read_gzip(path, parser)
    try:
        with opened(path) as stream:
            for piece in pieces_ahead(stream):
                text = piece.removeprefix(codecs.BOM_UTF8) if first else piece
                first = False
                if not parser.read(text, last=False):
                    return None
    except InputError:  # the plain reader says it
        return None
    return parser.processes() if parser.read(b"", last=True) else None


def _read_gzip(path: Path, parser: RecordParser) -> list[Any] | None:
    mark = len(codecs.BOM_UTF8) if head(path, 4).startswith(codecs.BOM_UTF8) else 0
    with path.open("rb") as file:
        read = parser.read_gzip(file.fileno(), mark)
    return parser.processes() if read else None


def _process(
    sections: list[tuple[str, bytes]], lists: list[Any], symbols: list[Any], odd: bool
) -> ReadProcess | None:
    texts = dict(sections)
    places = {(callback, name) for callback, name, *_ in lists}
    judged = any(each[3] for each in lists if not each[0] and _is_used(each[1]))
    if odd or judged or len(texts) < len(sections) or len(places) < len(lists):
        return None
    try:
        values = {key: json.loads(text, parse_float=str) for key, text in texts.items() if text}
    except (ValueError, RecursionError):
        return None
    named: dict[int, str | None] = {}
    for ids, (codes, names) in symbols:
        said = [*names, None]  # the last: no text
        named |= zip(ids.tolist(), (said[code] for code in codes.tolist()), strict=True)
    return ReadProcess(
        sections=values,
        lists={name: parts for callback, name, _, _, parts in lists if not callback},
        counters=any(
            callback and name == "counter_collection" and size for callback, name, size, *_ in lists
        ),
        symbols=named,
    )


def _is_used(name: str) -> bool:
    return name in (KERNELS, COPIES) or name.endswith("_api")
