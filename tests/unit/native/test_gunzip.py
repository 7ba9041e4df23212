"""The core unpacks gzip as Python's zlib does, or leaves it to it."""

from __future__ import annotations

import gzip
import os
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab._native import crc32, crc32_plain, gunzip

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED, zlib.Z_FILTERED)


def packed(text: bytes, level: int = 6, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    member = zlib.compressobj(level, zlib.DEFLATED, zlib.MAX_WBITS | 16, 9, strategy)
    return member.compress(text) + member.flush()


def unpacked(folder: Path, content: bytes) -> bytes | None:
    path = folder / "text.gz"
    path.write_bytes(content)
    with path.open("rb") as file:
        return gunzip(file.fileno())


def by_zlib(content: bytes) -> bytes | None:
    if not content:
        return None
    text = b""
    while content:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            text += member.decompress(content)
        except zlib.error:
            return None
        if not member.eof:
            return None
        content = member.unused_data.lstrip(b"\0")
    return text


def some_text(seed: int, size: int) -> bytes:
    """Words that come again near and far, and bytes that never do."""
    chance = random.Random(seed)
    words = [chance.randbytes(chance.randrange(1, 40)) for _ in range(200)]
    text = bytearray()
    while len(text) < size:
        text += chance.choice(words) * chance.choice([1, 1, 1, 2, 90])
        if chance.random() < 0.01:
            text += chance.randbytes(chance.randrange(3000))
    return bytes(text[:size])


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000, 300_000, 3_000_000])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_what_zlib_packs(tmp_path: Path, size: int, strategy: int, level: int) -> None:
    text = some_text(size, size)
    assert unpacked(tmp_path, packed(text, level, strategy)) == text


def test_members_follow_each_other_with_zeros_between(tmp_path: Path) -> None:
    texts = [some_text(seed, size) for seed, size in enumerate([700_000, 0, 5, 40_000, 524_288])]
    content = b"".join(packed(text) + b"\0" * len(text) for text in texts)
    assert unpacked(tmp_path, content) == b"".join(texts)


def test_a_head_with_a_name_a_comment_and_more(tmp_path: Path) -> None:
    body = packed(b"text")[10:]
    head = b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03" + b"\x04\0abcd" + b"name\0" + b"comment\0"
    assert unpacked(tmp_path, head + body) == b"text"


def test_a_distance_never_reaches_into_another_member(tmp_path: Path) -> None:
    raw = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, b"known before")
    body = raw.compress(b"known before") + raw.flush()
    tail = zlib.crc32(b"known before").to_bytes(4, "little") + (12).to_bytes(4, "little")
    content = b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + body + tail
    assert by_zlib(content) is None
    assert unpacked(tmp_path, content) is None
    assert unpacked(tmp_path, packed(b"known before") + content) is None


@quick
@given(st.integers(0, 5), st.sampled_from(STRATEGIES), st.data())
def test_damage_is_never_taken_for_text(
    tmp_path: Path, seed: int, strategy: int, data: st.DataObject
) -> None:
    content = bytearray(packed(some_text(seed, 2000), strategy=strategy))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, 2 * len(content))) :]
    expected = by_zlib(bytes(content))
    found = unpacked(tmp_path, bytes(content))
    assert found == expected or (found is None and content[3:4] > b"\0")  # some heads are zlib's to read


@quick
@given(st.binary(max_size=400))
def test_any_bytes(tmp_path: Path, body: bytes) -> None:
    content = b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + body
    assert unpacked(tmp_path, content) == by_zlib(content)


def test_a_file_cut_at_any_byte(tmp_path: Path) -> None:
    content = packed(some_text(1, 3000))
    for size in range(len(content)):
        assert unpacked(tmp_path, content[:size]) is None or size == 0


def test_a_bomb_is_left_to_those_who_refuse_it(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    with path.open("rb") as file:
        assert gunzip(file.fileno()) is None


def test_an_empty_file_is_no_gzip(tmp_path: Path) -> None:
    assert unpacked(tmp_path, b"") is None


@pytest.mark.parametrize("size", [*range(70), 127, 128, 1000, 65_537])
def test_checksums_are_those_of_zlib(size: int) -> None:
    text = os.urandom(size)
    for before in (0, 1, 0xFFFFFFFF, 0x12345678):
        assert crc32(text, before) == crc32_plain(text, before) == zlib.crc32(text, before)
