"""How often tests pass, fail or are undecided while the machine is busy: runs of pytest, one after the other.

    python scripts/repeat_under_load.py tests/end_to_end/test_pytest_plugin.py              fifty runs
    python scripts/repeat_under_load.py tests/test_a.py::test_b --runs 5 --busy 1
    python scripts/repeat_under_load.py tests/end_to_end --at-once 2 -- -k "drain" -n 2

`--busy N` other processes compute all the while (default: a core less than there are, at least one), whatever
else the machine does. Each run of pytest has a temporary folder of its own, so several may go at once
(`--at-once`), and so may several of this script. Ctrl-C ends the runs under way and prints the table of those
that are done; so does `--minutes`. `--json FILE` keeps every outcome, and is written after each run.

Exit code 0 where every run ended with the exit code that is expected (`--expect`, default 0), 1 where one did
not, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

UNDECIDED = "overlap_undecided"
"""The property under which the plugin says in JUnit XML that a test is green because nothing was decided."""
OUTCOMES = ("passed", "undecided", "failed", "error", "skipped")
_BUSY = "while True: pass"
_STOPPED = 130
_POLL_S = 0.2
_LONGEST = 70


@dataclass
class Run:
    """One run of pytest: how it ended, and each test's outcome."""

    number: int
    code: int
    seconds: float
    outcomes: dict[str, str]
    says: dict[str, str] = field(default_factory=dict)
    """The first line of each failure."""


@dataclass
class Going:
    """A run under way."""

    number: int
    began: float
    process: subprocess.Popen[bytes]
    folder: Path


class Stop(Exception):
    """Ctrl-C, or the time is up."""


def main() -> int:
    options, more = _options()
    signal.signal(signal.SIGTERM, _stop)
    done: list[Run] = []
    code = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="repeat_under_load") as folder, _busy(options.busy):
        try:
            with closing(_runs(options, more, Path(folder), began)) as runs:
                for run in runs:
                    done.append(run)
                    print(_line(run), flush=True)
                    if options.json:
                        _write(options.json, done)
        except (KeyboardInterrupt, Stop) as why:
            code = _STOPPED if isinstance(why, KeyboardInterrupt) else 0
            print("stopped early: the table is of the runs that are done")
    print(_table(done, options.runs, options.busy, time.monotonic() - began))
    if code:
        return code
    return int(not done or any(run.code != options.expect for run in done))


def _options() -> tuple[argparse.Namespace, list[str]]:
    arguments, more = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="what pytest runs; options for it after --")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--busy", type=int, default=max(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=None, help="start no run after so long")
    parser.add_argument("--expect", type=int, default=0, help="pytest's exit code (1: tests that must fail)")
    parser.add_argument("--json", type=Path, default=None, help="keep every outcome here")
    return parser.parse_args(arguments), more


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a handler
    raise KeyboardInterrupt


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that compute until the block ends."""
    started = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]  # noqa: S603
    try:
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def _runs(
    options: argparse.Namespace, more: Sequence[str], folder: Path, began: float
) -> Generator[Run, None, None]:
    """Each run when it has ended, at most so many side by side."""
    going: list[Going] = []
    number = 0
    try:
        while going or number < options.runs:
            late = options.minutes is not None and time.monotonic() - began > 60 * options.minutes
            if late and not going:
                raise Stop
            while not late and number < options.runs and len(going) < options.at_once:
                number += 1
                going.append(_started(number, options.paths, more, folder / str(number)))
            time.sleep(_POLL_S)
            for one in [one for one in going if one.process.poll() is not None]:
                going.remove(one)
                yield _ended(one)
    finally:
        for one in going:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


def _started(number: int, paths: Sequence[str], more: Sequence[str], folder: Path) -> Going:
    folder.mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={folder / 'tmp'}"]
    command += [f"--junit-xml={folder / 'junit.xml'}", *paths, *more]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  pytest, as the user asked
            command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        )
    return Going(number, time.monotonic(), process, folder)


def _ended(one: Going) -> Run:
    seconds = time.monotonic() - one.began
    code = one.process.returncode
    try:
        outcomes, says = _read(one.folder / "junit.xml")
    except (OSError, ET.ParseError):
        lines = (one.folder / "output").read_text(errors="replace").strip().splitlines()
        outcomes, says = {"pytest itself": "error"}, {"pytest itself": lines[-1] if lines else "no output"}
    return Run(one.number, code, seconds, outcomes, says)


def _read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Each test's outcome, and the first line of each failure, from pytest's own JUnit XML."""
    outcomes: dict[str, str] = {}
    says: dict[str, str] = {}
    for case in ET.parse(path).getroot().iter("testcase"):  # noqa: S314  written by our own run
        name = f"{case.get('classname')}::{case.get('name')}"
        found = {child.tag: child for child in case}
        kind = next((tag for tag in ("error", "failure", "skipped") if tag in found), "passed")
        if kind == "passed" and any(one.get("name") == UNDECIDED for one in case.iter("property")):
            kind = "undecided"
        outcomes[name] = {"failure": "failed"}.get(kind, kind)
        if kind in ("error", "failure"):
            says[name] = (found[kind].get("message") or "").partition("\n")[0]
    return outcomes, says


def _line(run: Run) -> str:
    counts = Counter(run.outcomes.values())
    told = ", ".join(f"{counts[word]} {word}" for word in OUTCOMES if counts[word])
    bad = "".join(f"\n    {name}: {says}" for name, says in run.says.items())
    return f"run {run.number:3}: {told or 'no tests'}, exit code {run.code}, {run.seconds:.0f} s{bad}"


def _table(done: Sequence[Run], wanted: int, busy: int, seconds: float) -> str:
    """A line a test, and one for all of them; Markdown."""
    counts: dict[str, Counter[str]] = {}
    for run in done:
        for name, outcome in run.outcomes.items():
            counts.setdefault(name, Counter())[outcome] += 1
    lines = [f"| test | {' | '.join(OUTCOMES)} |", f"| --- |{' ---: |' * len(OUTCOMES)}"]
    lines += [_row(_short(name), found) for name, found in counts.items()]
    lines.append(_row("all", sum(counts.values(), Counter())))
    codes = Counter(run.code for run in done)
    ended = ", ".join(f"{count} x exit code {code}" for code, count in sorted(codes.items()))
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return "\n".join(
        [
            "",
            *lines,
            "",
            f"{len(done)} of {wanted} runs in {seconds:.0f} s: {ended or 'none ended'}; "
            f"busy processes: {busy} on {os.cpu_count()} cores, load at the end {load}",
        ]
    )


def _row(name: str, found: Counter[str]) -> str:
    return f"| {name} | {' | '.join(str(found[word]) for word in OUTCOMES)} |"


def _short(name: str) -> str:
    """The file and the test, without the folders."""
    if "::" not in name:
        return name
    module, _, test = re.sub(r"[|\s]+", " ", name).partition("::")
    short = f"{module.rpartition('.')[2]}::{test}"
    return short if len(short) <= _LONGEST else short[: _LONGEST - 1] + "…"


def _write(path: Path, done: Sequence[Run]) -> None:
    """Whole after every run, so that an early end loses nothing."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps([vars(run) for run in done], indent=1))
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main())
