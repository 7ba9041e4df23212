"""Traces for other programs, viewers and tables: what was recorded, and beside it what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from overlap_lab.errors import UsageError
from overlap_lab.progress import waiting_for
from overlap_lab.trace import Trace

__all__ = ["TARGETS", "export_trace", "suffix_of"]

TARGETS: Final = {
    "perfetto": ".pftrace",
    "chrome": ".json.gz",
    "csv": ".csv",
    "parquet": ".parquet",
    "arrow": ".arrow",
}
"""What a trace can be written as, and how such files mostly end."""


def suffix_of(target: str) -> str:
    """How files of a target mostly end. Raises UsageError for no target."""
    if target not in TARGETS:
        raise UsageError(f"export: there is no {target!r}; choose one of {', '.join(TARGETS)}")
    return TARGETS[target]


def export_trace(trace: Trace, path: str | Path, *, to: str, force: bool = False) -> Path:
    """The file that was written, whole or not at all.

    `perfetto` and `chrome` hold the recorded events with their times to the ns, and on tracks of their own
    the waits, drains, idle time by cause, queue depth and queued work that `analyze` finds, with an arrow
    from the op that a wait depended on to the wait's return. Ops that overlap on a stream are on more than
    one lane, as viewers drop them otherwise. `chrome` (gzip where the name ends in .gz) and `arrow` load
    again with the same numbers. `csv` and `parquet` hold the rows as `Trace.to_pandas` shows them.

    Raises UsageError for an unknown target, where the file exists and `force` does not say to replace it, and
    where it cannot be written; MissingDependency where a target's package is not installed.
    """
    suffix_of(to)
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{target} is a folder; name the file to write")
    if target.exists() and not force:
        raise UsageError(f"{target}: exists already; pass force=True or another name")
    try:
        with waiting_for(f"writing {len(trace):,} rows to {target.name}"):
            _write(trace, target, to)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror or error}") from None
    return target


def _write(trace: Trace, path: Path, to: str) -> None:
    if to == "arrow":
        trace.save(path, force=True)
    elif to == "chrome":
        from overlap_lab.export.chrome import write_chrome

        write_chrome(trace, path)
    elif to == "perfetto":
        from overlap_lab.export.perfetto import write_perfetto

        write_perfetto(trace, path)
    else:
        from overlap_lab.export.tables import write_csv, write_parquet

        (write_csv if to == "csv" else write_parquet)(trace, path)
