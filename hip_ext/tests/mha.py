"""Checks mha_bwd on sequences of one length, with the options of AITER's op_tests/test_mha.py.

Every configuration is compared to a float64 reference in all workspace modes. Then six padding
scenarios follow, in which the sequences of a batch end early. AITER also runs sliding windows by
default; here -l true is refused.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import torch

from hip_ext.tests.options import (
    DTYPES,
    Run,
    add_shared_options,
    refuse_unsupported,
    use_device,
)
from hip_ext.tests.problems import LAYOUTS, Shape, batch_problem, varlen_problem

HEAD_SIZES = [(32, 32), (40, 40), (64, 64), (111, 111), (128, 128), (160, 160), (192, 128)]
OUT_FACTOR = 2.0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hip_ext.tests.mha", description=__doc__)
    parser.add_argument("-b", "--batch_size", type=int, default=2, help="default: 2")
    parser.add_argument("-n", "--nheads", type=int, default=16, help="default: 16")
    parser.add_argument("-q", "--seqlen_q", type=int, default=512, help="default: 512")
    parser.add_argument("-k", "--seqlen_k", type=int, default=512, help="default: 512")
    add_shared_options(parser, dtype_flag="-d", dropout_flag="-p")
    parser.add_argument("-i", "--input_layout", choices=LAYOUTS, default="BSHD", help="default: BSHD")
    parser.set_defaults(d_qk_v=HEAD_SIZES)
    options = parser.parse_args(arguments)
    refuse_unsupported(parser, options)
    if options.input_layout == "KVPACKED" and any(d != d_v for d, d_v in options.d_qk_v):
        parser.error("input_layout KVPACKED needs equal head sizes in -d_qk_v")
    if options.input_layout == "QKVPACKED" and (
        options.seqlen_q != options.seqlen_k
        or options.gqa_ratio != [1]
        or any(d != d_v for d, d_v in options.d_qk_v)
    ):
        parser.error("input_layout QKVPACKED needs -q equal to -k, -gr 1 and equal head sizes in -d_qk_v")
    return options


def _lengths(scenario: str, batch: int, rows_q: int, rows_k: int) -> tuple[list[int], list[int]]:
    """Half of the batch is padded; with q_len_1 and k_len_1 all of it, down to one row."""
    half = batch // 2
    short_q = [rows_q // 2] * half + [rows_q] * (batch - half)
    short_k = [rows_k // 2] * half + [rows_k] * (batch - half)
    full_q, full_k = [rows_q] * batch, [rows_k] * batch
    return {
        "mixed": (short_q, short_k),
        "q_only": (short_q, full_k),
        "k_only": (full_q, short_k),
        "no_padding": (full_q, full_k),
        "q_len_1": ([1] * batch, full_k),
        "k_len_1": (full_q, [1] * batch),
    }[scenario]


def _check_padding(run: Run, shape: Shape, options: argparse.Namespace) -> None:
    batch, rows_q, rows_k = options.batch_size, options.seqlen_q, options.seqlen_k
    for scenario in ("mixed", "q_only", "k_only", "no_padding", "q_len_1", "k_len_1"):
        torch.manual_seed(0)
        lengths_q, lengths_k = _lengths(scenario, batch, rows_q, rows_k)
        problem = varlen_problem(shape, lengths_q, lengths_k, [rows_q] * batch, [rows_k] * batch)
        name = f"Padding Test ({scenario})"
        run.check(f"{name} {shape} b={batch} s={rows_q},{rows_k}", problem, label=f"{name} | ")


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    use_device()
    run = Run(options.workspace, options.deterministic, OUT_FACTOR)
    shapes = [
        Shape(options.nheads, ratio, d, d_v, DTYPES[dtype], causal)
        for dtype, (d, d_v), ratio, causal in itertools.product(
            options.dtype, options.d_qk_v, options.gqa_ratio, options.causal
        )
    ]
    batch, rows_q, rows_k = options.batch_size, options.seqlen_q, options.seqlen_k
    for shape in shapes:
        torch.manual_seed(0)
        problem = batch_problem(shape, batch, rows_q, rows_k, options.input_layout)
        run.check(f"mha {shape} b={batch} s={rows_q},{rows_k}", problem)
    _check_padding(run, shapes[0], options)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())
