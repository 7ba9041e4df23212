from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from overlap_lab.errors import BrokenTrace, InputError, MissingDependency, UnknownFormat
from overlap_lab.loaders import find_inputs, load, packed
from tests.unit.loaders.chrome import call, document

PLAIN = document([call(f"cudaFree{n}", str(n)) for n in range(50)]).encode()
API = (
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    "HIP,hipFree,7,8,1,5,9\n"
)
MAGIC = b"\x28\xb5\x2f\xfd"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.json.zst"


def squeezed(content: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    return zstandard.ZstdCompressor().compress(content)


def test_a_packed_trace_is_read(path: Path) -> None:
    path.write_bytes(squeezed(PLAIN))
    assert len(load(path)) == 50


def test_frames_are_joined(path: Path) -> None:
    path.write_bytes(squeezed(PLAIN[:700]) + squeezed(PLAIN[700:]))
    assert len(load(path)) == 50


def test_a_frame_to_skip_is_skipped(path: Path) -> None:
    path.write_bytes(squeezed(PLAIN) + b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd")
    assert len(load(path)) == 50


def test_packed_csv_files_are_a_set(tmp_path: Path) -> None:
    (tmp_path / "7_hip_api_trace.csv.zst").write_bytes(squeezed(API.encode()))
    assert len(load(tmp_path)) == 1


def test_a_file_cut_at_any_byte_is_an_error(path: Path) -> None:
    whole = squeezed(PLAIN)
    for at in range(len(whole)):
        path.write_bytes(whole[:at])
        with pytest.raises(InputError):
            load(path)


def test_a_cut_file_is_an_error_with_the_offset(path: Path) -> None:
    whole = squeezed(PLAIN)
    path.write_bytes(whole[:-9])
    with pytest.raises(BrokenTrace, match=rf"truncated zstd file: it ends at byte {len(whole) - 9}"):
        load(path)


def test_damage_is_an_error_with_the_offset(path: Path) -> None:
    path.write_bytes(squeezed(PLAIN) + b"no frame here")
    with pytest.raises(BrokenTrace, match=r"damaged zstd data after byte \d+"):
        load(path)


def test_a_bomb_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_FREE_BYTES", 1 << 20)
    path.write_bytes(squeezed(PLAIN + b" " * (64 << 20)))
    with pytest.raises(BrokenTrace, match="decompression bomb"):
        load(path)


def test_a_packed_database_says_how_to_unpack_it(path: Path) -> None:
    path.write_bytes(squeezed(b"SQLite format 3\0" + bytes(100)))
    with pytest.raises(UnknownFormat, match="unzstd"):
        load(path)


@pytest.fixture
def _without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)


@pytest.mark.usefixtures("_without_the_package")
def test_without_the_package_the_error_says_what_to_install(path: Path) -> None:
    path.write_bytes(MAGIC + b"....")
    with pytest.raises(MissingDependency, match=r"overlap_lab\[zstd\]"):
        load(path)


@pytest.mark.usefixtures("_without_the_package")
def test_without_the_package_a_folder_gives_its_other_traces(
    tmp_path: Path, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(MAGIC + b"....")
    (tmp_path / "b.json").write_bytes(PLAIN)
    with caplog.at_level(logging.DEBUG):
        assert [found.path.name for found in find_inputs(tmp_path)] == ["b.json"]
    assert "zstandard" in caplog.text
