"""Inputs that the fuzz targets start from, made from the cases and from text that is written here."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.unit.loaders import sdk_json

__all__ = ["SEEDS"]

_CASES: Final = Path(__file__).parents[1] / "cases" / "data"
_LONGEST: Final = 6000


def _event_lists() -> Iterator[bytes]:
    """What stands behind the bracket that opens the events, of each case."""
    for path in sorted(_CASES.glob("**/*.json")):
        text = path.read_bytes()
        if path.name == "expected.json" or b'"ph"' not in text:
            continue
        begin = text.find(b"[", max(text.find(b'"traceEvents"'), 0)) + 1
        yield text[begin:]


def _events() -> Iterator[bytes]:
    settings = (b"\x40\x01\x00", b"\x71\x05\x00", b"\x9e\x09\x00", b"\xec\xff\x03")
    for at, text in enumerate(_event_lists()):
        yield settings[at % len(settings)] + text[:_LONGEST]
        if len(text) > _LONGEST:
            yield settings[at % len(settings)] + text[-_LONGEST:]
    odd = [
        {
            "ph": "X",
            "cat": "Kernel",
            "name": "k\u00e9\U0001f600",
            "ts": "1.5",
            "dur": 1e3,
            "pid": 0,
            "tid": 7,
        },
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python", "labels": ["CPU", None]}},
        {"ph": "B", "cat": "user_annotation", "name": 5, "ts": 1, "pid": "a", "tid": -1, "args": []},
        {"ph": "E", "ts": 2.25, "pid": "a", "tid": -1},
        {
            "ph": "X",
            "cat": "\u212aernel",
            "ts": float("nan"),
            "args": {"graph id": 0, "queue": 1, "hsa_queue": 2},
        },
    ]
    for indent, escape in ((None, True), (1, False), (4, True)):
        yield b"\x80\x07\x00" + json.dumps(odd, indent=indent, ensure_ascii=escape)[1:].encode()
    yield b'\x80\x07\x001, [2.5e-3, [-0, []]], "a\\u00e9\\ud83d\\ude00", {}, null, -Infinity]'


def _text() -> Iterator[bytes]:
    numbers = "0 -0 1.5 1700000000000000.123 -12.25 9223372036854775807 18446744073709551615 1.5e3 25E-4 1e+2"
    yield from (number.encode() for number in numbers.split())
    yield b"hipLaunchKernel\nhipMemcpyAsync\nhipLaunchKernel\n\nvoid f<int>(long)"
    yield "\u00e9\u20ac\U0001f600".encode() + b"\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xe0\x9f\xf0"
    yield bytes([0xC0, 0x3D, 0xC4, 0x00, 0x83, 0x41, 0, 1, 2, 3, 4, 5, 6, 7])


def _csv() -> Iterator[bytes]:
    for path in sorted(_CASES.glob("**/*.csv")):
        lines = path.read_bytes().split(b"\n")
        count = min(lines[0].count(b","), 7)
        rows = [b",".join(line.split(b",")[: count + 1]) for line in lines]
        yield bytes([count | 0x68]) + b"\xe7\xb9" + b"\n".join(rows)
    yield b'\x3a\x2d\x01"a","b ""c""",3\r\n1,2,"x\ny"\r\n\r\n1,"2"x,3\r4, 5 ,6\n7,8'
    yield b"\x29\x06\x009223372036854775807,9223372036854775808\n-1,0x5\n,\xc2\xb9\n"


def _parts() -> Iterator[bytes]:
    yield b"\x00\xf0 " + b'  "fame": "prame": "process_name",\n   "p\\":pid": "M",\n   "+"", nu"] '
    for at, seed in enumerate(_events()):
        yield (b"\x3f\x00\x02", b"\xff\x00\x03", b"\x20\x01\x01")[at % 3] + seed[3:]


def _records() -> Iterator[bytes]:
    calls = [sdk_json.api(n % 3, 10 * n, 10 * n + 5, n + 1, stream_id=n % 2) for n in range(12)]
    arguments = [{"type": "hipStream_t", "name": "stream", "value": "0x1"}, {"name": "dst", "value": 3}]
    callback = [sdk_json.api(1, 5, 9, 1, args=arguments), sdk_json.api(0, 1, 2, 3, args={})]
    names = [{"kernel_id": 8, "formatted_kernel_name": "k<int>", "kernel_name": "\u00e9"}, {"kernel_id": 9}]
    process = sdk_json.one_process()
    process["kernel_symbols"] += names
    process["buffer_records"]["hip_api"] = calls
    process["callback_records"] = {"hip_api_traces": callback, "memory_copies": []}
    for settings, made, indent in (
        (b"\x04\x00\x01", sdk_json.document(process), None),
        (b"\x08\x40\x00", sdk_json.document(process, sdk_json.one_process(4002)), 1),
        (b"\x02\x20\x00", sdk_json.document(sdk_json.one_process(hip_api=calls)), None),
    ):
        yield settings + json.dumps(made, indent=indent).encode()
    last = json.dumps(sdk_json.document(sdk_json.one_process(hip_api=calls, hsa_api=calls))).encode()
    yield b"\x84\x18\x09" + last.replace(b'"memory_copy"', b'"hsa_api"')
    for place in (300, 900):  # behind the first record
        yield b"\x84" + (last.index(b"hip_api") + place).to_bytes(2, "little") + last
    small = {"buffer_records": {"hip_api": calls[:5]}, "kernel_symbols": names, "strings": {}}
    yield b"\x01\x08\x00" + json.dumps(sdk_json.document(small)).encode()
    yield b"\x06\x50\x00" + json.dumps(sdk_json.document(small, small), indent=4).encode()


