"""Record the backward's three workspace modes on an NVIDIA card, by torch.profiler and by CUPTI.

    python traces/record_cuda.py OUT       traces and their entries for manifest.json, into the folder OUT

Each layer queues eight products of 4096 x 4096 matrices and calls the backward behind them, on torch's own
stream. The median of the runs by the device's window is kept. Needs a card, hip_ext built for it, and for
CUPTI the package cupti-python; without that its traces are left out, which is said.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

import hip_ext
import overlap_lab
from hip_ext.example_layer import backward_arguments
from overlap_lab import capture
from overlap_lab.capture.captured import Captured
from overlap_lab.errors import MissingDependency

MODES = ("sync", "async", "device")
LENGTHS = (512, 256, 384)
HEADS, SIZE, LAYERS, PRODUCTS, ROUNDS = 4, 64, 3, 8, 5
MOST = 1_000_000
"""Bytes of a trace that is kept."""


class Workload:
    """The layers' tensors, made once."""

    def __init__(self) -> None:
        self.matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
        self.layers = [
            backward_arguments(LENGTHS, heads=HEADS, head_size=SIZE, seed=seed, device="cuda")
            for seed in range(LAYERS)
        ]

    def run(self, mode: str) -> None:
        for index, layer in enumerate(self.layers):
            with overlap_lab.annotate(f"backward layer {index}"):
                for _ in range(PRODUCTS):
                    torch.mm(self.matrix, self.matrix)
                hip_ext.mha_varlen_bwd(**layer, workspace=mode)
        torch.cuda.synchronize()


Recorder = Callable[[str], AbstractContextManager[Captured]]


def record(workload: Workload, recorder: Recorder, mode: str, target: Path) -> Path:
    """The median run of a mode, as it was written, packed."""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number in range(ROUNDS):
            with recorder(f"{folder}/{number}") as captured:
                workload.run(mode)
            window = overlap_lab.analyze(overlap_lab.load(captured.path)).by_tag("device/window")[0].value
            runs.append((window or 0, captured.path))
        path = sorted(runs)[ROUNDS // 2][1]
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        target.write_bytes(gzip.compress(content, mtime=0))
    return target


def entry(path: Path, tool: str, mode: str) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "file": path.name,
        "format": "Kineto JSON",
        "tool": f"overlap_lab.capture.{tool}",
        "version": overlap_lab.__version__,
        "device": f"{torch.cuda.get_device_name()}, driver {_driver()}",
        "machine": platform.machine(),
        "system": f"Linux, Python {platform.python_version()}, {_torch()}",
        "command": "python traces/record_cuda.py",
        "what": f"FMHA backward, workspace={mode}, {LAYERS} layers of {HEADS} heads x {SIZE}, sequences "
        f"{','.join(map(str, LENGTHS))}, bf16, causal, deterministic, each behind {PRODUCTS} products of "
        f"4096 x 4096, median of {ROUNDS}",
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "licence": "MIT, recorded by this project",
    }


def _torch() -> str:
    return f"torch {torch.__version__}, CUDA {torch.version.cuda}"


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    if shutil.which(command[0]) is None:
        return "unknown"
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    return shown.stdout.strip().splitlines()[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    if not torch.cuda.is_available():
        parser.error("there is no CUDA device here")
    out.mkdir(parents=True, exist_ok=True)
    recorders: dict[str, Recorder] = {"kineto": capture.kineto, "cupti": capture.cupti}
    workload, entries = Workload(), []
    for tool, recorder in recorders.items():
        for mode in MODES:
            workload.run(mode)
            try:
                path = record(workload, recorder, mode, out / f"h200_fmha_bwd_{mode}_{tool}.json.gz")
            except MissingDependency as error:
                print(f"left out: {error}", file=sys.stderr)
                break
            entries.append(entry(path, tool, mode))
            if entries[-1]["bytes"] > MOST:
                parser.error(f"{path} is larger than {MOST} bytes")
            print(f"{path.name}: {entries[-1]['bytes']:,} bytes", file=sys.stderr)
    (out / "entries.json").write_text(json.dumps(entries, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
