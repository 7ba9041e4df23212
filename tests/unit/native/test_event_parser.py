"""The native reader and the reader in plain Python say the same of every file, whole or damaged."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab._native import EventParser, State, path_supported
from overlap_lab._native import Path as Instructions
from tests.reference_readers.same import check_same
from tests.unit.loaders.chrome import call, device_op

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT.parent / "shared" / "samples"
CASES = ROOT / "tests" / "cases" / "data"
WAITED = {"wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 77}
EVENTS: list[dict[str, Any]] = [
    call("cudaLaunchKernel", "0.000"),
    device_op("kernel", "k(float*, int)", "10.125"),
    call("cudaDeviceSynchronize", "12.000", "100", correlation=2),
    {"ph": "B", "cat": "user_annotation", "name": "outer", "pid": 1, "tid": 2, "ts": "10"},
    {"ph": "E", "pid": 1, "tid": 2, "ts": "20"},
    {"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "python"}},
    device_op("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 70, 3, correlation=5, bytes=77, kind="HtoD"),
    call("hipMemcpyAsync", "69", 1, correlation=5, kind="1", size="4096"),
    device_op("cuda_sync", "Event Sync", 90, 1, correlation=24, **WAITED),
    {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2},
    {"ph": "X", "cat": "odd", "name": "x", "ts": 1, "dur": 1},
    {
        "ph": "X", "cat": "Operator", "name": 'aten::π \\ "q"', "pid": "77 (python)", "tid": "stream 7",
        "ts": 1.5, "dur": 2.25, "args": {"Input Dims": [[1, 2], []], "graph id": 3},
    },
]  # fmt: skip
HEADER = {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000}
DOCUMENTS = [
    json.dumps({**HEADER, "traceEvents": EVENTS, "displayTimeUnit": "ns"}).encode(),
    json.dumps(EVENTS).encode(),
    json.dumps(
        {"traceEvents": EVENTS, "deviceProperties": [{"id": 0}]}, indent=1, ensure_ascii=False
    ).encode(),
]
SNIPS = (
    *(b'" \\ , } { ] [ NaN -Infinity null true 1e3 . : -5 99999999999999999999'.split()),
    b"\xff", "\u212a".encode(), "\ufffd".encode(), "\u00a0".encode(), b"\x01", b"\n",
    b"\x00", b"\xef\xbb\xbf",
    b"\\u12", b"\\ud800", b"[[[[", b"]]]]", b"7,", b'},{"ph":', b'"traceEvents":[',
    b'"a":1,"a":2,', b'"ph":"B",', b'"name":5,', b'"ts":"1,5",', b'"pid":"x 5",', b'"args":[],',
)  # fmt: skip
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "trace.json"
    path.write_bytes(content)
    return path


def kineto_samples() -> list[Path]:
    return sorted(path for room in SAMPLES.glob("kineto_*") for path in room.iterdir())


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no real captures beside the repository")
@pytest.mark.parametrize("path", kineto_samples(), ids=lambda path: path.name)
def test_a_real_capture(path: Path) -> None:
    check_same(path)


@pytest.mark.parametrize("path", sorted(CASES.rglob("*.json")), ids=lambda path: str(path.relative_to(CASES)))
def test_a_case(path: Path) -> None:
    check_same(path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=["keys", "bare", "indented"])
def test_a_cut_at_any_byte(tmp_path: Path, document: bytes) -> None:
    for size in range(0, len(document), 1 if document is DOCUMENTS[0] else 7):
        check_same(written(tmp_path, document[:size]))


@quick
@given(st.sampled_from(DOCUMENTS), st.randoms(use_true_random=False), st.integers(0, 4))
def test_random_damage(tmp_path: Path, document: bytes, chance: random.Random, hits: int) -> None:
    content = bytearray(document)
    for _ in range(hits):
        at = chance.randrange(len(content) + 1)
        removed = chance.choice([0, 0, 0, 1, 3])
        content[at : at + removed] = chance.choice([b"", *SNIPS, bytes([chance.randrange(256)])])
    check_same(written(tmp_path, bytes(content)))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
    | st.sampled_from(["7", "007", "0x10", "stream 7", "-1", "4294967295", "1.5", " 3 ", "2,5", "1e3"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
ARGUMENTS = (
    "correlation", "stream", "device", "bytes", "size", "kind", "graph id", "queue", "hsa_queue",
    "wait_on_stream", "wait_on_cuda_event_record_corr_id", "other",
)  # fmt: skip
odd_events = st.fixed_dictionaries(
    {"ph": st.sampled_from(["X", "X", "X", "B", "E", "M", 5])},
    optional={
        "cat": st.sampled_from(
            ["kernel", "KERNEL", "cuda_runtime", "gpu_memcpy", "cuda_sync", "python", "new"]
        )
        | values,
        "name": st.sampled_from(["hipMemcpyDtoH", "Memcpy PtoP", "process_name", "cudaLaunchKernel"])
        | values,
        "pid": st.integers(0, 2) | values,
        "tid": st.integers(0, 2) | values,
        "ts": st.integers(0, 10**6) | values,
        "dur": st.integers(0, 10**6) | values,
        "args": st.dictionaries(st.sampled_from(ARGUMENTS), st.integers(-1, 9) | values, max_size=6) | values,
    },
)


@quick
@given(st.lists(odd_events, max_size=8), st.sampled_from([None, 1]), st.booleans())
def test_odd_values_everywhere(tmp_path: Path, events: list[Any], indent: int | None, bare: bool) -> None:
    document = events if bare else {**HEADER, "traceEvents": events}
    check_same(written(tmp_path, json.dumps(document, indent=indent).encode()))


def test_a_category_of_another_alphabet(tmp_path: Path) -> None:
    event = {**device_op("kernel", "k", 1), "cat": "\u212aernel"}
    check_same(written(tmp_path, json.dumps([event], ensure_ascii=False).encode()))


@pytest.mark.parametrize("depth", [400, 600, 100_000])
def test_nesting(tmp_path: Path, depth: int) -> None:
    deep = b'{"ph": "X", "deep": ' + b"[" * depth + b"]" * depth + b"}, "
    check_same(written(tmp_path, DOCUMENTS[1][:1] + deep + DOCUMENTS[1][1:]))


def test_a_name_longer_than_any_buffer(tmp_path: Path) -> None:
    events = [call("cudaFree", 1), call("long " * 1_000_000, 2), call("cudaFree", 3)]
    check_same(written(tmp_path, json.dumps(events).encode()))


def test_blanks_without_an_end_are_not_kept() -> None:
    parser = EventParser()
    assert parser.parse(b"\n " * 500_000, last=False) >= 1_000_000 - 64
    assert parser.parse(b'   {"ph": 1}  ,  ' + b" " * 100, last=False) == len(b'   {"ph": 1}  ')
    assert parser.events == 1


def columns_in_pieces(text: bytes, sizes: list[int], path: Instructions) -> dict[str, list[int]]:
    parser = EventParser(path)
    begin = end = 0
    for size in [*sizes, len(text)]:
        end = min(end + size, len(text))
        begin += parser.parse(text[begin:end], last=end == len(text))
    assert parser.state == State.CLOSED
    return {name: np.asarray(column).tolist() for name, column in parser.columns().items()}


PATHS = [path for path in Instructions if path_supported(path)]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@pytest.mark.parametrize(
    "text", [DOCUMENTS[1][1:], json.dumps(EVENTS, indent=4)[1:].encode()], ids=["flat", "indented"]
)
def test_the_size_of_pieces_changes_nothing(path: Instructions, text: bytes) -> None:
    whole = columns_in_pieces(text, [], Instructions.SCALAR)
    for size in (1, 2, 3, 5, 7, 64, 65, 200, 1000):
        assert columns_in_pieces(text, [size] * (len(text) // size), path) == whole
