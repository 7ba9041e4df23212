"""Rows of Kineto events in the order of a trace."""

from __future__ import annotations

from typing import Final

import numpy as np

from overlap_lab.loaders.building import Columns, built_in_order
from overlap_lab.loaders.kineto_rows import KinetoRows
from overlap_lab.native import places, spread, take, take_narrow, time_order
from overlap_lab.schema import COLUMNS, Kind
from overlap_lab.trace import DEFAULTS, Column, Source, Trace, constant

__all__ = ["ordered_trace"]

_OF_ALL: Final = ("kind", "name", "start_ns", "end_ns", "process", "thread", "correlation")
_FILLED_IN: Final = ("kind", "process", "thread")
"""Columns of all rows that calls and device rows have values of their own for."""


def ordered_trace(found: KinetoRows, source: Source) -> Trace:
    """The trace of these rows, which are gone afterwards: each column is given back once it is in order."""
    columns = _in_order(found)
    names = tuple(found.names)
    return built_in_order({name: columns[name] for name in COLUMNS if name != "depth"}, names, source)


def _in_order(found: KinetoRows) -> Columns:
    raw = found.raw.columns
    del found.raw
    by_start = np.argsort(raw["start_ns"], kind="stable")
    order = time_order(raw["start_ns"], raw["end_ns"], raw["kind"], found.rank, by_start)
    del by_start
    place = places(order)[found.rows]
    columns: Columns = {}
    for name in _OF_ALL:
        column = raw.pop(name)
        columns[name] = take_narrow(column, order) if name == "process" else take(column, order)
    size = order.size
    del order, column
    for name in _FILLED_IN:
        columns[name][place] = found.columns.pop(name)
    if found.frame_process is not None:
        strays = (columns["kind"] == Kind.PYTHON) & (columns["process"] == 0)
        columns["process"][strays] = found.frame_process
    for name in list(found.columns):
        if name not in columns:
            columns[name] = _spread(name, found.columns.pop(name), place, size)
    return columns


def _spread(name: str, values: Column, place: Column, size: int) -> Column:
    """A column of all rows from the values of some; one of a single value takes no memory."""
    absent = DEFAULTS.get(name, 0)
    if values.strides == (0,) or (values == absent).all():
        return constant(absent, size, COLUMNS[name])
    return spread(values, place, size, np.array([absent], COLUMNS[name]))
