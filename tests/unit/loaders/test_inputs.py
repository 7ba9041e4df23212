from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from overlap_lab.errors import (
    BrokenTrace,
    InputError,
    OverlapLabError,
    TraceNotFound,
    UnknownFormat,
    UsageError,
)
from overlap_lab.loaders import find_inputs, load, packed, registry
from tests.unit.loaders.chrome import call, document
from tests.unit.loaders.sdk_json import document as sdk_document
from tests.unit.loaders.sdk_json import one_process as one_sdk_process

PLAIN = document([call("cudaFree", "1")])
API = (
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    "HIP,hipFree,7,8,1,5,9\n"
)


def names(path: Path) -> list[str]:
    return [str(found.path.relative_to(path)) for found in find_inputs(path)]


def test_the_name_of_a_file_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kernel_trace.csv"
    path.write_text(PLAIN)
    assert load(path).source.format == "kineto"


def test_a_folder_of_several_traces_gives_them_sorted(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "2_hip_api_trace.csv", "2_kernel_stats.csv", "10_hip_api_trace.csv"):
        (tmp_path / name).write_text(PLAIN if name.endswith("json") else API)
    (tmp_path / "2_kernel_stats.csv").write_text("Name,Calls,TotalDurationNs\nk,1,2\n")
    assert names(tmp_path) == ["10_hip_api_trace.csv", "2_hip_api_trace.csv", "a.json", "b.json"]
    with pytest.raises(UsageError, match="holds 4 traces"):
        load(tmp_path)


def test_each_found_input_can_be_loaded(tmp_path: Path) -> None:
    for name in ("b.json", "a.json"):
        (tmp_path / name).write_text(PLAIN)
    assert [len(load(found)) for found in find_inputs(tmp_path)] == [1, 1]


def test_host_folders_are_searched(tmp_path: Path) -> None:
    (tmp_path / "node1").mkdir()
    (tmp_path / "node1" / "12_hip_api_trace.csv").write_text(API)
    assert names(tmp_path) == ["node1/12_hip_api_trace.csv"]
    assert len(load(tmp_path)) == 1


def test_other_files_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(PLAIN)
    (tmp_path / "expected.json").write_text('{"busy": 1}')
    (tmp_path / "README.md").write_text("text")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    assert names(tmp_path) == ["a.json"]


def test_csv_files_beside_the_database_of_their_run_are_not_a_second_trace(tmp_path: Path) -> None:
    from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables

    write_tables(tmp_path / "7_results.db", GUID, one_process())
    (tmp_path / "7_hip_api_trace.csv").write_text(API)
    assert names(tmp_path) == ["7_results.db"]


def test_one_run_in_several_forms_is_one_trace(tmp_path: Path) -> None:
    from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables

    (tmp_path / "7_results.json").write_text("{}")
    (tmp_path / "8_results.json").write_text(json.dumps(sdk_document(one_sdk_process())))
    (tmp_path / "8_hip_api_trace.csv").write_text(API)
    write_tables(tmp_path / "7_results.db", GUID, one_process())
    assert names(tmp_path) == ["7_results.db", "8_results.json"]


def test_links_that_lead_back_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(PLAIN)
    (tmp_path / "again").symlink_to(tmp_path)
    assert names(tmp_path) == ["a.json"]


def one_line(error: OverlapLabError) -> bool:
    return "\n" not in str(error) and "Traceback" not in str(error)


def test_a_missing_path_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "no.json", tmp_path / ("x" * 300), tmp_path / "nul\0"):
        with pytest.raises(TraceNotFound) as caught:
            load(path)
        assert one_line(caught.value)


def test_a_folder_without_traces_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(TraceNotFound, match="no trace in this folder"):
        load(tmp_path)


def test_a_folder_of_refused_traces_says_why(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"traceEvents": [{}, {"BeginNs": 1}]}')
    with pytest.raises(UnknownFormat, match="rocprof v1"):
        load(tmp_path)


def test_a_folder_of_one_unread_file_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "run.nsys-rep").write_bytes(b"\x0a\x0b\x0c")
    with pytest.raises(UnknownFormat, match="nsys export --type sqlite"):
        load(tmp_path)


def test_what_was_converted_is_read_beside_what_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "run.pftrace").write_bytes(b"\x0a\x0b\x0c")
    (tmp_path / "run.json").write_text(PLAIN)
    assert names(tmp_path) == ["run.json"]


def test_a_circle_of_links_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(TraceNotFound, match="circle"):
        load(tmp_path / "a")


