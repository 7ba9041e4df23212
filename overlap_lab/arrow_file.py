"""Traces as Arrow IPC files: one uncompressed record batch, mapped into memory rather than read.

A column with one value for all rows is kept in the schema's metadata, with the source and what else Arrow has
no place for. Nothing in a file is believed before it was checked.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.arrow_table import arrow_type, named_column, plain_column, pyarrow_for
from overlap_lab.errors import BrokenTrace, InputError, TraceNotFound, UnknownFormat, UsageError
from overlap_lab.schema import COLUMNS, LATEST_NS, Api, CopyKind, Kind, Memory
from overlap_lab.source_json import source_from_json, source_to_json
from overlap_lab.trace import Column, Trace, columns_of, constant, possible_times
from overlap_lab.whole_file import whole_file

__all__ = ["ARROW", "TRACE_KEY", "read_trace", "write_trace"]

ARROW: Final = b"ARROW1\0\0"
"""How every Arrow file starts; the messages of the stream format follow."""
TRACE_KEY: Final = b"overlap_lab.trace"
_VERSION: Final = 1
_LAST: Final = {"kind": max(Kind), "api": max(Api), "copy_kind": max(CopyKind), "memory": max(Memory)}
_NAMES_AT_ONCE: Final = 1 << 16
_ROWS_AT_ONCE: Final = 1 << 17


def write_trace(trace: Trace, path: Path, *, force: bool) -> Path:
    """See `Trace.save`."""
    pa = pyarrow_for("Saving a trace")
    if path.exists() and not force:
        raise UsageError(f"{path}: exists already; pass force=True or another name")
    try:
        _check_values(columns_of(trace), len(trace.names), len(trace))
    except ValueError as error:
        raise UsageError(f"{path}: this trace could not be loaded again: {error}") from None
    batch = _batch(trace)
    try:
        with whole_file(path) as stream, pa.ipc.new_file(stream, batch.schema) as writer:
            writer.write_batch(batch)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def _batch(trace: Trace) -> Any:
    pa = pyarrow_for("Saving a trace")
    columns = columns_of(trace)
    one_valued = {name: int(c[0]) for name, c in columns.items() if name != "name" and _is_constant(c)}
    shown = [text.encode("utf-8", "replace").decode() for text in trace.names]
    arrays = {name: plain_column(c) for name, c in columns.items() if name not in one_valued}
    arrays["name"] = named_column(trace.name, shown)
    description = {
        "version": _VERSION,
        "rows": len(trace),
        "constants": one_valued,
        "odd_names": {str(at): name for at, name in enumerate(trace.names) if shown[at] != name},
        "source": source_to_json(trace.source),
    }
    schema = pa.schema(
        [pa.field(name, array.type, nullable=name == "name") for name, array in arrays.items()],
        metadata={TRACE_KEY: json.dumps(description)},  # ASCII: it can hold halves of surrogate pairs
    )
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=schema)


def _is_constant(column: Column) -> bool:
    return bool(column.size) and (column.strides == (0,) or bool((column == column[0]).all()))


def read_trace(path: Path) -> Trace:
    """See `Trace.load`."""
    pa = pyarrow_for(f"{path}: an Arrow file; reading it")
    try:
        with pa.memory_map(str(path)) as mapped:
            content = mapped.read_buffer(mapped.size())
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        return _trace(path, content)
    except (pa.ArrowException, OSError, ValueError, struct.error, RecursionError) as error:
        said = " ".join(str(error).split())[:200]
        raise BrokenTrace(f"{path}: damaged Arrow file ({said}); save the trace again") from None


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return TraceNotFound(f"{path}: no such file")
    return InputError(f"{path}: cannot be read ({error.strerror or error})")


def _trace(path: Path, content: Any) -> Trace:
    pa = pyarrow_for("Loading a trace")
    if bytes(content[: len(ARROW)]) != ARROW:
        raise UnknownFormat(f"{path}: no file of Trace.save; overlap_lab.load reads the other formats")
    messages = content.slice(len(ARROW))
    schema = pa.ipc.read_schema(messages)
    if TRACE_KEY not in (schema.metadata or {}):
        raise UnknownFormat(
            f"{path}: an Arrow file without a trace of overlap_lab; give one that Trace.save wrote, or the "
            "trace that the table was made from"
        )
    _check_ending(path, content)
    _check_types(schema)
    description = _description(path, schema.metadata[TRACE_KEY])
    _check_messages(pa, messages)
    with pa.ipc.open_stream(messages) as reader:
        batch = reader.read_next_batch()
    batch.validate(full=True)
    names, codes = _names(batch.column("name"), description["odd_names"])
    columns = {"name": codes}
    for name, dtype in COLUMNS.items():
        if name in description["constants"]:
            columns[name] = _constant(name, description["constants"][name], batch.num_rows, dtype)
        elif name not in schema.names:
            raise ValueError(f"it lacks the column {name!r}")
        elif name != "name":
            columns[name] = _numbers(batch, name, dtype)
    _check_values(columns, len(names), description["rows"])
    return Trace(**columns, names=names, source=source_from_json(description["source"]))


def _check_ending(path: Path, content: Any) -> None:
    if bytes(content[-6:]) != ARROW[:6]:
        raise BrokenTrace(f"{path}: truncated Arrow file: it ends at byte {content.size}; copy it again")


def _description(path: Path, text: bytes) -> dict[str, Any]:
    """The metadata, its shape checked as far as the other checks need it."""
    found = json.loads(text)
    version = found.get("version") if isinstance(found, dict) else None
    if type(version) is int and version != _VERSION:
        raise UnknownFormat(
            f"{path}: saved in version {version} of the format, and this overlap_lab reads "
            f"version {_VERSION}; upgrade it, or load the original trace"
        )
    shape = {"version": int, "rows": int, "constants": dict, "odd_names": dict, "source": dict}
    if not isinstance(found, dict) or {key: type(value) for key, value in found.items()} != shape:
        raise ValueError("its metadata does not describe a trace")
    return found


def _check_types(schema: Any) -> None:
    pa = pyarrow_for("Loading a trace")
    for field in schema:
        expected = COLUMNS.get(field.name)
        wanted = (
            pa.dictionary(pa.int32(), pa.large_utf8())
            if field.name == "name"
            else None
            if expected is None
            else arrow_type(expected)
        )
        if field.type != wanted:
            raise ValueError(f"column {field.name!r:.40} of type {field.type!s:.40} is none of a trace's")
    if len(set(schema.names)) != len(schema.names) or "name" not in schema.names:
        raise ValueError("its columns are not those of a trace")


def _check_messages(pa: Any, messages: Any) -> None:
    """One dictionary and one batch, both as they lie in the file: what is packed may unpack to anything."""
    kinds = []
    for message in pa.ipc.MessageReader.open_stream(messages):
        kinds.append(message.type)
        if message.type != "schema" and _is_packed(message.metadata):
            raise ValueError("its columns are compressed")
    if kinds != ["schema", "dictionary", "record batch"]:
        raise ValueError(f"it holds {kinds[:8]}, not one record batch")


def _is_packed(message: Any) -> bool:
    """Whether the message of a batch names a compression (Arrow's Message.fbs; pyarrow does not tell).

    pyarrow has verified the offsets.
    """
    data = memoryview(message)
    (root,) = struct.unpack_from("<I", data)
    header = _pointed(data, _field(data, root, 2))
    if data[_field(data, root, 1)] == 2:  # a dictionary: its batch is the second field
        header = _pointed(data, _field(data, header, 1))
    return _field(data, header, 3) != 0


def _field(data: memoryview, table: int, number: int) -> int:
    """Where a field of a flatbuffer's table lies; 0 where the table has none."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    at = 4 + 2 * number
    (offset,) = struct.unpack_from("<H", data, table - back + at) if at < size else (0,)
    return table + int(offset) if offset else 0


def _pointed(data: memoryview, at: int) -> int:
    (offset,) = struct.unpack_from("<I", data, at)
    return at + int(offset)


def _names(column: Any, odd: dict[str, str]) -> tuple[tuple[str, ...], Column]:
    """The names, and the code of each row's; -1 for none."""
    texts: list[str] = []
    for first in range(0, len(column.dictionary), _NAMES_AT_ONCE):  # in portions that Ctrl-C can end
        texts += column.dictionary.slice(first, _NAMES_AT_ONCE).to_pylist()
    for at, text in odd.items():
        if not 0 <= int(at) < len(texts):
            raise ValueError(f"there is no name {at:.20}")
        texts[int(at)] = text
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name is no text")
    codes = np.frombuffer(column.indices.buffers()[1], np.int32)[: len(column)]
    absent = np.asarray(column.is_null())
    if not (codes[absent] == -1).all():
        codes = np.where(absent, np.int32(-1), codes)
    return tuple(texts), codes


def _numbers(batch: Any, name: str, dtype: np.dtype[Any]) -> Column:
    column = batch.column(name)
    if column.null_count:
        raise ValueError(f"column {name!r} has nulls")
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]


