"""A file read in parts on several threads gives what the same file gives in one."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab._native import EventParser, State
from overlap_lab.errors import OverlapLabError
from overlap_lab.loaders import kineto_events
from overlap_lab.loaders.kineto import read_kineto
from overlap_lab.trace import Trace, columns_of
from tests.unit.loaders.chrome import call, device_op
from tests.unit.native.test_event_parser import DOCUMENTS, SAMPLES, SNIPS, kineto_samples, written

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)


def read(path: Path, *, part: int | None, threads: int = 3) -> Trace | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kineto_events, "_FEW", 1 << 62 if part is None else 0)
        patch.setattr(kineto_events, "_PART", part)
        patch.setattr(kineto_events, "_THREADS", threads)
        try:
            return read_kineto(path)
        except OverlapLabError as error:
            return f"{type(error).__name__}: {error}"


def check_parts(path: Path, part: int, threads: int = 3) -> None:
    """Plain and packed: damage, and what is said of it, is where it is in the plain file."""
    expected = read(path, part=None)
    check_same(read(path, part=part, threads=threads), expected)
    content = path.read_bytes()
    path.write_bytes(gzip.compress(content, compresslevel=1))
    check_same(read(path, part=part, threads=threads), expected)
    path.write_bytes(content)


def check_same(found: Trace | str, expected: Trace | str) -> None:
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    assert found.names == expected.names
    assert found.source == expected.source
    for name, column in columns_of(expected).items():
        np.testing.assert_array_equal(columns_of(found)[name], column, err_msg=name)


def test_a_damaged_pack_is_refused_as_by_zlib(tmp_path: Path) -> None:
    content = gzip.compress(DOCUMENTS[0] * 3)
    packed = written(tmp_path, content[: len(content) // 2])
    found = read(packed, part=100)
    assert isinstance(found, str)
    assert "truncated gzip file" in found


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no real captures beside the repository")
@pytest.mark.parametrize("path", kineto_samples(), ids=lambda path: path.name)
def test_a_real_capture(tmp_path: Path, path: Path) -> None:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    plain = written(tmp_path, content)
    check_parts(plain, 10_007)
    plain.write_bytes(content[: len(content) * 2 // 3])
    check_parts(plain, 1 << 16)


@pytest.mark.parametrize("document", DOCUMENTS, ids=["keys", "bare", "indented"])
def test_parts_of_any_size(tmp_path: Path, document: bytes) -> None:
    for part in (*range(1, 40), 100, 300, 1000, 10_000):
        check_parts(written(tmp_path, document), part, threads=1 + part % 4)


@pytest.mark.parametrize("document", DOCUMENTS, ids=["keys", "bare", "indented"])
def test_a_cut_at_any_byte(tmp_path: Path, document: bytes) -> None:
    for size in range(0, len(document), 11):
        check_parts(written(tmp_path, document[:size]), 100)


@quick
@given(st.sampled_from(DOCUMENTS), st.randoms(use_true_random=False), st.integers(0, 4), st.integers(1, 400))
def test_random_damage(tmp_path: Path, document: bytes, chance: random.Random, hits: int, part: int) -> None:
    content = bytearray(document)
    for _ in range(hits):
        at = chance.randrange(len(content) + 1)
        removed = chance.choice([0, 0, 0, 1, 3])
        content[at : at + removed] = chance.choice([b"", *SNIPS, bytes([chance.randrange(256)])])
    check_parts(written(tmp_path, bytes(content)), part)


def disguised() -> Iterator[object]:
    """Events in which much looks like the beginning of another event."""
    inner = {"ph": "X", "cat": "kernel", "name": "no event", "ts": 1, "dur": 1}
    yield device_op("kernel", '}, {"ph": "X", "cat": "kernel", "name": "x", "ts": 1, "dur": 1}, {"ph":', 5)
    yield {**device_op("kernel", "a list of objects", 6), "args": {"stream": 7, "frames": [inner] * 9}}
    yield [inner, inner, inner]
    yield call('},{"ph":\\', 7)
    yield {**call("cudaFree", 8), "args": {"correlation": 8, "n": [{"name": "a"}, {"name": {"name": "b"}}]}}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("part", [40, 90, 333])
def test_text_that_looks_like_an_event(tmp_path: Path, indent: int | None, part: int) -> None:
    document = json.dumps({"traceEvents": [*disguised()] * 20}, indent=indent)
    check_parts(written(tmp_path, document.encode()), part)
    check_parts(written(tmp_path, document.replace("\\", "\\\\").encode()), part)


@pytest.mark.parametrize("gap", ["", ","])
def test_blanks_before_the_first_event_that_are_longer_than_parts(tmp_path: Path, gap: str) -> None:
    events = json.dumps([call("cudaFree", n) for n in range(9)])[1:]
    for size in (1, 99, 250):
        check_parts(written(tmp_path, f"[{' ' * size}{gap}{events}".encode()), 60)


def test_an_event_longer_than_parts(tmp_path: Path) -> None:
    events = [call("cudaFree", 1), call("long {" * 200_000, 2), call("cudaFree", 3)] * 2
    check_parts(written(tmp_path, json.dumps(events).encode()), 10_000)


def test_as_many_names_as_rows(tmp_path: Path) -> None:
    events = [call(f"call {n % 80_000}", n) for n in range(160_000)]
    check_parts(written(tmp_path, json.dumps(events).encode()), 1 << 22, threads=2)


def test_columns_of_threads_are_those_of_one_parser(tmp_path: Path) -> None:
    text = json.dumps([call(f"call {n % 7}", n, correlation=n) for n in range(5000)]).encode()
    path = written(tmp_path, text)
    alone, apart = EventParser(), EventParser()
    alone.parse(text[1:], True)
    with path.open("rb") as file:
        used = apart.parse_file(file.fileno(), 1, part=1000, threads=4)
    apart.parse(text[1 + used :], True)
    assert alone.state == apart.state == State.CLOSED
    assert apart.events == alone.events == 5000
    assert apart.names() == alone.names()
    expected = alone.columns()
    for name, column in apart.columns().items():
        np.testing.assert_array_equal(column, expected[name], err_msg=name)


def read_apart(path: Path, text: bytes) -> EventParser:
    """The events of the bare list in a file, packed or not, read in parts of 1000 bytes."""
    parser = EventParser()
    with path.open("rb") as file:
        if path.read_bytes() == text:
            rest = text[1 + parser.parse_file(file.fileno(), 1, part=1000, threads=2) :]
        else:
            found = parser.parse_gzip(file.fileno(), 1, part=1000, threads=2)
            assert found is not None
            rest = found[1]
    parser.parse(rest, True)
    return parser


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize(
    ("longest", "gap"), [(150, 1), (900, 1), (2200, 1), (3100, 200), (5000, 1), (5000, 200)]
)
def test_no_part_leaves_the_rest_to_one_thread(tmp_path: Path, longest: int, gap: int, packed: bool) -> None:
    """Also where the text that a part was given ends with an item, or between two of them."""
    events = [call("n" * (37 * n % (longest - 130)), n) for n in range(1_000_000 // longest)]
    text = f"[{','.ljust(gap).join(map(json.dumps, events))}]".encode()
    path = written(tmp_path, gzip.compress(text, 1) if packed else text)
    parser = read_apart(path, text)
    count, bytes_of_longest, again = parser.parts
    assert parser.events == len(events)
    assert bytes_of_longest <= 1000 + parser.longest
    assert count >= len(text) / (1000 + parser.longest + gap)
    assert again == 0


def test_a_file_that_shrank_ends_where_it_ends(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps([call("cudaFree", n) for n in range(1000)]).encode())
    with path.open("rb") as file:
        os.truncate(path, 5000)
        parser = EventParser()
        used = parser.parse_file(file.fileno(), 1, part=1000, threads=2)
        assert 0 < parser.events < 1000
        assert used < 5000
        assert EventParser().parse_file(file.fileno(), 6000) == 0
