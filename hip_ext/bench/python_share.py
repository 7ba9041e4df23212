"""What a Python call costs on the host target beside the work: tiny tensors on a stream that is busy.

    python -m hip_ext.bench.python_share                     # this build
    python -m hip_ext.bench.python_share --against FOLDER    # and another one, in turns

FOLDER is what PYTHONPATH would name for it: one with a built `hip_ext` in it. A stream that waits takes
its thread no turn on the processor, so that the samples are the caller's alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

BATCH, ROWS, HEADS, HEAD_SIZE = 2, 4, 2, 8
IN_ROW = 5  # calls behind each other, so that most find their code in the cache
LAUNCH_HOST_FUNCTION: Final = "_Z17hipLaunchHostFuncP12ihipStream_tPFvPvES1_"  # by its C++ name
PROBLEM: Final = f"-prec=bf16 -b={BATCH} -h={HEADS} -d={HEAD_SIZE} -s={ROWS} -mode=1 -deterministic=1"
PROGRAM: Final = f"{PROBLEM} -v=0 -pinned=pool -workspace=all -warmup=20 -repeat=1000"

Samples = dict[str, list[int]]


def calls() -> dict[str, Callable[[], object]]:
    """What is timed, by name. With results given, as in a training step that reuses them."""
    import torch

    import hip_ext

    rows = BATCH * ROWS
    borders = torch.arange(BATCH + 1, dtype=torch.int32) * ROWS
    flat: Any = [torch.randn(rows, HEADS, HEAD_SIZE).to(torch.bfloat16) for _ in range(8)]
    batch: Any = [tensor.view(BATCH, ROWS, HEADS, HEAD_SIZE) for tensor in flat]
    lse = torch.full((HEADS, rows), 6.0)
    lse_of_batch = torch.full((BATCH, HEADS, ROWS), 6.0)

    varlen: Any = partial(
        hip_ext.mha_varlen_bwd,
        *(*flat[:5], lse, borders, borders, ROWS, ROWS, 0.0, 0.35, False, False, -1, -1, True, *flat[5:]),
    )
    one_length: Any = partial(
        hip_ext.mha_bwd, *(*batch[:5], lse_of_batch, 0.0, 0.35, False, -1, -1, True, *batch[5:])
    )
    return {
        f"{call.func.__name__} {mode}": partial(call, workspace=mode)
        for call in (varlen, one_length)
        for mode in (hip_ext.Workspace.ASYNC, hip_ext.Workspace.DEVICE)
    }


@contextmanager
def _waiting_stream() -> Iterator[None]:
    """The null stream waits for the end of the scope. Allocating pinned memory would do so as well."""
    import hip_ext
    from hip_ext import _host_runtime

    beside = Path(_host_runtime.__file__).parent  # after an editable install not where the sources are
    runtime = ctypes.CDLL(str(beside / "libhip_host.so"))
    library = ctypes.CDLL(None)
    gate = ctypes.create_string_buffer(64)  # a sem_t, which is smaller
    library.sem_init(gate, 0, 0)
    launch = runtime[LAUNCH_HOST_FUNCTION]
    launch.argtypes = [ctypes.c_void_p] * 3
    if launch(None, ctypes.cast(library.sem_wait, ctypes.c_void_p), ctypes.addressof(gate)) != 0:
        raise RuntimeError("hipLaunchHostFunc failed")
    try:
        yield
    finally:
        library.sem_post(gate)
        hip_ext.synchronize()


def _fill_pinned_pool() -> None:
    """As many blocks as calls are under way at once: behind a backward that takes some while."""
    import torch

    import hip_ext

    long = torch.zeros(1, 2048, 1, 64, dtype=torch.bfloat16)
    lse = torch.zeros(1, 1, 2048)
    hip_ext.mha_bwd(*(long,) * 5, lse, 0.0, 1.0, False, -1, -1, True, workspace="device")
    for call in calls().values():
        for _ in range(2 * IN_ROW):
            call()
    hip_ext.synchronize()


def sample(rounds: int) -> Samples:
    """Nanoseconds of every call, by name; the calls take turns."""
    _fill_pinned_pool()
    timed = calls()
    taken: Samples = {name: [] for name in timed}
    for _ in range(rounds):
        with _waiting_stream():
            for name, call in timed.items():
                for _ in range(IN_ROW):
                    start = time.perf_counter_ns()
                    call()
                    taken[name].append(time.perf_counter_ns() - start)
    return taken


def _sample_of(folder: Path, rounds: int) -> Samples:
    """By a process of its own: two builds have ops of one name."""
    command = [sys.executable, __file__, "--child", "--rounds", str(rounds)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(f"{folder}: {done.stderr.strip().splitlines()[-1]}")
    taken: Samples = json.loads(done.stdout)
    return taken


def _program_medians() -> dict[str, float]:
    from hip_ext.bench.program import run

    raw = run(PROGRAM.split(), timeout_s=120).raw["modes"]
    return {mode: statistics.median(raw[mode]["samples"]["host_call_ns"]) for mode in ("async", "device")}


def _print_table(medians: dict[str, list[list[float]]], program: dict[str, list[float]]) -> None:
    """A row a call: the median over the pairs of each build's median, in microseconds."""
    both = len(next(iter(medians.values()))) == 2
    print("| call | " + ("the other | " if both else "") + "this build |" + (" ratio |" if both else ""))
    print("| --- " * (4 if both else 2) + "|")
    for name, builds in medians.items():
        cells = [f"{statistics.median(build) / 1e3:.1f} us" for build in builds]
        if both:
            ratios = [ours / theirs for theirs, ours in zip(*builds, strict=True)]
            cells.append(f"{statistics.median(ratios):.2f}")
        print(f"| `{name}` | {' | '.join(cells)} |")
    for mode, values in program.items():
        text = f"{statistics.median(values) / 1e3:.1f} us"
        print(f"| C++ {mode} |" + (" |" if both else "") + f" {text} |" + (" |" if both else ""))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hip_ext.bench.python_share")
    parser.add_argument("--against", type=Path, help="a folder with another build")
    parser.add_argument("--pairs", type=int, default=7, help="processes of each build, in turns")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of a process")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        json.dump(sample(chosen.rounds), sys.stdout)
        return 0
    here = Path(__file__).parents[2]
    folders = [here] if chosen.against is None else [chosen.against, here]
    medians: dict[str, list[list[float]]] = {}
    program: dict[str, list[float]] = {}
    for _ in range(chosen.pairs):
        for number, folder in enumerate(folders):
            for name, samples in _sample_of(folder, chosen.rounds).items():
                builds = medians.setdefault(name, [[] for _ in folders])
                builds[number].append(statistics.median(samples))
        for mode, median in _program_medians().items():
            program.setdefault(mode, []).append(median)
    _print_table(medians, program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