def _gzip() -> Iterator[bytes]:
    texts = [b"", b"a" * 400, bytes(range(256)), *_event_lists()]
    strategies = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY)
    for at, text in enumerate(texts):
        packer = zlib.compressobj(at * 4 % 10, zlib.DEFLATED, -15, 8, strategies[at % 3])
        yield bytes([at * 5 % 256, at, at]) + packer.compress(text) + packer.flush()


def _columns() -> Iterator[bytes]:
    for seed in range(6):
        yield bytes([seed * 9, seed]) + bytes((n * n * (seed + 3) + n) % 256 for n in range(60 * seed))


def _order() -> Iterator[bytes]:
    yield b"\x00\x03" + bytes([0x10, 100, 0x10, 50, 0x10, 20, 0x30, 5, 0xF0, 9, 0x14, 0, 0x05, 40])
    yield b"\x00\xff" + bytes(range(64))
    for settings in range(8):
        yield bytes([1, settings, settings, 0x3A, 0x71, 4, settings]) + bytes(range(0, 256, 3))
    yield bytes([1, 0xFC, 2, 0x3A, 0x71, 10, 0xFF, 0x7F])
    yield bytes([1, 0xFD, 1, 0x33, 0xB3, 31, 0xFF, 0xFF])


def _sqlite() -> Iterator[bytes]:
    rows = [(n, n * 10**n, text) for n, text in enumerate(["x", "", "y" * 40, "z" * 3000, "\u00e9"])]
    odd = [(None, 1.5, "12abc"), ("7", b"blob", None), (-(2**63), "text", "x")]
    later = ["ALTER TABLE t ADD COLUMN d INTEGER", "ALTER TABLE t ADD COLUMN e TEXT DEFAULT 'y'"]
    plain = "t (a INTEGER, b INTEGER, c TEXT)"
    images = (
        _image(512, plain, rows),
        _image(512, "t (a, b, c)", [*rows, *odd]),
        _image(1024, "t (a INTEGER PRIMARY KEY, b INTEGER, c TEXT)", rows),
        _image(4096, "t (a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, c)) WITHOUT ROWID", rows),
        _image(512, plain, [(n, n % 7, "xyz"[n % 3]) for n in range(90)], later),
    )
    for image in images:
        for choice in (0, 1, 2, 4, 8, 12, 16, 20, 24, 28):
            yield bytes([choice]) + image
    yield b"\x02" + _image(512, plain, [(n, -n, "many leaves" * (n % 5)) for n in range(1500)])


def _image(
    page_size: int, table: str, rows: list[tuple[object, ...]], later: list[str] | None = None
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with closing(sqlite3.connect(path)) as file:
            file.executescript(f"PRAGMA page_size={page_size}; CREATE TABLE {table};")
            file.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, string TEXT)")
            file.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
            file.executemany("INSERT INTO s VALUES (?, ?)", [(n, f"name {n}") for n in range(40)])
            for statement in later or ["CREATE INDEX i ON t (c)"]:
                file.execute(statement)
            file.commit()
        return path.read_bytes()


def _blocks() -> Iterator[bytes]:
    for settings in (0, 1, 4, 7):
        for spread in (0, 3, 40, 200):
            yield bytes([settings, spread, 9, 7, 7, 0]) + bytes(
                (n * n * 3 + settings) % 256 for n in range(90)
            )
    for settings in (0xFE, 0xFF):
        yield bytes([settings, 9, 1, 7, 7, 0, 2, 9, 9, 3, 3, 1, 1, 8])
    yield bytes([2, 255, 3, 0, 0, 127, 1, 2, 3, 3, 0, 0, 128, 1, 2, 3])


def _callers() -> Iterator[bytes]:
    for settings in range(8):
        yield bytes([settings]) + bytes((n * n * 5 + n * settings) % 256 for n in range(120))


def _members() -> Iterator[bytes]:
    header = {
        "schemaVersion": 1,
        "deviceProperties": [
            {"id": n, "name": "a device \u00e9", "warp": [32, -1.5e3, None]} for n in range(5)
        ],
        "distributedInfo": {"backend": "nccl", "pg": {"deep": [[[{"a": []}]]]}},
        "traceName": "x" * 70,
    }
    for indent in (None, 1):
        yield b"\x20" + json.dumps(header, indent=indent).encode()
    yield b'\x05{"a": {"b": 1, "b": 2}, "a": [NaN, Infinity], "c": "\\ud83d\\ude00 \\"", "d": 1e9} '
    yield b"\x08{}"


def _pieces() -> Iterator[bytes]:
    for settings, doubled, refused in (
        (0, 0, b"\x01"),
        (28, 3, b"\x08\x02"),
        (3, 7, b"\x01"),
        (9, 255, b"\x01"),
    ):
        yield (
            bytes([settings, doubled, 77, 3, settings, settings])
            + refused
            + b"some text to be unpacked, " * 5
        )


SEEDS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "blocks": _blocks,
    "callers": _callers,
    "columns": _columns,
    "csv": _csv,
    "events": _events,
    "gzip": _gzip,
    "intervals": _columns,
    "members": _members,
    "order": _order,
    "parts": _parts,
    "pieces": _pieces,
    "records": _records,
    "sqlite": _sqlite,
    "text": _text,
}
"""By the name of the target."""
