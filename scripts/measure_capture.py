"""What capturing costs on a GPU: one loop without a capture, with torch.profiler and with CUPTI, in turns.

    python scripts/measure_capture.py [--rounds 30] [--json FILE] [--traces DIR]

The loop is bound by the host: many small kernels and one .item() a step. Prints the medians of the host time
that a kernel launch takes, and writes every round's seconds as JSON with card, driver and versions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

import torch

from overlap_lab import analyze, load
from overlap_lab.capture import cupti, kineto
from overlap_lab.capture.origin import origin

STEPS: Final = 20
KERNELS: Final = 200
"""A step."""
Capture = Callable[[Path], AbstractContextManager[Any]]


def steps(vector: torch.Tensor) -> float:
    """Seconds of the loop, the device synchronized before and behind it."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        for _ in range(KERNELS):
            vector.add_(1.0)
        vector[0].item()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def measured(capture: Capture, vector: torch.Tensor, keep: Path | None) -> float:
    """Seconds of the loop inside a capture, without its beginning and end."""
    with tempfile.TemporaryDirectory() as folder:
        with capture(Path(folder)) as captured:
            seconds = steps(vector)
        if keep is not None and captured is not None:
            shutil.copy(captured.path, keep / captured.path.name)
        return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--traces", type=Path, help="keep one small trace of each kind here")
    chosen = parser.parse_args()
    vector = torch.zeros(1024, device="cuda")
    ways: dict[str, Capture] = {"none": lambda _folder: nullcontext(), "kineto": kineto, "cupti": cupti}
    for capture in ways.values():
        measured(capture, vector, None)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(chosen.rounds):
        for name, capture in ways.items():
            seconds[name].append(measured(capture, vector, None))
    launches = STEPS * KERNELS
    for name, taken in seconds.items():
        print(f"{name:8}{statistics.median(taken) / launches * 1e6:8.2f} us a kernel launch")
    for name in ("kineto", "cupti"):
        more = [
            1e6 * (one - bare) / launches for one, bare in zip(seconds[name], seconds["none"], strict=True)
        ]
        middle = statistics.median(more)
        print(f"{name:8}{middle:+8.2f} us a launch over none ({min(more):+.2f} to {max(more):+.2f})")
    if chosen.traces:
        chosen.traces.mkdir(parents=True, exist_ok=True)
        for name in ("kineto", "cupti"):
            measured(ways[name], vector, chosen.traces)
        for path in sorted(chosen.traces.iterdir()):
            print(path.name, path.stat().st_size, "bytes:", analyze(load(path)).verdict)
    if chosen.json:
        said = {"facts": facts(), "launches": launches, "seconds": seconds}
        chosen.json.write_text(json.dumps(said, indent=1) + "\n")


def facts() -> dict[str, str]:
    """Card, driver and versions."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    card = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    return {
        **origin(backend="measure_capture", command=sys.argv),
        "card": card,
        "cuda": str(torch.version.cuda),
    }


if __name__ == "__main__":
    main()
