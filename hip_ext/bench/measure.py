"""Measures everything that docs/benchmarks/h200.md says, in one command, as one raw file.

    python -m hip_ext.bench.measure --out raw.json            # on a card: at most 8 minutes
    python -m hip_ext.bench.measure --out raw.json --quick    # a few small samples, on any target
    python -m hip_ext.bench.report raw.json > page.md

The target is the one that hip_ext was built for. Nothing else should run on the card.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import torch

from hip_ext.bench.plan import FULL, QUICK, Scale, steps
from hip_ext.bench.program import run
from hip_ext.bench.python_calls import PythonCalls, sdpa_backward_ns

__all__ = ["FORMAT", "main", "measure"]

FORMAT: Final = "hip_ext/measurement 1"
MINUTES: Final = 8


def _said(command: list[str]) -> str:
    """What a command prints; empty where it is missing or fails."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _facts(commit: str) -> dict[str, str]:
    """Card, driver, versions and commit, as text; what is not known is left out."""
    card = _said(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    driver = _said(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    known = {
        "card": card,
        "driver": driver,
        "cuda": str(torch.version.cuda or ""),
        "nvcc": _said(["nvcc", "--version"]).rpartition("release ")[2].partition(",")[0],
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "commit": commit or _said(["git", "rev-parse", "HEAD"]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    return {name: value for name, value in known.items() if value}


def measure(scale: Scale, *, command: str, commit: str = "") -> dict[str, Any]:
    """All steps of the plan and the Python calls, with what made them."""
    began = time.monotonic()
    deadline = began + 60 * MINUTES
    runs: dict[str, dict[str, Any]] = {}
    for step in steps(scale):
        done = run(step.arguments, timeout_s=max(1.0, deadline - time.monotonic()))
        runs[step.name] = {"command": done.command, "exit_code": done.exit_code, **done.raw}
        print(f"{time.monotonic() - began:6.1f} s  {step.name}", file=sys.stderr)
    device = "cpu" if runs["call/queue0"]["target"] == "host" else "cuda"
    calls = PythonCalls(scale, device)
    python = {f"queue{queue}": calls.measure(queue) for queue in calls.queues}
    pinned = {f"queue{queue}": calls.measure_pinned(queue) for queue in calls.queues}
    print(f"{time.monotonic() - began:6.1f} s  python calls", file=sys.stderr)
    return {
        "format": FORMAT,
        "command": command,
        "facts": _facts(commit),
        "seconds": round(time.monotonic() - began, 1),
        "runs": runs,
        "python_call_ns": python,
        "python_pinned_ns": pinned,
        "sdpa_backward_ns": sdpa_backward_ns(scale) if device == "cuda" else [],
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hip_ext.bench.measure", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--out", type=Path, required=True, help="the raw file")
    parser.add_argument("--quick", action="store_true", help="few samples of a small problem")
    parser.add_argument("--commit", default="", help="what was built, where git can not say it")
    parser.add_argument("--force", action="store_true", help="write over an existing file")
    chosen = parser.parse_args(arguments)
    if chosen.out.exists() and not chosen.force:
        parser.error(f"{chosen.out} exists; --force writes over it")
    command = shlex.join(["python", "-m", "hip_ext.bench.measure", *(arguments or sys.argv[1:])])
    try:
        raw = measure(QUICK if chosen.quick else FULL, command=command, commit=chosen.commit)
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    chosen.out.write_text(json.dumps(raw, separators=(",", ":")) + "\n")
    print(f"{chosen.out}: {len(raw['runs'])} runs in {raw['seconds']} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
