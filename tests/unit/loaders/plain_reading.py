"""The plain readers, told to do what the compiled core does, and what must then be equal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from overlap_lab.errors import OverlapLabError
from overlap_lab.loaders import csv_reading, load, rocprof_json
from overlap_lab.loaders import sqlite_columns as sqlite
from overlap_lab.schema import COLUMNS
from overlap_lab.trace import Source, Trace

__all__ = ["assert_read_alike", "read_plainly"]


def read_plainly(path: Path) -> Trace:
    """The trace at `path`, read without the compiled core."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_SAME_LIBRARY", False)
        patch.setattr(csv_reading, "_request", lambda _: None)
        patch.setattr(rocprof_json, "read_columns", lambda _: None)
        patch.setattr(sqlite, "_FROM_PAGES", False)
        return load(path)


def assert_read_alike(path: Path) -> Trace | None:
    """Both ways of reading end in one trace, row by row, or in one error. Returns the trace."""
    compiled, plain = _outcome(load, path), _outcome(read_plainly, path)
    if isinstance(compiled, str) or isinstance(plain, str):
        assert compiled == plain
        return None
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(compiled, name), getattr(plain, name), err_msg=name)
    assert compiled.names == plain.names
    assert _said(compiled.source) == _said(plain.source)
    return compiled


def _outcome(read: Callable[[Path], Trace], path: Path) -> Trace | str:
    try:
        return read(path)
    except OverlapLabError as error:
        return f"{type(error).__name__}: {error}"


def _said(source: Source) -> dict[str, object]:
    return {name: getattr(source, name) for name in source.__dataclass_fields__}