def test_a_pipe_is_refused_without_being_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="not a file or folder"):
        load(tmp_path / "pipe.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(PLAIN)
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        load(path)


def test_permission_errors_are_input_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text(PLAIN)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="permission denied"):
        load(path)


@pytest.mark.parametrize("content", [b"\x93\x01\xff\x00random\x07" * 50, b"hello world\n", b"\x00" * 100])
def test_random_bytes_are_of_no_format(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UnknownFormat) as caught:
        load(path)
    assert one_line(caught.value)


def test_an_empty_file_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with pytest.raises(UnknownFormat, match="empty file"):
        load(tmp_path / "a.json")


def test_a_cut_gzip_file_is_an_error_with_the_offset(tmp_path: Path) -> None:
    packed = gzip.compress(document([call(f"cudaFree{n}", str(n)) for n in range(500)]).encode())
    path = tmp_path / "a.json.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BrokenTrace, match=rf"truncated gzip file: it ends at byte {len(packed) // 2}"):
        load(path)


def test_a_gzip_file_cut_at_any_byte_is_an_error(tmp_path: Path) -> None:
    packed = gzip.compress(PLAIN.encode())
    path = tmp_path / "a.json.gz"
    for at in range(len(packed)):
        path.write_bytes(packed[:at])
        with pytest.raises(InputError):
            load(path)


def test_damaged_gzip_data_is_an_error_with_the_offset(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(PLAIN.encode()))
    packed[-6] ^= 255
    path = tmp_path / "a.json.gz"
    path.write_bytes(bytes(packed))
    with pytest.raises(BrokenTrace, match="damaged gzip data after byte"):
        load(path)


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_FREE_BYTES", 1 << 20)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(PLAIN.encode() + b" " * (64 << 20)))
    with pytest.raises(BrokenTrace, match="decompression bomb"):
        load(path)


@pytest.mark.parametrize(
    ("start", "way_out"),
    [
        (b'{"traceEvents": [{}, {"BeginNs": 1}]}', "rocprof v1"),
        (b'"Index","KernelName","gpu-id","BeginNs","EndNs"\n', "rocprof v1"),
        (b"PK\x03\x04....", "unpack"),
        (b'{"busy": 1}', "traceEvents"),
    ],
)
def test_a_known_format_without_reader_names_the_way_out(tmp_path: Path, start: bytes, way_out: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(start)
    with pytest.raises(UnknownFormat, match=way_out):
        load(path)


@pytest.mark.parametrize("name", ["a.pftrace", "a.otf2", "a.nsys-rep", "A.PFTRACE"])
def test_binary_formats_are_known_by_their_suffix(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x0a\x0b\x0c" * 10)
    with pytest.raises(UnknownFormat) as caught:
        load(path)
    assert "none of the formats" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "tool"),
    [
        ("rocpd_api", "RPD"),
        ("HIP", "rocprof v1"),
        ("cats", "without trace"),
    ],
)
def test_a_database_of_something_else_is_refused(tmp_path: Path, table: str, tool: str) -> None:
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table} (id)")
    connection.commit()
    connection.close()
    with pytest.raises(UnknownFormat, match=tool):
        load(path)


MINE = """
from overlap_lab.loaders import Format
from overlap_lab.trace import Source, Trace

def read(files):
    return Trace.from_columns({}, names=(), source=Source(format="mine"))

mine = Format("mine", lambda path, start: start.startswith(b"MINE"), read)
other = 7
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Installs a package that offers one of its objects as a format, and gives a file of it."""

    def install(offered: str) -> Path:
        packages = tmp_path / "packages"
        (packages / "mine-1.dist-info").mkdir(parents=True)
        (packages / "mine_format.py").write_text(MINE)
        (packages / "mine-1.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: mine\nVersion: 1\n"
        )
        points = f"[overlap_lab.loaders]\nmine = mine_format:{offered}\n"
        (packages / "mine-1.dist-info" / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(packages)
        registry.formats.cache_clear()
        path = tmp_path / "a.mine"
        path.write_bytes(b"MINE")
        return path

    yield install
    registry.formats.cache_clear()
    sys.modules.pop("mine_format", None)


def test_a_plug_in_may_read_a_format_of_its_own(installed: Callable[[str], Path]) -> None:
    assert load(installed("mine")).source.format == "mine"


def test_a_plug_in_that_is_no_format_is_named(installed: Callable[[str], Path]) -> None:
    path = installed("other")
    with pytest.raises(UsageError, match=r"'mine_format:other' .* is not a Format"):
        load(path)
