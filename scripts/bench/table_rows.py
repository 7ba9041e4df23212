"""rocprofv3 CSV and JSON, rocpd and Nsight Systems SQLite against what else reads their rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from scripts.bench.comparison import Contestant, compared, memory_row, ratio_row, size_of
from scripts.bench.kineto_rows import ONE_CORE
from scripts.bench.pairs import Rounds
from scripts.bench.processes import own_process
from scripts.bench.repeated_csv import csv_rows, repeat_csv
from scripts.bench.repeated_json import repeat_rocprof, rocprof_copies
from scripts.bench.repeated_sqlite import repeat_nsys, repeat_rocpd, table_rows
from scripts.bench.rows import Row, at_least, at_most
from scripts.bench.setting import MB, Setting

__all__ = ["csv_table_rows", "nsys_rows", "rocpd_rows", "rocprof_json_rows"]

_MEMORY = "load: growth of memory"
_CORES = "load: what more cores add"


def csv_table_rows(setting: Setting) -> Iterator[Row]:
    """rocprofv3 CSV: tables of calls and of kernels."""
    files = setting.captures.csv
    copies = max(1, _table_rows(setting) // csv_rows(files))
    with (
        setting.made("csv_small", partial(repeat_csv, files, copies=1)) as small,
        setting.made(f"csv_{copies}", partial(repeat_csv, files, copies=copies)) as path,
    ):
        file = f"rocprofv3 CSV, {_millions(copies * csv_rows(files))} rows, {_mb(path)}"
        ran = _against(path, small, {"polars": "polars_categorical"}, setting.chosen(3, 3, 3))
        title = "load, against polars with categories"
        yield ratio_row(title, file, at_least(1.3, 2), ran, work="load", other="polars")
        yield memory_row(_MEMORY, file, at_most(0.4, None), "load", path=path, small=small)
        yield memory_row(
            "polars: growth of memory",
            file,
            at_most(None, None),
            "polars_categorical",
            path=path,
            small=small,
        )
        yield ratio_row(_CORES, file, at_least(None, None), ran, work="load", other="on one core")


def rocprof_json_rows(setting: Setting) -> Iterator[Row]:
    """rocprofv3 JSON: records of kernels."""
    capture = setting.captures.rocprof
    copies = rocprof_copies(capture, setting.chosen(50, 460, 460) * MB)
    with (
        setting.made("rocprof_small.json", partial(repeat_rocprof, capture, copies=1)) as small,
        setting.made(f"rocprof_{copies}.json", partial(repeat_rocprof, capture, copies=copies)) as path,
    ):
        file = f"rocprofv3 JSON, {_mb(path)}"
        ran = _against(path, small, {"msgspec": "msgspec_rocprof"}, 3)
        title = "load, against msgspec's typed decode"
        yield ratio_row(title, file, at_least(2, 4), ran, work="load", other="msgspec")
        yield memory_row(_MEMORY, file, at_most(None, None), "load", path=path, small=small)
        yield ratio_row(_CORES, file, at_least(None, None), ran, work="load", other="on one core")


def rocpd_rows(setting: Setting) -> Iterator[Row]:
    """rocpd SQLite: events, regions, kernels, arguments."""
    capture = setting.captures.rocpd
    copies = max(1, _table_rows(setting) // sum(table_rows(capture).values()))
    with setting.made(f"rocpd_{copies}.db", partial(repeat_rocpd, capture, copies=copies)) as path:
        yield from _sqlite_rows("rocpd", path, capture, setting)


def nsys_rows(setting: Setting) -> Iterator[Row]:
    """Nsight Systems SQLite: calls, kernels, copies, ranges."""
    capture = setting.captures.nsys
    copies = max(1, _table_rows(setting) // sum(table_rows(capture).values()))
    with setting.made(f"nsys_{copies}.sqlite", partial(repeat_nsys, capture, copies=copies)) as path:
        yield from _sqlite_rows("Nsight SQLite", path, capture, setting)


def _sqlite_rows(name: str, path: Path, small: Path, setting: Setting) -> Iterator[Row]:
    file = f"{name}, {_millions(sum(table_rows(path).values()))} rows, {_mb(path)}"
    others = {"connectorx": "connectorx_arrow", "pandas": "pandas_sql"}
    ran = _against(path, small, others, setting.chosen(3, 2, 3))
    rocpd = name == "rocpd"
    goal = at_least(2.5, 3.5) if rocpd else at_least(None, None)
    yield ratio_row("load, against connectorx to Arrow", file, goal, ran, work="load", other="connectorx")
    goal = at_least(10, 18 if rocpd else 20)
    yield ratio_row("load, against pandas.read_sql", file, goal, ran, work="load", other="pandas")
    yield memory_row(_MEMORY, file, at_most(None, None), "load", path=path, small=small)
    yield ratio_row(_CORES, file, at_least(None, None), ran, work="load", other="on one core")


def _against(path: Path, small: Path, others: dict[str, str], rounds: int) -> Rounds:
    with own_process() as own, own_process(variables=ONE_CORE) as single:
        contestants = {name: Contestant(own, work, path, small) for name, work in others.items()}
        contestants["load"] = Contestant(own, "load", path, small)
        contestants["on one core"] = Contestant(single, "load", path, small)
        return compared(contestants, rounds)


def _table_rows(setting: Setting) -> int:
    return setting.chosen(1_000_000, 10_000_000, 10_000_000)


def _millions(rows: int) -> str:
    return f"{rows / 1e6:.1f} M"


def _mb(path: Path) -> str:
    return f"{size_of(path) / MB:.0f} MB"
