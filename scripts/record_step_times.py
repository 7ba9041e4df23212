"""Record how long each step of a fixed workload takes, as noise for scripts/calibrate_comparison.py.

    python scripts/record_step_times.py sync tests/data/step_times/host_sync.json
    python scripts/record_step_times.py gpu tests/data/step_times/gpu.json

sync, async, device: one step is one FMHA backward of the demo on the CPU host target and the synchronize
behind it, inside a range `step #N`; its time is that range's, as `overlap-lab compare --per step` takes it.
gpu: one step is a training step of a small transformer in PyTorch that ends with `loss.item()`.
Captures follow each other with a pause, so that the slow drift of a shared machine is in them as well as the
scatter of single steps.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

UNIT_NS = 100
HOST_MODES = ("sync", "async", "device")

Capture = Callable[[int], list[int]]
"""How many steps -> the time of each in units of UNIT_NS, in the order in which they ran."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mode", choices=(*HOST_MODES, "gpu"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--captures", type=int, default=50)
    parser.add_argument("--steps", type=int, default=200, help="steps a capture")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between captures")
    options = parser.parse_args()
    what, machine, capture = gpu_steps() if options.mode == "gpu" else host_steps(options.mode)
    captures = []
    for _ in range(options.captures):
        captures.append(capture(options.steps))
        time.sleep(options.pause)
    head = {
        "what": what,
        "command": f"python {shlex.join(sys.argv)}",
        "machine": machine,
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "licence": "MIT, recorded by this project",
        "unit_ns": UNIT_NS,
    }
    options.out.write_text(as_json(head, captures))


def host_steps(mode: str) -> tuple[str, str, Capture]:
    """The demo's workload, through the recording of the host target."""
    from overlap_lab.capture.annotate import annotate
    from overlap_lab.capture.host import record
    from overlap_lab.cli.demo_workload import BackwardLoop, Mode, Shape

    shape = Shape(seqlens=(256, 128, 192), heads=2, head_dim=64)
    loop = BackwardLoop(1, shape)
    loop.warm_up(tuple(Mode))

    def capture(steps: int) -> list[int]:
        def run() -> None:
            for number in range(steps):
                with annotate(f"step #{number}"):
                    loop._run(Mode(mode))

        ranges = [one for one in record(run).recording.ranges if one.message.startswith("step #")]
        return [round((one.end_ns - one.start_ns) / UNIT_NS) for one in ranges]

    what = f"FMHA backward on the CPU host target, workspace={mode}, 1 layer of {shape}"
    return what, f"{platform.machine()}, {os.cpu_count()} cores, shared with other work", capture


def gpu_steps() -> tuple[str, str, Capture]:
    """Training steps on the first GPU; each waits for its loss."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(16, 256, 512, device="cuda")

    def step() -> None:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    def capture(steps: int) -> list[int]:
        moments = [time.perf_counter_ns()]
        for _ in range(steps):
            step()
            moments.append(time.perf_counter_ns())
        return [round((b - a) / UNIT_NS) for a, b in itertools.pairwise(moments)]

    capture(20)  # first touches, and the choice of kernels
    what = "training step of a 4-layer transformer (width 512, batch 16 x 256), ends with loss.item()"
    return what, torch.cuda.get_device_name(0), capture


def as_json(head: dict[str, Any], captures: list[list[int]]) -> str:
    """One line a capture, so that a difference can be read."""
    lines = ",\n".join(json.dumps(times, separators=(",", ":")) for times in captures)
    return json.dumps(head, indent=1)[:-2] + ',\n "captures": [\n' + lines + "\n ]\n}\n"


if __name__ == "__main__":
    main()
