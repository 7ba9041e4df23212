"""The command as a whole, growth from 1 MB to 2 GB, and the measures of 10 M events."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scripts.bench.captures import ROOT
from scripts.bench.comparison import Contestant, compared, ratio_row
from scripts.bench.kineto_rows import short_name
from scripts.bench.pairs import Failed
from scripts.bench.processes import own_process
from scripts.bench.repeated_json import kineto_copies, repeat_kineto
from scripts.bench.rows import Row, at_least, at_most, not_run, row_of, shown
from scripts.bench.setting import MB, Setting

__all__ = ["command_rows", "growth_rows", "metrics_rows"]

_SIZES_MB: Final = (1, 10, 50, 100, 500, 1000, 2000)
_HEAVY: Final = ("dask", "pandas", "plotly", "torch")
_MODULES: Final = (
    "import sys; from overlap_lab.cli import main; main(['analyze', sys.argv[1]]); "
    "print(*sorted(name for name in sys.argv[2:] if name in sys.modules), file=sys.stderr)"
)
_COMMAND: Final = "overlap-lab analyze, whole process"


def command_rows(setting: Setting) -> Iterator[Row]:
    """The command on a small trace, and what it imports."""
    small = setting.captures.small
    file = f"Kineto JSON, {small.stat().st_size / MB:.1f} MB"
    goal = at_most(0.6, 0.3, "{:.2f} s")
    command = [sys.executable, "-m", "overlap_lab", "analyze", str(small)]
    try:
        pairs = [(_run(command), _run([sys.executable, "-c", "import numpy"])) for _ in range(9)]
        heavy = subprocess.run(
            [sys.executable, "-c", _MODULES, str(small), *_HEAVY],
            check=True, capture_output=True, text=True, cwd=ROOT,
        ).stderr.split()  # fmt: skip
    except subprocess.CalledProcessError as error:
        yield not_run(_COMMAND, file, goal, error)
        return
    own, bare = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    yield row_of(_COMMAND, file, goal, own, f"Python with numpy alone {bare:.2f}")
    verdict = "met" if not heavy else "**missed**"
    title = f"{_COMMAND}: which of {', '.join(_HEAVY)} are imported"
    yield Row(title, file, "none", "-", ", ".join(heavy) or "none", verdict, "")


def _run(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - start


def growth_rows(setting: Setting) -> Iterator[Row]:
    """Load and all measures of one capture, repeated from 1 MB to 2 GB."""
    rates: dict[int, float] = {}
    for size in _SIZES_MB[: setting.chosen(4, 7, 7)]:
        row, rate = _grown(setting, size)
        rates |= {size: rate} if rate else {}
        yield row
    if len(rates) > 1:
        large = max(rates)
        text = f"{rates[large] / rates[min(50, large)]:.2f} of the rate at 50 MB"
        yield shown("growth: is it linear", f"Kineto JSON, {large} MB", text)


def _grown(setting: Setting, size_mb: int) -> tuple[Row, float | None]:
    """The row of a size, and its megabytes a second."""
    capture = setting.captures.small
    copies = kineto_copies(capture, size_mb * MB)
    write = partial(repeat_kineto, capture, copies=copies)
    title = "growth: load and analyze"
    with setting.made(f"growth_{size_mb}.json", write) as path:
        size = path.stat().st_size
        file = f"Kineto JSON, {size / MB:.0f} MB"
        try:
            seconds, memory = _measured(path, capture, 5 if size_mb <= 100 else 3)
        except Failed as failed:
            return not_run(title, file, at_most(None, None), failed), None
    rate = size / MB / seconds
    text = f"{rate:.0f} MB/s; memory {memory / size:.2f} of the file"
    return shown(title, file, text, f"{seconds:.3g}"), rate


def _measured(path: Path, small: Path, rounds: int) -> tuple[float, int]:
    with own_process() as own:
        ran = compared({"whole": Contestant(own, "whole", path, small)}, rounds)
        if ran.failures:
            raise Failed(ran.failures["whole"])
    with own_process() as fresh:
        fresh.seconds("whole", small)
        return ran.median("whole"), fresh.peak_growth("whole", path)


def metrics_rows(setting: Setting) -> Iterator[Row]:
    """Every measure of a loaded trace, against a page of pandas and one sort."""
    rows = setting.chosen(1_000_000, 10_000_000, 10_000_000)
    for capture in (setting.captures.kineto[-2], setting.captures.rocpd)[: setting.chosen(1, 2, 2)]:
        name = f"metrics_{short_name(capture)}_{rows}.json"
        job = json.dumps({"capture": str(capture), "rows": rows})
        with setting.made(name, partial(Path.write_text, data=job)) as path:
            yield from _measures(path, f"{short_name(capture)}, {rows / 1e6:.0f} M events")


def _measures(path: Path, file: str) -> Iterator[Row]:
    title, works = "all measures of a loaded trace", "scripts.bench.works_metrics"
    size = at_most(0.8, None, "{:.2f} GB")
    with own_process(works=works) as own:
        names = {"all measures": "all_measures", "pandas": "pandas_measures", "argsort": "argsort"}
        ran = compared({name: Contestant(own, work, path, path) for name, work in names.items()}, 3)
    pandas_title = f"{title}, against busy, blocked, gaps and drains in pandas"
    yield ratio_row(pandas_title, file, at_least(5, 10), ran, work="all measures", other="pandas")
    sort = at_most(1.5, None, "{:.3g}x")
    yield ratio_row(
        f"{title}, in stable argsorts of as many int64", file, sort, ran, work="argsort", other="all measures"
    )
    try:
        with own_process(works=works) as fresh:
            fresh.seconds("hold", path)
            growth = fresh.peak_growth("all_measures", path)
    except Failed as failed:
        yield not_run(f"{title}: growth of memory", file, size, failed)
    else:
        yield row_of(f"{title}: growth of memory", file, size, growth / 1e9)
