"""The commands that the project's seed quotes: they run, compare and say so by their exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def run(arguments: str) -> subprocess.CompletedProcess[str]:
    # There is a test process for every core; more threads only wait for each other.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_mha_command() -> None:
    result = run("hip_ext.tests.mha -b 2 -n 16 -q 512 -k 512 -d bf16 -d_qk_v 128,128 -gr 1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "mha bf16 h=16/16 d=128,128 causal b=2 s=512,512 deterministic=True: pass" in result.stdout
    assert "Padding Test (mixed) | out | Max diff: 0.00" in result.stdout
    assert result.stdout.endswith("16 of 16 configurations passed\n")


def test_mha_varlen_command() -> None:
    result = run("hip_ext.tests.mha_varlen -b 4 -nh 16 -s 512,512 -dt bf16 -d_qk_v 128,128 -gr 1")
    assert result.returncode == 0, result.stdout + result.stderr
    for scenario in ("mixed", "q_only", "k_only", "no_padding"):
        assert f"Group Mode Test ({scenario}) | dq  | Max diff: 0.0" in result.stdout
    assert result.stdout.endswith("12 of 12 configurations passed\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("hip_ext.tests.mha -p 0.1", "dropout_p 0.1: dropout is not supported yet; leave it at 0.0"),
        ("hip_ext.tests.mha -l true", "local true: sliding windows are not supported yet"),
        ("hip_ext.tests.mha -bt alibi", "bias_type alibi: bias is not supported yet; leave it at 'no'"),
        ("hip_ext.tests.mha -n 6 -gr 4", "gqa_ratio 4 does not divide nheads 6"),
        ("hip_ext.tests.mha -d_qk_v 128", "'128' is not a pair like 128,128"),
        ("hip_ext.tests.mha -nh 16", "-nh"),
        ("hip_ext.tests.mha_varlen -msq 4", "min_seqlen_q 4 is not supported yet; leave it at 0"),
        ("hip_ext.tests.mha_varlen -d_qk_v 300,300", "d_qk_v 300,300: head sizes go from 1 to 256"),
    ],
)
def test_other_options_are_refused_with_exit_code_2(arguments: str, message: str) -> None:
    result = run(arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_wrong_result_gives_exit_code_1() -> None:
    code = (
        "import dataclasses, hip_ext.tests.problems as problems, hip_ext.tests.mha_varlen as command\n"
        "right = problems.Problem.solve\n"
        "def wrong(self, workspace, *, deterministic):\n"
        "    result = right(self, workspace, deterministic=deterministic)\n"
        "    return dataclasses.replace(result, dk=result.dk + 1.0)\n"
        "problems.Problem.solve = wrong\n"
        "raise SystemExit(command.main(['-b', '1', '-nh', '8', '-dt', 'bf16', '-d_qk_v', '32,32']))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "| FAIL" in result.stdout
    assert "0 of 24 configurations passed" in result.stdout
