"""What a path given by a person stands for: one trace, or several."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.errors import (
    InputError,
    MissingDependency,
    OverlapLabError,
    TraceNotFound,
    UnknownFormat,
    UsageError,
)
from overlap_lab.loaders.content import check_readable, head
from overlap_lab.loaders.csv_sets import is_csv_name, prefix_of, set_of
from overlap_lab.loaders.refused import named_refusal
from overlap_lab.loaders.registry import Format, format_of

if TYPE_CHECKING:
    from overlap_lab.loaders.csv_table import TableKind

__all__ = ["TraceInput", "find_inputs"]

_log = logging.getLogger(__name__)
_MAX_DEPTH: Final = 4
_MAX_FILES: Final = 10_000
_MAX_FOLDERS: Final = 5_000
_RESULTS_JSON: Final = (".json", ".json.gz", ".json.zst")
_SUFFIXES: Final = (*_RESULTS_JSON, ".db", ".sqlite", ".rpd", ".arrow", ".csv", ".csv.gz", ".csv.zst")


@dataclass(frozen=True, slots=True)
class TraceInput:
    """One trace: the file that names it, all files that belong to it, and how they are read."""

    path: Path
    files: tuple[Path, ...]
    format: Format


def find_inputs(path: str | Path) -> tuple[TraceInput, ...]:
    """The traces at `path`, sorted by name: one for a file, one or more for a folder.

    Any file of a CSV set stands for its set. A folder is searched with its sub-folders; links to folders are
    not followed. Raises TraceNotFound where there is none, UnknownFormat where all there is cannot be read.
    """
    if path == "":  # an unset variable of a script must not mean the current folder
        raise TraceNotFound("the path is empty; name a trace file or a folder with traces")
    place = Path(path)
    check_readable(place)
    if not place.is_dir():
        return (_input_of(place, list(_files_in(place.parent)) if is_csv_name(place) else [place]),)
    return _inputs_in(place)


def _input_of(path: Path, siblings: list[Path]) -> TraceInput:
    known = format_of(path)
    if known.name != "rocprofv3-csv":
        return TraceInput(path, (path,), known)
    return TraceInput(path, set_of(path, siblings) or (path,), known)


def _files_in(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(item for item in folder.iterdir() if item.is_file())
    except OSError:
        return


def _inputs_in(folder: Path) -> tuple[TraceInput, ...]:
    found: list[TraceInput] = []
    refused: list[OverlapLabError] = []
    unreadable = ""
    for count, place in enumerate(_folders(folder, _MAX_DEPTH)):
        if count == _MAX_FOLDERS:
            raise UsageError(f"{folder}: holds over {count} folders; give the folder of the captures")
        all_files = list(_files_in(place))
        unreadable = unreadable or _unreadable_in(all_files)
        files = [file for file in all_files if file.name.lower().endswith(_SUFFIXES)][:_MAX_FILES]
        seen: set[str] = set()
        for file in files:
            if is_csv_name(file):
                if prefix_of(file) in seen or not _is_trace_set(file, files):
                    continue
                seen.add(prefix_of(file))
            elif _has_database(file, files):
                continue
            try:
                found.append(_input_of(file, files))
            except (InputError, MissingDependency) as error:
                refused.append(error)
                other_json = file.name.lower().endswith(_RESULTS_JSON)
                _log.log(logging.DEBUG if other_json else logging.WARNING, "passed over: %s", error)
    if found:
        return tuple(found)
    if refused:
        raise UnknownFormat(f"{folder}: no trace that can be read; {refused[0]}")
    if unreadable:
        raise UnknownFormat(f"{folder}: no trace that can be read; {unreadable}")
    raise TraceNotFound(
        f"{folder}: no trace in this folder (looked for .json, .csv, .db, .sqlite and .arrow)"
    )


def _unreadable_in(files: list[Path]) -> str:
    """Why the first file known as unreadable is not read; it may lie beside what was made of it."""
    reasons = ((file, named_refusal(file)) for file in files)
    return next((f"{file}: {reason}" for file, reason in reasons if reason), "")


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth:
        try:
            inner = sorted(
                item
                for item in folder.iterdir()
                if item.is_dir() and not item.is_symlink() and not item.name.startswith(".")
            )
        except OSError:
            return
        for item in inner:
            yield from _folders(item, depth - 1)


def _is_trace_set(file: Path, files: list[Path]) -> bool:
    """True where a file of the set holds host calls or device ops and no other form of the run is near."""
    results = f"{prefix_of(file)}_results"
    if {other.name for other in files} & {f"{results}{suffix}" for suffix in (".db", *_RESULTS_JSON)}:
        return False
    from overlap_lab.loaders.csv_table import TRACE_KINDS

    return any(_kind_of(member) in TRACE_KINDS for member in set_of(file, files))


def _has_database(file: Path, files: list[Path]) -> bool:
    """True for the JSON of a run whose database lies beside it."""
    suffix = next((s for s in _RESULTS_JSON if file.name.endswith(f"_results{s}")), None)
    return bool(suffix) and file.with_name(file.name.removesuffix(str(suffix)) + ".db") in files


def _kind_of(file: Path) -> TableKind:
    from overlap_lab.loaders.csv_table import TableKind, header_kind

    try:
        line = head(file).split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    except (InputError, MissingDependency):
        return TableKind.OTHER
    return header_kind([name.strip().strip('"') for name in line.strip().split(",")])
