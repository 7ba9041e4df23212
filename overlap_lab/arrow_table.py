"""Trace -> Arrow, for other programs and for files. Imported only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from types import ModuleType
from typing import Any, Final

import numpy as np

from overlap_lab.errors import MissingDependency
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, Api, CopyKind, Kind, Memory
from overlap_lab.trace import Column, Mask, Trace

__all__ = ["arrow_stream", "arrow_type", "named_column", "plain_column", "pyarrow_for", "record_batch"]

_WORDS: Final[dict[str, type[IntEnum]]] = {"kind": Kind, "api": Api, "copy_kind": CopyKind, "memory": Memory}
_ABSENT: Final = {
    "process": ABSENT_PROCESS,
    "device": ABSENT_DEVICE,
    "thread": ABSENT,
    "stream": ABSENT,
    "queue": ABSENT,
    "bytes": ABSENT,
    "graph": ABSENT,
}


def pyarrow_for(purpose: str) -> ModuleType:
    """The package, with its `ipc`; MissingDependency that says for what where it is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise MissingDependency("pyarrow", purpose=purpose, extra="arrow") from None
    module: ModuleType = pa
    return module


def record_batch(trace: Trace) -> Any:
    """A pyarrow.RecordBatch with one column for each of ours; enums as words, absent values as null.

    Numbers lie where they lie in the trace: only columns of one value for all rows are written out.
    """
    pa = pyarrow_for("A trace as Arrow")
    arrays = []
    for name in COLUMNS:
        column = getattr(trace, name)
        if name == "name":
            arrays.append(named_column(trace.name, [_shown(text) for text in trace.names]))
        elif name in _WORDS:
            words = pa.array([word.name.lower() for word in _WORDS[name]])
            arrays.append(pa.DictionaryArray.from_arrays(plain_column(column), words))
        else:
            present = column != _ABSENT[name] if name in _ABSENT else None
            arrays.append(plain_column(column, present))
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def arrow_stream(trace: Trace, requested_schema: object) -> object:
    """See `Trace.__arrow_c_stream__`."""
    pa = pyarrow_for("A trace as Arrow")
    batch = record_batch(trace)
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    stream: object = reader.__arrow_c_stream__(requested_schema)
    return stream


def arrow_type(dtype: np.dtype[Any]) -> Any:
    """The Arrow type of a column's numbers."""
    return pyarrow_for("A trace as Arrow").from_numpy_dtype(dtype)


def plain_column(column: Column, present: Mask | None = None) -> Any:
    """An Arrow array on the column's own memory; rows that are not present are null and keep their number."""
    pa = pyarrow_for("A trace as Arrow")
    whole = np.ascontiguousarray(column)
    valid = None
    if present is not None and not present.all():
        valid = pa.py_buffer(np.packbits(present, bitorder="little"))
    buffers = [valid, pa.py_buffer(whole)]
    return pa.Array.from_buffers(arrow_type(whole.dtype), whole.size, buffers)


def named_column(codes: Column, names: Sequence[str]) -> Any:
    """A dictionary array of the names; rows without one are null."""
    pa = pyarrow_for("A trace as Arrow")
    texts = pa.array(names, pa.large_utf8())
    return pa.DictionaryArray.from_arrays(plain_column(codes, codes >= 0), texts, safe=False)


def _shown(name: str) -> str:
    """UTF-8 has no half of a surrogate pair, which a damaged name can hold."""
    return name.encode("utf-8", "replace").decode()
