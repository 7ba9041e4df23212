"""How fast traces are read: paired runs against a bare json.load, as rows of a table.

    python scripts/bench_readers.py CAPTURE.json.gz... [--sizes 50 500] [--repeat 5] [--folder DIR]

Each capture is repeated, with times and ids shifted, until the file is large enough. Runs of a pair follow
each other in one process, with imports done and the file in the page cache; the medians are compared. Memory
is the growth of the peak of RssAnon over its value after the imports, in a process of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from overlap_lab import analyze, load

_MB: Final = 1_000_000
_SHIFTED: Final = re.compile(rb'("(?:ts|correlation|External id|id|Ev Idx|Python id)": )(\d+)')
_STEP_US: Final = b"ts"


def repeated(capture: Path, size_mb: int, folder: Path) -> Path:
    """A file of about this size: the capture's events again and again, later and with other ids."""
    path = folder / f"{capture.name.split('.')[0]}_{size_mb}.json"
    if path.exists():
        return path
    content = gzip.decompress(capture.read_bytes()) if capture.suffix == ".gz" else capture.read_bytes()
    start = content.index(b"[", content.index(b'"traceEvents"')) + 1
    stop = content.rindex(b"]")
    pieces = _SHIFTED.split(content[start:stop])
    texts, keys = pieces[0::3], pieces[1::3]
    numbers = [int(number) for number in pieces[2::3]]
    times = [n for key, n in zip(keys, numbers, strict=True) if _STEP_US in key]
    span = max(times) - min(times) + 1
    steps = [span if _STEP_US in key else 1 << 22 for key in keys]
    with path.open("wb") as file:
        file.write(content[:start])
        for copy in range(max(1, round(size_mb * _MB / len(content)))):
            shifted = [b"%d" % (n + copy * step) for n, step in zip(numbers, steps, strict=True)]
            file.write((b"," if copy else b"") + texts[0])
            file.writelines(
                part for three in zip(keys, shifted, texts[1:], strict=True) for part in three
            )  # fmt: skip
        file.write(content[stop:])
    return path


def parse_json(path: Path) -> None:
    with path.open() as file:
        json.load(file)


def whole(path: Path) -> None:
    analyze(load(path))


def medians(repeat: int, *works: Callable[[], object]) -> list[float]:
    """Median seconds of each work; a round runs all of them, one after the other."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def anonymous_memory() -> int:
    """RssAnon of this process in bytes."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in line]
    return int(line.split()[1]) * 1024


def peak_growth(work: Callable[[], object]) -> int:
    """By how many bytes the peak of RssAnon exceeds its value before, sampled every 2 ms."""
    before = peak = anonymous_memory()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return peak - before


def grown_apart(path: Path) -> float:
    """Peak growth of the whole of `analyze`, as a share of the file, in a process of its own."""
    command = [sys.executable, __file__, "--memory-of", str(path)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return int(found.stdout) / path.stat().st_size


def row(path: Path, repeat: int) -> str:
    """One line of the table."""
    packed = path.with_suffix(".json.gz")
    if not packed.exists():
        packed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=6))
    load(path)
    bare, alone, with_measures, from_gzip = medians(
        repeat, lambda: parse_json(path), lambda: load(path), lambda: whole(path), lambda: load(packed)
    )
    cells = (
        path.stem,
        f"{path.stat().st_size / _MB:.0f}",
        f"{len(load(path))}",
        f"{bare:.2f} s",
        f"{bare / alone:.1f}x",
        f"{bare / with_measures:.1f}x",
        f"{alone / from_gzip:.2f}x",
        f"{grown_apart(path):.2f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("captures", nargs="*", type=Path)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50], metavar="MB")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--folder", type=Path, help="where the large files are kept; default: a temporary folder"
    )
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory_of:
        print(peak_growth(lambda: whole(chosen.memory_of)))
        return
    if not chosen.captures:
        parser.error("no captures: make bench CAPTURES='trace.json.gz ...'")
    print(
        "| file | MB | rows | json.load | load | load and analyze | gzip, of the plain rate | memory / file |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for capture in chosen.captures:
            for size in chosen.sizes:
                print(row(repeated(capture, size, folder), chosen.repeat), flush=True)


if __name__ == "__main__":
    main()
