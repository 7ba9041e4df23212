"""The AMD build's inspection: what it reads out of code objects, and what it fails on."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_amd import __main__ as command
from scripts.check_amd import cmake_build
from scripts.check_amd.build import build, sources
from scripts.check_amd.resources import Resources, read_notes
from scripts.check_amd.symbols import check_symbols, first_versions, undefined_hip_symbols
from scripts.check_amd.toolchain import ARCHITECTURES, CheckFailed, Toolchain, find_toolchain

NOTES = """
Displaying notes found in: .note
  AMDGPU Metadata:
    amdhsa.kernels: not this line
---
amdhsa.kernels:
  - .agpr_count:     4
    .args:
      - .offset:         0
        .name:           a
        .size:           8
    .group_segment_fixed_size: 8192
    .name:           _Z5firstPf
    .private_segment_fixed_size: 16
    .sgpr_count:     20
    .sgpr_spill_count: 1
    .vgpr_count:     256
    .vgpr_spill_count: 3
  - .args:           []
    .group_segment_fixed_size: 0
    .name:           _Z6secondv
    .private_segment_fixed_size: 0
    .sgpr_count:     8
    .sgpr_spill_count: 0
    .vgpr_count:     1
    .vgpr_spill_count: 0
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
"""


def test_resources_of_every_kernel_in_the_notes() -> None:
    first, second = read_notes(NOTES)
    assert first == Resources("_Z5firstPf", 256, 4, 20, 8192, 16, 3, 1)
    assert second == Resources("_Z6secondv", 1, 0, 8, 0, 0, 0, 0)
    assert first.spills
    assert not second.spills
    assert read_notes("no notes") == []


@pytest.mark.parametrize(("scratch", "vgpr", "sgpr"), [(4, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_memory_and_either_kind_of_register_count_as_spills(scratch: int, vgpr: int, sgpr: int) -> None:
    assert Resources("k", 1, 0, 1, 0, scratch, vgpr, sgpr).spills


def test_a_kernel_that_begins_with_a_list_is_one_kernel() -> None:
    notes = NOTES.replace("  - .args:           []\n", "  - .args:\n      - .offset:         0\n")
    assert [kernel.kernel for kernel in read_notes(notes)] == ["_Z5firstPf", "_Z6secondv"]


def test_the_newest_symbol_decides_the_version() -> None:
    known = {"hipMalloc": (4, 2), "hipLaunchHostFunc": (5, 3), "hipNew": (7, 1)}
    assert check_symbols({"hipMalloc", "hipLaunchHostFunc"}, known, (6, 0)) == ((5, 3), "hipLaunchHostFunc")
    with pytest.raises(CheckFailed, match=r"hipNew needs HIP 7\.1; docs/amd\.md asks for 6\.0 only"):
        check_symbols({"hipMalloc", "hipNew"}, known, (6, 0))
    with pytest.raises(CheckFailed, match=r"does not say since when HIP has hipOther"):
        check_symbols({"hipMalloc", "hipOther"}, known, (6, 0))


def test_the_table_of_versions() -> None:
    versions = first_versions()
    assert versions["hipLaunchHostFunc"] == (5, 3)
    assert versions["hipGetDevicePropertiesR0600"] == (6, 0)
    assert versions["hipStreamBeginCapture"] == (4, 3)
    assert list(versions) == sorted(versions)


def test_only_functions_of_the_runtime_are_hip_symbols() -> None:
    said = "hipMalloc\n__hipPushCallConfiguration\n__hip_fatbin_1\nmemset\n_ZN7hip_ext5checkEv\nhipMalloc\n"
    assert undefined_hip_symbols(said) == {"hipMalloc", "__hipPushCallConfiguration"}


def test_the_sources_are_those_of_the_gpu_targets() -> None:
    names = {path.name for path in sources()}
    assert names >= {"launcher.cpp", "kernels.hip", "problem.cpp", "product.hip", "benchmark_mha_bwd.cpp"}
    assert not {name for name in names if "host" in name or name.startswith("test_")}


@pytest.mark.parametrize(
    ("demangled", "short"),
    [
        ("hip_ext::(anonymous namespace)::fmha_bwd_dot_do_o(hip_ext::FmhaBwdParams)", "fmha_bwd_dot_do_o"),
        ("void hip_ext::(anonymous namespace)::f<hip_ext::Bf16, 64>(int)", "f<Bf16, 64>"),
    ],
)
def test_names_of_kernels_are_short(demangled: str, short: str) -> None:
    assert command.short_name(demangled) == short


def test_without_headers_the_way_to_them_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--rocm", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "no HIP headers; make check-amd fetches them" in said or "apt-get install clang-22" in said


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    try:
        return find_toolchain(command.ROCM)
    except CheckFailed as error:
        pytest.skip(str(error))


TRIAL = """
#include <hip/hip_runtime.h>

__global__ void modest(float* a) { a[threadIdx.x] += 1.0f; }

// 300 values that are all needed at once, in 256 registers at most.
__global__ void __launch_bounds__(1024) greedy(float* a) {
  float own[300];
#pragma unroll
  for (int i = 0; i < 300; ++i) own[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 300; ++i) a[i * 1024 + threadIdx.x] = own[299 - i] * own[i];
}

void launch(float* a) {
  modest<<<1, 64>>>(a);
  greedy<<<1, 1024>>>(a);
}
"""


def test_a_kernel_that_spills_is_seen_on_every_architecture(toolchain: Toolchain, tmp_path: Path) -> None:
    trial = tmp_path / "trial.hip"
    trial.write_text(TRIAL)
    built = build(toolchain, [trial], tmp_path / "out")
    for architecture in ARCHITECTURES:
        found = {each.kernel: each for each in built.resources["trial.hip", architecture]}
        assert not found["_Z6modestPf"].spills
        assert found["_Z6greedyPf"].spills
    assert "hipLaunchKernel" in built.hip_symbols


def test_what_does_not_compile_is_said_in_the_compilers_words(toolchain: Toolchain, tmp_path: Path) -> None:
    trial = tmp_path / "trial.hip"
    trial.write_text("__global__ void broken() { missing(); }")
    with pytest.raises(CheckFailed, match="missing"):
        build(toolchain, [trial], tmp_path / "out")


def test_without_debians_packages_cmake_is_left_out_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no apt-get
    command.check_cmake(Toolchain(22, tmp_path, tmp_path), tmp_path / "libamdhip64.so.7", tmp_path / "amd")
    said = capsys.readouterr().out
    assert said.startswith("CMake's HIP branch was left out: ")
    assert "apt-get download hipcc libamdhip64-dev" in said
    assert not (tmp_path / "amd/debian/usr").exists()  # so that the next call tries again


def test_the_libraries_that_the_cmake_packages_were_made_with(tmp_path: Path) -> None:
    folder = tmp_path / "lib/x86_64-linux-gnu/cmake/hip"
    folder.mkdir(parents=True)
    location = '  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/x86_64-linux-gnu/libamdhip64.so.5.2.21153"'
    (folder / "hip-targets-release.cmake").write_text(f"{location}\n{location}\n")
    (folder / "hip-config.cmake").write_text("nothing/libother.so.1 of interest")
    wanted = tmp_path / "lib/x86_64-linux-gnu/libamdhip64.so.5.2.21153"
    assert cmake_build.libraries_of(tmp_path) == [wanted]