def _constant(name: str, value: Any, size: int, dtype: np.dtype[Any]) -> Column:
    if type(value) is not int or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise ValueError(f"column {name!r} cannot hold {value!r:.40}")
    return constant(value, size, dtype)


def _check_values(columns: dict[str, Column], names: int, rows: object) -> None:
    """Raise ValueError for what no loader writes, and the measures rely on."""
    if columns["kind"].size != rows:
        raise ValueError(f"it holds {columns['kind'].size} rows, not {rows!r:.20}")
    for name, last in _LAST.items():
        if int(columns[name].max(initial=0)) > last:
            raise ValueError(f"column {name!r} has values beyond {last}")
    if int(columns["name"].min(initial=-1)) < -1 or int(columns["name"].max(initial=-1)) >= names:
        raise ValueError("a row's name is none of its names")
    if int(columns["depth"].min(initial=0)) < 0:
        raise ValueError("column 'depth' has values below 0")
    _check_times(columns["start_ns"], columns["end_ns"])


def _check_times(start: Column, end: Column) -> None:
    """In portions that stay in a core's cache, and that Ctrl-C can end."""
    total = 0.0
    for first in range(0, start.size, _ROWS_AT_ONCE):
        here = slice(first, first + _ROWS_AT_ONCE + 1)  # the row that follows, too
        begins, ends = start[here], end[here]
        possible = bool(possible_times(begins, ends).all())
        durations = (ends - begins)[:_ROWS_AT_ONCE]
        total += float(np.maximum(durations, 0).sum(dtype=np.float64))
        if not possible or total >= LATEST_NS:
            raise ValueError("a time is out of range")
        steps = np.diff(begins)
        if (steps < 0).any() or (np.diff(ends)[steps == 0] > 0).any():
            raise ValueError("its rows are not in order of time")
