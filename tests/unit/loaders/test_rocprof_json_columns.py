"""rocprofv3 JSON read by the compiled core equals what Python's `json` makes of it, damaged or not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab._native import Path as Instructions
from overlap_lab._native import RecordParser, path_supported
from overlap_lab.loaders import load, rocprof_json, rocprof_json_read
from tests.unit.loaders.plain_reading import assert_read_alike
from tests.unit.loaders.sdk_json import api, copy, document, kernel, one_process

SAMPLES = sorted((Path(__file__).parents[4] / "shared" / "samples" / "rocprofv3_json").glob("*"))
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "4001_results.json"


def argument(kind: object, name: object, value: object) -> dict[str, object]:
    return {"type": kind, "name": name, "value": value}


NUMBERS = st.one_of(
    st.integers(0, 40),
    st.sampled_from([-1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(2**63)]),
)
ODD = st.one_of(
    NUMBERS, st.sampled_from([None, True, "7", "0x1f", "x", 1.5, [], {}, {"handle": 3}, {"handle": None}])
)
VALUES = st.one_of(
    st.sampled_from(["0x7f00", "0x0", "nullptr", "4096", "DeviceToHost", "2", 'a"b', "\u00e9", "", 16, None])
)
ARGUMENTS = st.one_of(
    st.lists(
        st.builds(
            argument,
            st.sampled_from(["hipStream_t", "size_t", "hipMemcpyKind", 1, "a\tb"]),
            st.sampled_from(["stream", "kind", "sizeBytes", "dst", "count"]),
            VALUES,
        ),
        max_size=4,
    ),
    st.sampled_from([{}, None, 5, {"sizeBytes": 4096, "stream": "0x7f00"}, [1], [argument("a", "b", [1])]]),
)
KEYS = st.sampled_from(
    ["stream_id", "thread_id", "start_timestamp", "end_timestamp", "bytes", "graph_exec_id", "kind",
     "operation", "correlation_id", "dispatch_info", "src_agent_id", "more"]
)  # fmt: skip
CHANGES = st.one_of(
    st.dictionaries(KEYS, NUMBERS, max_size=3), st.dictionaries(KEYS, ODD, max_size=2), st.just({})
)
TIMES = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9))
KERNELS = st.builds(lambda t, more: {**kernel(*t, kernel_id=t[2]), **more}, TIMES, CHANGES)
COPIES = st.builds(lambda t, more: {**copy(*t), **more}, TIMES, CHANGES)
CALLS = st.builds(
    lambda t, args, more: {**api(t[2] % 4, *t), "args": args, **more}, TIMES, ARGUMENTS, CHANGES
)
MARKS = st.builds(lambda t: api(t[2] % 3, *t[:2], t[2] + 17, kind=4), TIMES)
PROCESSES = st.builds(
    one_process,
    st.sampled_from([4001, 4002, -1, "4001"]),
    kernel_dispatch=st.lists(KERNELS, max_size=8),
    memory_copy=st.lists(COPIES, max_size=4),
    hip_api=st.lists(CALLS, max_size=8),
    hsa_api=st.lists(MARKS, max_size=2),
    marker_api=st.lists(MARKS, max_size=4),
    scratch_memory=st.lists(st.just({"size": 1}), max_size=1),
)
DOCUMENTS = st.lists(PROCESSES, min_size=1, max_size=3).map(lambda some: document(*some))
STYLES = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])
PARTS = st.sampled_from([1, 50, 400, 1 << 30])


def write(path: Path, content: object, style: dict[str, Any]) -> bytes:
    text = json.dumps(content, **style).encode()
    path.write_bytes(text)
    return text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_sample_is_read_alike(sample: Path) -> None:
    assert_read_alike(sample)


@QUICK
@given(DOCUMENTS, STYLES, PARTS)
def test_random_documents_are_read_alike(
    path: Path, content: object, style: dict[str, Any], part: int
) -> None:
    write(path, content, style)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rocprof_json_read, "_PART", part)
        assert_read_alike(path)


@QUICK
@given(DOCUMENTS, STYLES, PARTS, st.data())
def test_damaged_documents_are_read_alike(
    path: Path, content: object, style: dict[str, Any], part: int, data: st.DataObject
) -> None:
    raw = bytearray(write(path, content, style))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b",", b'"', b"}", b"]", b"{", b"\\", b"\0", b"\n", b"\xff", b"NaN", b"1"])
        )
    path.write_bytes(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rocprof_json_read, "_PART", part)
        assert_read_alike(path)


def test_a_document_cut_anywhere_is_read_alike(path: Path) -> None:
    text = json.dumps(document(one_process(), one_process(4002)))
    for at in (*range(0, len(text), 23), len(text) - 1):
        path.write_text(text[:at])
        assert_read_alike(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"hsa_api": []', '"hsa_api": 5'),
        ('"hsa_api": []', '"hsa_api": [7]'),
        ('"hsa_api": []', '"hip_api": []'),
        ('"agents": [', '"agents": 1, "agents": ['),
        ('"kernel_symbols": [', '"kernel_symbols": {}, "kernel_symbols": ['),
        ('"buffer_records": {"kernel', '"buffer_records": {}, "buffer_records": {"kernel'),
        ('"counter_collection": []', '"counter_collection": [{"size": 1}]'),
        ('"counter_collection": []', '"counter_collection": [{"size": 1, "kind": "x"}]'),
        ("k(int)", "k\\ud800\\u00e9\\n(int)"),
        ('"kernel_name": "k.kd", "formatted_kernel_name": "k(int)"', '"kernel_name": 5'),
        ('"rocprofiler-sdk-tool": [', '"rocprofiler-sdk-tool": [5, '),
        ("]}", "]} "),
    ],
)
def test_other_arrangements_are_read_alike(path: Path, old: str, new: str) -> None:
    text = json.dumps(document(one_process()))
    assert old in text
    path.write_text(text.replace(old, new))
    assert_read_alike(path)


def _twice(text: bytes) -> bytes:
    return gzip.compress(text[:500]) + gzip.compress(text[500:])


def _zstd(text: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(text))


@pytest.mark.parametrize("pack", [gzip.compress, _twice, _zstd])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_packed_files_are_read_by_the_core(
    path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], mark: bytes
) -> None:
    rows = [kernel(n, n + 5, n) for n in range(3000)]
    packed = path.with_suffix(".json.zst" if pack is _zstd else ".json.gz")
    packed.write_bytes(pack(mark + json.dumps(document(one_process(kernel_dispatch=rows))).encode()))
    assert_read_alike(packed)
    monkeypatch.setattr(rocprof_json, "read_processes", None)
    assert len(load(packed)) == 3004


def test_parts_are_read_by_the_core(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocprof_json, "read_processes", None)
    monkeypatch.setattr(rocprof_json_read, "_PART", 5000)
    rows = [kernel(n, n + 5, n, stream_id={"handle": n % 3}) for n in range(500)]
    calls = [api(n % 3, n, n + 2, n, args=[argument("hipStream_t", "s", "0x1")]) for n in range(500)]
    write(path, document(one_process(kernel_dispatch=rows, hip_api=calls), one_process(4002)), {})
    trace = load(path)
    assert (len(trace), sorted(set(trace.part.tolist()))) == (1006, [0, 1])


@pytest.mark.parametrize("instructions", [path for path in Instructions if path_supported(path)])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_of_any_size_give_the_same(instructions: Instructions, size: int) -> None:
    text = json.dumps(document(one_process(), one_process(4002))).encode()
    whole, pieces = (RecordParser(["stream"], [], path=instructions) for _ in range(2))
    assert whole.read(text, last=True)
    assert all(pieces.read(text[at : at + size], last=False) for at in range(0, len(text), size))
    assert pieces.read(b"", last=True)
    assert repr(whole.processes()) == repr(pieces.processes())
