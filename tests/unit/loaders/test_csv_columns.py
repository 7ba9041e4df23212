"""CSV read by the compiled core equals CSV read by Python's `csv`, whatever the text is."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overlap_lab.loaders import csv_reading, load
from overlap_lab.native import csv_header
from tests.unit.loaders.plain_reading import assert_read_alike

HEADER = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
SAMPLES = sorted((Path(__file__).parents[4] / "shared" / "samples").glob("**/*.csv*"))


def _compressed_twice(text: bytes) -> bytes:
    return gzip.compress(text[:1000]) + gzip.compress(b"") + gzip.compress(text[1000:])


def _zstd(text: bytes) -> bytes:
    compressor = pytest.importorskip("zstandard").ZstdCompressor()
    return bytes(compressor.compress(text[:1000]) + compressor.compress(text[1000:]))


CELLS = st.one_of(
    st.integers(0, 30).map(str),
    st.sampled_from(
        ["", " 5 ", "0x1f", "-1", "5.0", "1_0", "\u0663", "9223372036854775807", "9223372036854775808"]
    ),
    st.sampled_from(['"a,b"', '"a""b"', '"a"b', 'a"b', '"a\nb"', '"a\r\nb"', '"', '""', "\ufeff", "\u00e9"]),
    st.sampled_from(
        ["18446744073709551615", "0" * 22 + "5", "HIP_RUNTIME_API", "MARKER_CORE_API", "hipMemcpy"]
    ),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", ""])
GOOD = st.tuples(st.just("HIP_RUNTIME_API"), CELLS, CELLS, CELLS, CELLS, *[st.integers(0, 99).map(str)] * 2)
ROWS = st.tuples(st.one_of(GOOD, st.lists(CELLS, min_size=5, max_size=8)), ENDS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "4001_hip_api_trace.csv"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_sample_is_read_alike(sample: Path) -> None:
    assert_read_alike(sample)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
@given(st.lists(ROWS, max_size=8))
def test_random_rows_are_read_alike(path: Path, rows: list[tuple[tuple[str, ...], str]]) -> None:
    text = HEADER + "\r\n" + "".join(",".join(cells) + end for cells, end in rows)
    path.write_bytes(text.encode())
    assert_read_alike(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
@given(st.text(alphabet='",\r\n\0 5a\ufeff\u0663', max_size=60), st.binary(max_size=2))
@example('"', b"")
@example("a,b,1,2,3,4,5", b"\xff")
def test_random_text_is_read_alike(path: Path, text: str, end: bytes) -> None:
    good = "HIP_RUNTIME_API,hipMemcpy,1,2,3,4,5\n"
    path.write_bytes(f"{HEADER}\n{good}{text}".encode() + end)
    assert_read_alike(path)


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_file_that_is_cut_off_is_read_alike(path: Path, cut: int) -> None:
    rows = [f'"HIP_RUNTIME_API","hip, ""{n}""",1,2,{n},1{n},2{n}' for n in range(3)]
    path.write_text("\n".join([HEADER, *rows])[:-cut])
    assert_read_alike(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(st.lists(ROWS, max_size=20), st.integers(1, 200))
def test_parts_of_a_file_are_read_as_the_whole_is(
    path: Path, rows: list[tuple[tuple[str, ...], str]], part: int
) -> None:
    text = HEADER + "\r\n" + "".join(",".join(cells) + end for cells, end in rows)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_reading, "_PART", part)
        assert_read_alike(path)


def test_a_line_end_inside_of_quotes_starts_no_part(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reading, "_PART", 50)
    monkeypatch.setattr(csv_reading, "read_plainly", None)
    inner = "\nHIP_RUNTIME_API,f,1,2,3,4,5"
    rows = [f'HIP_RUNTIME_API,"name {n}{inner * 9}",7,8,1,0,5' for n in range(40)]
    path.write_text("\n".join([HEADER, *rows, ""]))
    assert load(path).names == tuple(f"name {n}{inner * 9}" for n in range(40))


def test_a_field_longer_than_many_pieces_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reading, "read_plainly", None)
    name = "long, " * 300_000
    path.write_text(f'{HEADER}\nHIP_RUNTIME_API,"{name}",7,8,1,0,5\nHIP_RUNTIME_API,f,7,8,1,6,7\n')
    assert load(path).names == (name, "f")


@pytest.mark.parametrize("pack", [gzip.compress, _compressed_twice, _zstd])
def test_packed_files_are_read_alike(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rows = "".join(f'HIP_RUNTIME_API,"f {n % 7}",1,2,{n},{n}5,{n}9\r\n' for n in range(30_000))
    path = tmp_path / f"4001_hip_api_trace.csv.{'zst' if pack is _zstd else 'gz'}"
    path.write_bytes(pack(f"{HEADER}\r\n{rows}short".encode()))
    trace = assert_read_alike(path)
    assert trace is not None
    assert (len(trace), trace.source.faults) == (30_000, {"truncated": 1})


def test_rows_of_a_trace_are_read_by_the_core(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reading, "read_plainly", None)
    path.write_text(f'\ufeff{HEADER}\r\nHIP_RUNTIME_API,"f(int, ""a"")",7,8,1,0,5\r\n\r\nshort,row\r\n')
    trace = load(path)
    assert (trace.name_of(0), trace.source.faults) == ('f(int, "a")', {"rows_skipped": 1})


def test_a_header_may_have_a_line_in_quotes() -> None:
    assert csv_header(b'a,"b\nc"\r\n1,2\r\n') == (["a", "b\nc"], 9, True)
