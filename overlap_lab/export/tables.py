"""The rows of a trace as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.arrow_table import pyarrow_for, record_batch
from overlap_lab.trace import Trace
from overlap_lab.whole_file import whole_file

__all__ = ["write_csv", "write_parquet"]

_ROWS_AT_ONCE: Final = 1 << 16


def write_csv(trace: Trace, path: Path) -> None:
    """Write the rows as `Trace.to_pandas` shows them, in UTF-8; absent values are empty fields."""
    with whole_file(path) as stream:
        for first in range(0, max(len(trace), 1), _ROWS_AT_ONCE):
            rows = np.arange(first, min(first + _ROWS_AT_ONCE, len(trace)))
            text = trace.where(rows).to_pandas().to_csv(index=False, header=first == 0, lineterminator="\n")
            stream.write(text.encode("utf-8", "replace"))


def write_parquet(trace: Trace, path: Path) -> None:
    """Write the rows as Parquet, packed with zstd. Raises MissingDependency without pyarrow."""
    pa = pyarrow_for("Writing Parquet")
    from pyarrow import parquet

    table: Any = pa.Table.from_batches([record_batch(trace)])
    with whole_file(path) as stream:
        parquet.write_table(table, stream, compression="zstd")
