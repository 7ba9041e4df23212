"""How long a command takes to end after Ctrl-C, at many moments of reading and measuring large traces.

    python scripts/measure_interrupts.py FILE_OR_FOLDER... [--moments 12] [--arguments --json -]

Each moment is a run of its own: it is interrupted after a share of the time that a whole run takes. Printed
are the longest and the median time until the process has ended, and what was wrong with how it ended.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INTERRUPTED = 130


def run(arguments: list[str], after_s: float | None, folder: Path) -> tuple[float, int, str]:
    """Seconds from the interrupt to the end (of the whole run without one), exit code, and stderr."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "overlap_lab", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=said,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        )
        begun = time.perf_counter()
        if after_s is not None:
            time.sleep(after_s)
            begun = time.perf_counter()
            process.send_signal(signal.SIGINT)
        code = process.wait()
        ended = time.perf_counter() - begun
        said.seek(0)
        return ended, code, said.read().decode()


def fault_of(code: int, said: str, left: list[str]) -> str:
    """What is wrong with how an interrupted run ended; nothing for one that had ended before."""
    if code == 0:
        return ""
    if code != INTERRUPTED or said != "overlap-lab: interrupted\n":
        return f"exit code {code}, stderr {said[-200:]!r}"
    return f"left {left}" if left else ""


def measure(path: Path, moments: int, more: list[str]) -> None:
    arguments = ["analyze", str(path.resolve()), *more]
    with tempfile.TemporaryDirectory() as folder:
        whole, _, _ = run(arguments, None, Path(folder))
        for written in Path(folder).iterdir():
            written.unlink()
        taken, faults, late = [], set(), 0
        for moment in range(moments):
            ended, code, said = run(arguments, whole * (moment + 0.5) / moments, Path(folder))
            faults.add(fault_of(code, said, sorted(p.name for p in Path(folder).iterdir())))
            late += code == 0
            if code != 0:
                taken.append(1000 * ended)
    faults.discard("")
    longest, median = (max(taken), statistics.median(taken)) if taken else (0, 0)
    print(
        f"{path.name}: whole run {whole:.2f} s; {len(taken)} interrupts: longest {longest:.0f} ms, median "
        f"{median:.0f} ms{f', {late} after the end' if late else ''}{' FAULTS ' if faults else ''}"
        f"{'; '.join(sorted(faults))}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--moments", type=int, default=12)
    parser.add_argument("--arguments", nargs=argparse.REMAINDER, default=[])
    given = parser.parse_args()
    for path in given.paths:
        measure(path, given.moments, given.arguments)


if __name__ == "__main__":
    main()
