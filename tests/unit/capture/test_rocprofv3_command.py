"""The rocprofv3 command of each version."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlap_lab.capture.rocprofv3_command import (
    Format,
    Version,
    command_for,
    environment_for,
    exports,
    version_in,
)
from overlap_lab.errors import UsageError

ROCM_6_2, ROCM_6_4, ROCM_7_0, NEWEST = Version(0, 4), Version(0, 6), Version(1, 0), Version(1, 4, 1)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        (
            "             version: 1.1.0\n        git_revision: 5f\n        rocm_version: 7.1.0\n",
            Version(1, 1, 0),
        ),
        ("version: 0.6", Version(0, 6, 0)),
        ("rocprofv3: error: unrecognized arguments: --version", Version()),
        ("", Version()),
    ],
)
def test_the_version_is_the_one_that_rocprofv3_prints(printed: str, version: Version) -> None:
    assert version_in(printed) == version


@pytest.mark.parametrize(
    ("rocm", "version"),
    [("6.2.4-66\n", Version(0, 4)), ("6.3.0", Version(0, 5)), ("6.4.1", Version(0, 6)), ("9", Version())],
)
def test_where_it_prints_none_the_rocm_release_tells_it(rocm: str, version: Version) -> None:
    assert version_in("", rocm=rocm) == version


@pytest.mark.parametrize(
    ("version", "default"),
    [(Version(), "csv"), (ROCM_6_2, "csv"), (ROCM_6_4, "csv"), (ROCM_7_0, "rocpd"), (NEWEST, "rocpd")],
)
def test_the_output_is_csv_up_to_rocm_6_4_and_rocpd_from_7_0(version: Version, default: str) -> None:
    line = command_for(version, ["./app", "--steps", "2"], folder=Path("out"))
    assert line[line.index("--output-format") + 1] == default
    assert line[line.index("--") + 1 :] == ["./app", "--steps", "2"]


def test_calls_kernels_copies_and_ranges_are_traced() -> None:
    line = command_for(NEWEST, ["./app"], folder=Path("out"))
    for wanted in ("--hip-runtime-trace", "--kernel-trace", "--memory-copy-trace", "--marker-trace"):
        assert wanted in line


@pytest.mark.parametrize(("rank", "name"), [(None, "trace_%pid%"), (3, "trace_rank%rank%_%pid%")])
def test_each_process_writes_a_file_of_its_own(rank: int | None, name: str) -> None:
    line = command_for(NEWEST, ["./app"], folder=Path("out"), rank=rank)
    assert line[line.index("-o") + 1] == name


def test_a_format_that_the_version_does_not_write_is_refused() -> None:
    with pytest.raises(UsageError, match=r"rocprofv3 0\.6\.0 writes no rocpd files .*--format csv or json"):
        command_for(ROCM_6_4, ["./app"], folder=Path("out"), output_format=Format.ROCPD)


def test_no_program_is_refused() -> None:
    with pytest.raises(UsageError, match="no program to run"):
        command_for(NEWEST, [], folder=Path("out"))


def test_only_the_newest_sdk_bears_torch_profiler_in_the_same_process() -> None:
    assert not ROCM_7_0.bears_torch_profiler
    assert NEWEST.bears_torch_profiler


def rocm_with_libraries(folder: Path) -> Path:
    for name in (
        "rocprofiler-sdk/librocprofiler-sdk-tool.so",
        "librocprofiler-sdk.so",
        "librocprofiler-sdk-roctx.so",
    ):
        library = folder / "lib" / name
        library.parent.mkdir(parents=True, exist_ok=True)
        library.touch()
    return folder


def test_a_launcher_gets_variables_instead_of_a_command(tmp_path: Path) -> None:
    rocm = rocm_with_libraries(tmp_path / "rocm")
    found = environment_for(ROCM_7_0, folder=tmp_path / "my out", rocm=rocm)
    assert found["LD_PRELOAD"].split(":")[0] == found["ROCP_TOOL_LIBRARIES"]
    assert found["ROCPROF_OUTPUT_FORMAT"] == "rocpd"
    assert {name for name, value in found.items() if value == "1"} == {
        "ROCPROFILER_LIBRARY_CTOR",
        "ROCPROF_HIP_RUNTIME_API_TRACE",
        "ROCPROF_KERNEL_TRACE",
        "ROCPROF_MARKER_API_TRACE",
        "ROCPROF_MEMORY_COPY_TRACE",
    }
    assert f"export ROCPROF_OUTPUT_PATH='{tmp_path}/my out'" in exports(found).splitlines()


def test_an_installation_without_the_libraries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"librocprofiler-sdk-tool\.so is missing"):
        environment_for(ROCM_7_0, folder=tmp_path, rocm=tmp_path)
