"""Run a program and record its trace.

  overlap-lab capture -- python train.py
  overlap-lab capture --backend rocprofv3 -o traces -- ./app --steps 20
  overlap-lab capture --check-overhead 5 -- python train.py

rocprofv3 traces any HIP program. The other backends record from inside Python, so the program must start with
python: kineto (torch.profiler, CUDA and ROCm), cupti (CUDA, less in the way) and host (the CPU host target of
hip_ext). By default rocprofv3 is taken where it is on PATH, else what torch has a device for, else host.

The exit code is the program's own; 2 where it ended well and no trace was made. Everything behind -- is the
program. Traces go to the folder of -o, each process its own file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.cli.interrupts import interrupts_left_to_program
from overlap_lab.errors import CaptureError, UsageError
from overlap_lab.render.names import printable

if TYPE_CHECKING:
    from overlap_lab.capture.overhead import Overhead
    from overlap_lab.capture.rocprofv3_command import Format

__all__ = ["prepare_parser", "run"]

_BACKENDS: Final = ("auto", "rocprofv3", "kineto", "cupti", "host")
_TRACES: Final = (".pt.trace.json.gz", ".cupti.json.gz", ".db")


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program", metavar="COMMAND", nargs="*", help="the program and its arguments, behind --"
    )
    parser.add_argument("--backend", choices=_BACKENDS, default="auto", help="how to record; default: auto")
    parser.add_argument("-o", "--out", metavar="FOLDER", default="traces", help="default: ./traces")
    parser.add_argument(
        "--format", choices=("csv", "json", "rocpd"), help="what rocprofv3 writes; default: its version's own"
    )
    parser.add_argument(
        "--stacks", action="store_true", help="with kineto and host: Python frames, so waits name lines"
    )
    parser.add_argument(
        "--print-environment",
        action="store_true",
        help="print the variables by which a launcher makes rocprofv3 trace its processes, and run nothing",
    )
    parser.add_argument(
        "--convert", choices=("csv", "pftrace", "otf2"), help="turn rocpd files into this with ROCm's rocpd"
    )
    parser.add_argument(
        "--check-overhead",
        metavar="N",
        type=int,
        help="run the program N times with and N times without the profiler, in turns: what does it cost?",
    )


def run(arguments: argparse.Namespace) -> int:
    backend = _chosen(arguments.backend)
    if arguments.print_environment:
        return _print_environment(arguments)
    if not arguments.program:
        raise UsageError(
            "capture: no program; give it behind --, as in: overlap-lab capture -- python train.py"
        )
    if arguments.check_overhead is not None:
        return _check_overhead(arguments, backend)
    with interrupts_left_to_program(), _no_empty_folder(Path(arguments.out)) as folder:
        code, paths = _recorded(arguments, backend, folder)
    for path in paths:
        print(f"wrote {printable(str(path))}")
    if arguments.convert and paths:
        from overlap_lab.capture.rocprofv3 import convert

        for path in convert(paths, arguments.out, to=arguments.convert):
            print(f"wrote {printable(str(path))}")
    return code


@contextmanager
def _no_empty_folder(folder: Path) -> Iterator[Path]:
    """The folder, which is removed again where it was made for traces that were not."""
    was_there = folder.exists()
    try:
        yield folder
    finally:
        if not was_there:
            with suppress(OSError):  # it holds something, or was never made
                folder.rmdir()


def _chosen(backend: str) -> str:
    """rocprofv3 where it is on PATH; the rest is decided inside the program."""
    from overlap_lab.capture.program import found_program

    if backend == "auto" and found_program("rocprofv3"):
        return "rocprofv3"
    return backend


def _print_environment(arguments: argparse.Namespace) -> int:
    from overlap_lab.capture.rocprofv3 import launcher_environment
    from overlap_lab.capture.rocprofv3_command import exports

    print(exports(launcher_environment(arguments.out, output_format=_format(arguments))))
    return 0


def _format(arguments: argparse.Namespace) -> Format | None:
    from overlap_lab.capture.rocprofv3_command import Format

    return Format(arguments.format) if arguments.format else None


def _recorded(arguments: argparse.Namespace, backend: str, folder: Path) -> tuple[int, tuple[Path, ...]]:
    """The program's exit code and the traces that it left."""
    if backend == "rocprofv3":
        from overlap_lab.capture.rocprofv3 import rocprofv3

        made = rocprofv3(arguments.program, folder, output_format=_format(arguments))
        if made.why_nothing:
            raise CaptureError(made.why_nothing)
        return made.exit_code, made.captured.paths
    if arguments.format or arguments.convert:
        raise UsageError("--format and --convert are rocprofv3's; they go with --backend rocprofv3")
    return _recorded_inside(arguments, backend, folder)


def _recorded_inside(
    arguments: argparse.Namespace, backend: str, folder: Path
) -> tuple[int, tuple[Path, ...]]:
    from overlap_lab.capture.captured import free_folder
    from overlap_lab.capture.program import run_program
    from overlap_lab.capture.run_python import command_for

    command = command_for(arguments.program, backend=backend, folder=folder, stacks=arguments.stacks)
    before = set(_traces_in(free_folder(folder)))
    code = run_program(command)
    return code, tuple(sorted(path for path in _traces_in(folder) if path not in before))


def _traces_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(_TRACES) and path.name[0] != "."]


def _check_overhead(arguments: argparse.Namespace, backend: str) -> int:
    import tempfile
    import time

    from overlap_lab.capture.overhead import overhead
    from overlap_lab.capture.program import ended_how, run_program

    if arguments.check_overhead < 1:
        raise UsageError(
            f"--check-overhead {arguments.check_overhead}: at least 1 run of each kind is needed"
        )

    def timed(*, recorded: bool) -> float:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            if recorded:
                code, _ = _recorded(arguments, backend, Path(folder))
            else:
                code = run_program(arguments.program)
            seconds = time.perf_counter() - begin
        if code != 0:
            raise CaptureError(f"{arguments.program[0]} {ended_how(code)}: its overhead cannot be judged")
        return seconds

    found = overhead(
        lambda: timed(recorded=False), lambda: timed(recorded=True), pairs=arguments.check_overhead
    )
    print(_overhead_text(found))
    return 0


def _overhead_text(found: Overhead) -> str:
    low, high = found.interval
    return (
        f"without the profiler {found.without:.3f} s, with it {found.recorded:.3f} s (medians of "
        f"{found.pairs} runs in turns)\n"
        f"overhead {found.share:+.1%} of the run, {found.difference:+.3f} s "
        f"(95 % interval {low:+.3f} to {high:+.3f} s): {found.verdict}"
    )
