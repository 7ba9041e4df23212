"""What is timed in overlap_lab's own environment: its work on a file, and that of others on the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from overlap_lab import analyze, load
from scripts.bench.sqlite_queries import queries

__all__ = ["WORKS"]


def whole(path: Path) -> object:
    """The trace and all of its measures."""
    trace = load(path)
    return trace, analyze(trace)


def json_load(path: Path) -> object:
    """Python's own parser: objects, and nothing done with them."""
    with path.open() as file:
        return json.load(file)


def simdjson_parse(path: Path) -> object:
    """pysimdjson's bare parse by a fresh parser: no Python object per value."""
    import simdjson

    parser = simdjson.Parser()
    return parser, parser.load(str(path))


def msgspec_rocprof(path: Path) -> object:
    """msgspec's typed decode of the records that `load` reads."""
    from scripts.bench.rocprof_types import decode

    return decode(path.read_bytes())


def polars_categorical(path: Path) -> object:
    """Every table of a folder by polars, texts as categories."""
    import polars as pl

    frames = []
    for file in sorted(path.iterdir()):
        head = pl.read_csv(file, n_rows=100)
        texts = {name: pl.Categorical for name, kind in head.schema.items() if kind == pl.String}
        frames.append(pl.read_csv(file, schema_overrides=texts))
    return frames


def connectorx_arrow(path: Path) -> object:
    """The rows that `load` reads as Arrow tables, by connectorx."""
    import connectorx

    source = f"sqlite://{path.resolve()}"
    return [connectorx.read_sql(source, query, return_type="arrow") for query in queries(path)]


def pandas_sql(path: Path) -> object:
    """The rows that `load` reads as DataFrames, by pandas.read_sql."""
    import pandas as pd

    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    frames: list[Any] = [pd.read_sql(query, connection) for query in queries(path)]
    connection.close()
    return frames


WORKS: Final[dict[str, Callable[[Path], object]]] = {
    "connectorx_arrow": connectorx_arrow,
    "json_load": json_load,
    "load": load,
    "msgspec_rocprof": msgspec_rocprof,
    "pandas_sql": pandas_sql,
    "polars_categorical": polars_categorical,
    "simdjson_parse": simdjson_parse,
    "whole": whole,
}
