"""Trace files to Trace, whatever tool wrote them: sniffed by content, never by the name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overlap_lab.errors import UsageError
from overlap_lab.loaders.inputs import TraceInput, find_inputs
from overlap_lab.loaders.origin import with_origin
from overlap_lab.loaders.registry import Format, formats
from overlap_lab.progress import waiting_for
from overlap_lab.trace import Trace

if TYPE_CHECKING:
    from overlap_lab.loaders.sqlite_stored import Queries

__all__ = ["Format", "TraceInput", "find_inputs", "formats", "load"]


def load(source: str | Path | TraceInput | Queries) -> Trace:
    """The trace at a path, of one input that `find_inputs` found, or behind an open rocpd connection.

    Such a connection is sqlite3's, or a `RocpdImportData` of ROCm's `rocpd` package.
    Raises InputError for content that cannot be used, UsageError for a folder of several traces.
    """
    if isinstance(source, TraceInput):
        with waiting_for(f"reading {source.path.name}", source.files):
            return with_origin(source.format.read(source.files), source.files)
    if not isinstance(source, str | Path):
        from overlap_lab.loaders.rocpd import connection_of, read_rocpd_connection

        connection = connection_of(source)
        if connection is None:
            raise UsageError(f"load: a path or a rocpd connection is needed, not {type(source).__name__}")
        with waiting_for("reading the connection's tables"):
            return read_rocpd_connection(connection)
    inputs = find_inputs(source)
    if len(inputs) > 1:
        names = ", ".join(str(found.path) for found in inputs[:8]) + (", ..." if len(inputs) > 8 else "")
        raise UsageError(f"{source}: holds {len(inputs)} traces; load one of them: {names}")
    return load(inputs[0])
