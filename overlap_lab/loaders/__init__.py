"""Trace files to Trace, whatever tool wrote them: sniffed by content, never by the name."""

from __future__ import annotations

from pathlib import Path

from overlap_lab.errors import UsageError
from overlap_lab.loaders.inputs import TraceInput, find_inputs
from overlap_lab.loaders.registry import Format, formats
from overlap_lab.trace import Trace

__all__ = ["Format", "TraceInput", "find_inputs", "formats", "load"]


def load(source: str | Path | TraceInput) -> Trace:
    """The trace at a path, or of one input that `find_inputs` found.

    Raises InputError for content that cannot be used, UsageError for a folder of several traces.
    """
    if isinstance(source, TraceInput):
        return source.format.read(source.files)
    inputs = find_inputs(source)
    if len(inputs) > 1:
        names = ", ".join(str(found.path) for found in inputs[:8]) + (", ..." if len(inputs) > 8 else "")
        raise UsageError(f"{source}: holds {len(inputs)} traces; load one of them: {names}")
    return load(inputs[0])
