"""Whether two readers say the same of a file: every column, every fault, every note, or the same error."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from overlap_lab.errors import OverlapLabError
from overlap_lab.loaders.kineto import read_kineto
from overlap_lab.schema import COLUMNS
from overlap_lab.trace import Trace, columns_of
from tests.reference_readers import kineto as reference

__all__ = ["check_same"]


def check_same(path: Path) -> Trace | OverlapLabError:
    """What both readers find in a file."""
    found, expected = (_outcome(reader, path) for reader in (read_kineto, reference.read_kineto))
    if isinstance(found, OverlapLabError) or isinstance(expected, OverlapLabError):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return found
    assert found.source == expected.source
    assert sorted(found.names) == sorted(expected.names)
    for name, dtype in COLUMNS.items():
        left, right = columns_of(found)[name], columns_of(expected)[name]
        if name == "name":
            left, right = (np.array(t.names, object)[t.name] for t in (found, expected))
        else:
            assert left.dtype == right.dtype == dtype
        assert np.array_equal(left, right), name
    return found


def _outcome(reader: object, path: Path) -> Trace | OverlapLabError:
    try:
        return reader(path)  # type: ignore[operator]
    except OverlapLabError as error:
        return error
