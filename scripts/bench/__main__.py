"""Measure overlap_lab's speed and memory against its peers', and print the table.

    python -m scripts.bench [quick|default|full] [--rows SUBJECT...] [--captures FILE...]

Inputs are captures, repeated with shifted times and ids until they have the size; they are made when needed
and removed afterwards. What is compared runs in turn, with imports done and files in the page cache; ratios
are medians of the rounds' ratios. Every subject's rows are kept in build/bench/results.json: an interrupted
run goes on with --resume.
"""

from __future__ import annotations

import argparse
import json
import signal
import site
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from scripts.bench import document
from scripts.bench.captures import ROOT, find_captures
from scripts.bench.kineto_rows import hta_rows, kineto_large_rows, kineto_rows
from scripts.bench.other_rows import command_rows, growth_rows, metrics_rows
from scripts.bench.peers import READERS, PeerMissing, packages_of
from scripts.bench.rows import Row, at_least, not_run, printed, saved
from scripts.bench.setting import Level, Setting
from scripts.bench.table_rows import csv_table_rows, nsys_rows, rocpd_rows, rocprof_json_rows

SUBJECTS: Final[dict[str, Callable[[Setting], Iterator[Row]]]] = {
    "kineto": kineto_rows,
    "hta": hta_rows,
    "kineto-large": kineto_large_rows,
    "rocprof-json": rocprof_json_rows,
    "csv": csv_table_rows,
    "rocpd": rocpd_rows,
    "nsys": nsys_rows,
    "metrics": metrics_rows,
    "command": command_rows,
    "growth": growth_rows,
}
TERMINATED: Final = 143
RESULTS: Final = ROOT / "build" / "bench" / "results.json"

Results = dict[str, dict[str, Any]]


def main() -> int:
    """Measure the subjects, one after the other, and print one table of all."""
    chosen = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # remove the large files then too
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    results: Results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    _import_readers()
    stamp = {"level": chosen.level, "revision": document.revision()}
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as temporary:
        folder = chosen.folder or Path(temporary)
        captures = find_captures(chosen.captures, folder)
        setting = Setting(Level(chosen.level), captures, folder, keep=chosen.folder is not None)
        for subject in chosen.rows:
            if chosen.resume and _is(results.get(subject), stamp):
                continue
            _say(f"== {subject}")
            start = time.monotonic()
            rows = [_said(row) for row in _rows_of(subject, setting)]
            results[subject] = {**stamp, "rows": [saved(row) for row in rows]}
            RESULTS.write_text(json.dumps(results, indent=1))
            _say(f"== {subject}: {time.monotonic() - start:.0f} s")
    text = _text(results, stamp)
    print(text)
    if chosen.write:
        document.write(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("level", nargs="?", choices=list(Level), default=Level.DEFAULT)
    parser.add_argument(
        "--rows", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS), metavar="SUBJECT"
    )
    parser.add_argument("--captures", nargs="+", type=Path, default=[], help="Kineto JSON to repeat")
    parser.add_argument(
        "--folder", type=Path, help="keep the large files there, and use those that are there"
    )
    parser.add_argument("--resume", action="store_true", help="keep what was measured at this commit")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    return parser


def _rows_of(subject: str, setting: Setting) -> Iterator[Row]:
    try:
        yield from SUBJECTS[subject](setting)
    except Exception as error:  # noqa: BLE001 the fault of one subject must not cost the rows of the others
        traceback.print_exc()
        yield not_run(subject, "-", at_least(None, None), f"{type(error).__name__}: {error}")


def _import_readers() -> None:
    """Let this process, which packs files, import what other readers' environment holds."""
    try:
        site.addsitedir(str(packages_of(READERS)))
    except PeerMissing as missing:
        _say(f"== without other readers: {missing}")


def _is(result: dict[str, Any] | None, stamp: dict[str, str]) -> bool:
    return result is not None and all(result[name] == value for name, value in stamp.items())


def _said(row: Row) -> Row:
    _say(f"{row.work} | {row.file}: {row.measured} ({row.must}, {row.aim}) {row.verdict} | {row.seconds}")
    return row


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _text(results: Results, stamp: dict[str, str]) -> str:
    """The machine and the table of what was measured at this level."""
    rows: list[Row] = []
    others: set[str] = set()
    for subject in SUBJECTS:
        if subject in results and results[subject]["level"] == stamp["level"]:
            rows += [Row(**row) for row in results[subject]["rows"]]
            others.add(results[subject]["revision"])
    head = f"`make bench BENCH={stamp['level']}` at {', '.join(sorted(others))}; {document.machine()}"
    return f"{head}\n\n{printed(rows)}"


if __name__ == "__main__":
    sys.exit(main())
