"""The C++ benchmark as a user runs it: AITER's options, line and exit codes, its own options, its JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hip_ext.bench.program import program

SMALL = "-prec=bf16 -b=2 -h=4 -h_k=2 -d=32 -s=48 -warmup=1 -repeat=3"
SERIES = {
    "host_call_ns",
    "host_preparation_ns",
    "device_call_ns",
    "device_preparation_ns",
    "device_kernels_ns",
    "device_step_ns",
    "wall_ns",
}


def run(arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(program()), *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_line_of_the_seed() -> None:
    result = run("-prec=bf16 -b=2 -h=4 -h_k=2 -d=128 -s=512 -mode=1 -v=1 -warmup=1 -repeat=2")
    assert result.returncode == 0, result.stderr
    line = result.stdout.splitlines()[0]
    assert re.fullmatch(
        r"\[bf16\|group\|bhsd\] b:2, h:4/2, s:512/512, d:128/128, scale:0\.0883883, bias:n, dbias:0, "
        r"p_drop:0, s_randval:0, deterministic:0, mask:n, "
        r"\d+\.\d{3} ms, \d+\.\d\d TFlops, \d+\.\d\d GB/s, valid:y",
        line,
    )


def test_speed_is_by_flop_and_time_of_the_line() -> None:
    line = run("-prec=bf16 -b=2 -h=4 -d=128 -s=256 -v=0 -warmup=1 -repeat=2").stdout.splitlines()[0]
    found = re.search(r"([\d.]+) ms, ([\d.]+) TFlops", line)
    assert found is not None
    milliseconds, tflops = map(float, found.groups())
    flop = 2 * 4 * 256 * 256 * (6 * 128 + 4 * 128)
    assert tflops == pytest.approx(flop / 1e9 / milliseconds, abs=0.006)
    assert "valid" not in line


def test_what_the_line_says_of_options() -> None:
    options = "-mode=0 -deterministic=1 -mask=t -iperm=0 -operm=1 -kname=1 -timer=cpu -init=2 -d_v=64 -v=1"
    said = run(f"{SMALL} {options}").stdout
    assert said.startswith("[bf16|batch|bshd-bhsd] b:2, h:4/2, s:48/48, d:32/64, ")
    assert (
        "deterministic:1, mask:t(-1:0)\nDeterministic mode ON: 0 MByte memory workspace allocated\n" in said
    )
    assert ", fmha_bwd_dot_do_o, fmha_bwd_dq_dk_dv, fmha_bwd_convert_dq, " in said
    assert ", valid:y\n" in said


@pytest.mark.parametrize("workspace", ["sync", "async", "device"])
def test_one_workspace_mode(workspace: str) -> None:
    said = run(f"{SMALL} -workspace={workspace} -mask=2 -s_k=70 -mode=1").stdout
    assert said.count("valid:y") == 1
    assert "mask:b(-1:0)" in said
    assert f"  workspace {workspace}, pinned bare, queue 0, 3 samples" in said
    for row in ("host time in the call", "device time of the call", "device time of the preparation"):
        assert f"    {row} " in said
    assert "none: two events in a row" in said


def test_json_has_every_sample_of_every_mode(tmp_path: Path) -> None:
    path = tmp_path / 'a "quoted" file.json'
    command = [str(program()), *SMALL.split()]
    more = ["-workspace=all", "-queue=2", "-product=64", "-pinned=pool", f"-json={path}"]
    subprocess.run([*command, *more], check=True, capture_output=True)
    raw = json.loads(path.read_text())
    assert raw["format"] == "hip_ext/benchmark_mha_bwd 1"
    assert raw["arguments"] == [*SMALL.split(), *more]
    assert raw["target"] in {"host", "cuda", "hip"}
    assert raw["device"]
    assert raw["options"]["queue"] == "2"
    assert raw["options"]["d_v"] == "-1"
    assert raw["lengths"] == [[48, 48], [48, 48]]
    assert raw["product"] == 64
    assert raw["flop"] == 2 * 4 * 48 * 48 * 10 * 32
    assert list(raw["modes"]) == ["none", "sync", "async", "device"]
    assert set(raw["modes"]["none"]["samples"]) == {"device_preparation_ns", "device_step_ns"}
    for mode in ("sync", "async", "device"):
        found = raw["modes"][mode]
        assert found["valid"] is True
        assert found["workspace_bytes"] == 4096 + 4 * 2 * 4 * 48 * 32
        assert set(found["samples"]) == SERIES
        for series in found["samples"].values():
            assert len(series) == 3
            assert all(isinstance(ns, int) and ns > 0 for ns in series)
        parts = zip(
            *(found["samples"][f"{name}_ns"] for name in ("host_preparation", "host_call")), strict=True
        )
        assert all(part <= whole for part, whole in parts)


def test_the_preparation_alone_runs_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    said = run(f"{SMALL} -prepare_only=1 -v=0 -json={path}").stdout
    assert " ms, " not in said
    assert json.loads(path.read_text())["modes"]["async"]["valid"] is None


def test_a_loop_times_iterations(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    assert run(f"{SMALL} -loop=4 -queue=1 -product=64 -workspace=all -v=0 -json={path}").returncode == 0
    modes = json.loads(path.read_text())["modes"]
    assert list(modes) == ["none", "sync", "async", "device"]
    for mode in modes.values():
        assert set(mode["samples"]) == {"iteration_ns"}
        assert len(mode["samples"]["iteration_ns"]) == 3


def test_group_lengths_follow_the_seed(tmp_path: Path) -> None:
    def lengths(seed: int) -> list[list[int]]:
        path = tmp_path / f"{seed}.json"
        run(f"{SMALL} -mode=1 -b=5 -v=0 -seed={seed} -json={path}")
        found: list[list[int]] = json.loads(path.read_text())["lengths"]
        return found

    assert lengths(3) == lengths(3) != lengths(4)
    assert sum(queries for queries, _ in lengths(3)) == 5 * 48


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("-s", 255, "'-s' is not of the form -name=value"),
        ("-rows=4", 255, "there is no option -rows"),
        ("-b=0", 255, "-b=0: expected a whole number from 1"),
        ("-s=4x", 255, "-s=4x: expected a whole number"),
        ("-h=4 -h_k=3", 255, "-h=4 must be a multiple of -h_k=3"),
        ("-d=12", 255, "-d=12: head sizes are multiples of 8 from 8 to 256"),
        ("-d_v=264", 255, "-d_v=264: head sizes"),
        ("-workspace=none", 255, "-workspace=none: expected one of sync, async, device, all"),
        ("-timer=clock", 255, "-timer=clock: expected one of gpu, cpu"),
        ("-pinned=torch", 255, "or use -pinned=pool here"),
        ("-product=100", 255, "-product=100: expected a multiple of 64"),
        ("-json=/nowhere/raw.json", 255, "-json=/nowhere/raw.json: the file cannot be written"),
        ("-prec=fp32", 253, "-prec=fp32: expected fp16 or bf16"),
        ("-mask=t:64,0", 255, "-mask=t:64,0: sliding windows are not supported"),
        ("-mask=xt:4", 255, "-mask=xt:4: sliding windows are not supported"),
        ("-mask=1 -s=32 -s_k=64", 255, "-mask=1: a top-left mask needs s_k equal to s; use -mask=2"),
        ("-scale=0.5", 255, "-scale=0.5: another scale than 1/sqrt(d) is not supported; leave it at 0"),
        ("-bias=e", 255, "-bias=e: bias is not supported; leave it at n"),
        ("-dbias=1", 255, "-dbias=1: the gradient of a bias is not supported; leave it at 0"),
        ("-p_drop=0.2", 255, "-p_drop=0.2: dropout is not supported; leave it at 0"),
        ("-drop_seed=2", 255, "-drop_seed=2: dropout"),
        ("-drop_offset=1", 255, "-drop_offset=1: dropout"),
        ("-drop_prefs=1", 255, "-drop_prefs=1: dropout"),
        ("-bwd_v3=1", 255, "-bwd_v3=1: the assembly path is not supported; leave it at 0"),
        ("-v3_atomic_fp32=0", 255, "-v3_atomic_fp32=0: the assembly path"),
        ("-v3_bf16_cvt=2", 255, "-v3_bf16_cvt=2: the assembly path"),
        ("-v3_api_check=1", 255, "-v3_api_check=1: the assembly path"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(arguments: str, code: int, message: str) -> None:
    result = run(arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert result.stderr.startswith("benchmark_mha_bwd: ")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_options_of_aiter_at_their_defaults_are_no_error() -> None:
    others = "-scale=0 -bias=n -dbias=0 -p_drop=0 -drop_seed=1 -drop_offset=0 -drop_prefs=0 -bwd_v3=0"
    assert run(f"{SMALL} {others} -v3_atomic_fp32=1 -v3_bf16_cvt=1 -v3_api_check=0").returncode == 0


def test_help_names_every_option() -> None:
    result = run("-?")
    assert result.returncode == 0
    named = set(re.findall(r"^  -(\w+)=", result.stdout, re.MULTILINE))
    asked = (
        "b h h_k s s_k d d_v prec mode mask deterministic v warmup repeat init seed iperm operm kname timer"
    )
    assert named >= {*asked.split(), "workspace", "pinned", "queue", "json"}


def by_module(arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hip_ext.bench", *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_module_becomes_the_program() -> None:
    result = by_module("-prec=fp32")
    assert result.returncode == 253
    assert result.stderr == "benchmark_mha_bwd: -prec=fp32: expected fp16 or bf16\n"


def test_a_program_that_is_not_built_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_EXT_BENCHMARK", "/nowhere/benchmark_mha_bwd")
    result = by_module("-b=1")
    assert result.returncode == 1
    assert result.stderr.startswith("python -m hip_ext.bench: /nowhere/benchmark_mha_bwd is not there")
