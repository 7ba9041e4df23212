"""The core in C++: text to columns, and work on columns. What each door does is said in `_native.pyi`."""

from __future__ import annotations

try:
    from overlap_lab._native import (
        Cell,
        CsvReader,
        EventParser,
        Field,
        State,
        count_read,
        csv_header,
        nesting_depth,
        order,
        places,
        read_columns,
        read_csv_files,
        read_so_far,
        read_table,
        spread,
        sqlite_version,
        take,
        take_narrow,
        time_order,
    )
except ImportError as error:
    raise ImportError(
        f"overlap_lab was installed without its compiled readers ({error}): "
        "pip install --force-reinstall --no-deps overlap_lab, with a C++17 compiler on the path"
    ) from None

__all__ = [
    "Cell",
    "CsvReader",
    "EventParser",
    "Field",
    "State",
    "count_read",
    "csv_header",
    "nesting_depth",
    "order",
    "places",
    "read_columns",
    "read_csv_files",
    "read_so_far",
    "read_table",
    "spread",
    "sqlite_version",
    "take",
    "take_narrow",
    "time_order",
]
