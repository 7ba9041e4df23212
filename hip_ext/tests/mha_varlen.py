"""Checks mha_varlen_bwd, with the options of AITER's op_tests/test_mha_varlen.py.

Every configuration is compared to a float64 reference in all workspace modes. Then the four Group
Mode scenarios follow, in which sequences lie apart with padding in between. AITER also runs sliding
windows by default; here -l true is refused.
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
    integer_pair,
    refuse_unsupported,
    use_device,
)
from hip_ext.tests.problems import Shape, packed, varlen_problem

HEAD_SIZES = [(32, 32), (40, 40), (64, 64), (111, 111), (128, 128), (160, 160), (192, 192)]
OUT_FACTOR = 4.0
GROUP_MODE_HEADS = 8
GROUP_MODE_SCENARIOS = ("mixed", "q_only", "k_only", "no_padding")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hip_ext.tests.mha_varlen", description=__doc__)
    parser.add_argument("-b", "--batch_size", type=int, default=4, help="default: 4")
    parser.add_argument("-nh", "--nheads", type=int, default=16, help="default: 16")
    parser.add_argument(
        *("-s", "--seqlen_q_k"), type=integer_pair, default=(4, 8), metavar="Q,K", help="default: 4,8"
    )
    add_shared_options(parser, dtype_flag="-dt", dropout_flag="-dp")
    parser.add_argument("-msq", "--min_seqlen_q", type=int, default=0, help="only 0 so far")
    parser.add_argument("-i", "--input_layout", choices=("BSHD", "KVPACKED"), default="BSHD")
    parser.set_defaults(d_qk_v=HEAD_SIZES)
    options = parser.parse_args(arguments)
    refuse_unsupported(parser, options)
    if options.min_seqlen_q != 0:
        parser.error(f"min_seqlen_q {options.min_seqlen_q} is not supported yet; leave it at 0")
    if options.input_layout == "KVPACKED" and any(d != d_v for d, d_v in options.d_qk_v):
        parser.error("input_layout KVPACKED needs equal head sizes in -d_qk_v")
    return options


def _lengths(batch: int, least: int, most: int) -> list[int]:
    return torch.randint(max(1, least), most + 1, (batch,)).tolist()


def _shortened(lengths: list[int]) -> list[int]:
    return [int(torch.randint(max(1, length // 2), length + 1, ())) for length in lengths]


def _check_group_mode(run: Run, shape: Shape, options: argparse.Namespace) -> None:
    rows_q, rows_k = options.seqlen_q_k
    for scenario in GROUP_MODE_SCENARIOS:
        torch.manual_seed(0)
        padded_q = _lengths(options.batch_size, rows_q // 2, rows_q)
        padded_k = _lengths(options.batch_size, rows_k // 2, rows_k)
        lengths_q = _shortened(padded_q) if scenario in ("mixed", "q_only") else padded_q
        lengths_k = _shortened(padded_k) if scenario in ("mixed", "k_only") else padded_k
        problem = varlen_problem(shape, lengths_q, lengths_k, padded_q, padded_k)
        name = f"Group Mode Test ({scenario})"
        title = f"{name} {shape} b={options.batch_size} s={rows_q},{rows_k}"
        run.check(title, problem, label=f"{name} | ")


def _check_varlen(run: Run, shape: Shape, options: argparse.Namespace) -> None:
    torch.manual_seed(0)
    rows_q, rows_k = options.seqlen_q_k
    lengths_q = _lengths(options.batch_size, rows_q - 20, rows_q)
    lengths_k = _lengths(options.batch_size, rows_k - 20, rows_k)
    problem = varlen_problem(shape, lengths_q, lengths_k)
    if options.input_layout == "KVPACKED":
        problem = packed(problem)
    run.check(f"mha_varlen {shape} b={options.batch_size} s={rows_q},{rows_k}", problem)


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    use_device()
    run = Run(options.workspace, options.deterministic, OUT_FACTOR)
    for dtype, (d, d_v), ratio in itertools.product(options.dtype, options.d_qk_v, options.gqa_ratio):
        for causal in options.causal:
            shape = Shape(options.nheads, ratio, d, d_v, DTYPES[dtype], causal)
            _check_varlen(run, shape, options)
        if GROUP_MODE_HEADS % ratio == 0:
            _check_group_mode(
                run, Shape(GROUP_MODE_HEADS, ratio, d, d_v, DTYPES[dtype], causal=True), options
            )
        else:
            print(f"Group Mode Test has {GROUP_MODE_HEADS} heads: left out for gqa_ratio {ratio}")
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())
