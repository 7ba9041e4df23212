"""Options that the two commands share, and the report they print."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from hip_ext import Workspace
from hip_ext._library import ON_GPU
from hip_ext.tests.comparison import differences, identical, poisoned_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hip_ext.tests.comparison import Difference
    from hip_ext.tests.problems import Problem

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def use_device() -> None:
    """Makes tensors on the device that the ops were built for, when nothing else is said."""
    if ON_GPU:
        torch.set_default_device("cuda")


def boolean(text: str) -> bool:
    values = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return values[text.lower()]


def integer_pair(text: str) -> tuple[int, int]:
    try:
        first, second = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair like 128,128") from None
    return first, second


def _add_switch(parser: argparse.ArgumentParser, short: str, name: str, default: list[bool]) -> None:
    """A list of booleans; the name alone means true, --no-name false."""
    shown = " ".join(str(value).lower() for value in default)
    parser.add_argument(
        *(short, f"--{name}"), nargs="*", type=boolean, default=default, help=f"default: {shown}"
    )
    parser.add_argument(f"--no-{name}", dest=name, action="store_const", const=[False])


def add_shared_options(parser: argparse.ArgumentParser, *, dtype_flag: str, dropout_flag: str) -> None:
    parser.add_argument("-d_qk_v", nargs="+", type=integer_pair, metavar="D,D_V", help="head sizes")
    parser.add_argument(dropout_flag, "--dropout_p", type=float, default=0.0, help="only 0.0 so far")
    _add_switch(parser, "-c", "causal", [False, True])
    _add_switch(parser, "-l", "local", [False])
    parser.add_argument("-bt", "--bias_type", default="no", help="only 'no' so far")
    _add_switch(parser, "-det", "deterministic", [False, True])
    parser.add_argument("-gr", "--gqa_ratio", nargs="+", type=int, default=[1, 8], help="default: 1 8")
    parser.add_argument(
        *(dtype_flag, "--dtype"), nargs="+", choices=DTYPES, default=list(DTYPES), help="default: both"
    )
    parser.add_argument(
        "--workspace",
        nargs="+",
        type=Workspace,
        default=list(Workspace),
        metavar="MODE",
        help="sync, async, device; default: all three",
    )


def refuse_unsupported(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends the program with exit code 2 for what AITER's tests know and this project does not yet."""
    if options.dropout_p != 0.0:
        parser.error(f"dropout_p {options.dropout_p}: dropout is not supported yet; leave it at 0.0")
    if True in options.local:
        parser.error("local true: sliding windows are not supported yet; leave it at false")
    if options.bias_type != "no":
        parser.error(f"bias_type {options.bias_type}: bias is not supported yet; leave it at 'no'")
    for ratio in options.gqa_ratio:
        if ratio < 1 or options.nheads % ratio:
            parser.error(f"gqa_ratio {ratio} does not divide nheads {options.nheads}")
    for sizes in options.d_qk_v:
        if not all(1 <= size <= 256 for size in sizes):
            parser.error(f"d_qk_v {sizes[0]},{sizes[1]}: head sizes go from 1 to 256")
    for name in ("causal", "deterministic"):
        if not getattr(options, name):
            setattr(options, name, [True])


@dataclass(slots=True)
class Run:
    """Checks problems one after the other, prints what it finds and remembers how it went."""

    workspaces: Sequence[Workspace]
    deterministic: Sequence[bool]
    out_factor: float
    checked: int = 0
    failed: list[str] = field(default_factory=list)

    def check(self, title: str, problem: Problem, *, label: str = "") -> None:
        """Compares every workspace mode to the references; `label` begins each line of differences."""
        exact = problem.reference(torch.float64)
        same_dtype = problem.reference(problem.shape.dtype)
        for deterministic in self.deterministic:
            with poisoned_memory():
                results = {mode: problem.solve(mode, deterministic=deterministic) for mode in self.workspaces}
            found = {
                mode: differences(result, exact, same_dtype, out_factor=self.out_factor)
                for mode, result in results.items()
            }
            first, *others = results.values()
            agree = not deterministic or all(identical(first, other) for other in others)
            passed = agree and all(line.passed for lines in found.values() for line in lines)
            self._report(f"{title} deterministic={deterministic}", passed=passed)
            if not agree:
                print("  the workspace modes differ from each other | FAIL")
            _print_differences(found, label)

    def _report(self, title: str, *, passed: bool) -> None:
        print(f"{title}: {'pass' if passed else 'FAIL'}")
        self.checked += 1
        if not passed:
            self.failed.append(title)

    def finish(self) -> int:
        """Prints the verdict; gives the exit code."""
        for title in self.failed:
            print(f"failed: {title}")
        print(f"{self.checked - len(self.failed)} of {self.checked} configurations passed")
        return 1 if self.failed else 0


def _print_differences(found: dict[Workspace, tuple[Difference, ...]], label: str) -> None:
    """Modes with the same differences share their lines."""
    modes: dict[tuple[Difference, ...], list[str]] = {}
    for mode, lines in found.items():
        modes.setdefault(lines, []).append(mode.value)
    for lines, names in modes.items():
        for line in lines:
            print(f"  {label}{line} | {' '.join(names)}")
