"""gzip and zstd unpacked piece by piece: a decompression bomb is refused before it fills the memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from overlap_lab.errors import BrokenTrace, MissingDependency

__all__ = ["is_gzip", "is_packed", "unpacked"]

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_PIECE: Final = 1 << 20
_ZSTD_PIECE: Final = 1 << 12
"""Packed bytes given to zstd at once: it makes at most 32768 bytes of one, and cannot be told to stop."""
_MAX_BYTES: Final = 8 << 30
_FREE_BYTES: Final = 64 << 20
_MAX_RATIO: Final = 300
"""Real traces pack 10 to 40 times; DEFLATE itself reaches 1032, which only a hostile file needs."""


def is_packed(start: bytes) -> bool:
    """Whether a file that starts so is unpacked by `unpacked`."""
    return start.startswith((_GZIP, _ZSTD))


def is_gzip(path: Path) -> bool:
    """Whether a file starts as gzip does."""
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def unpacked(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a packed file of any number of members or frames.

    Raises BrokenTrace with the offset for a file that is cut off, damaged, or a decompression bomb.
    """
    first = next(chunks, b"")
    whole = _chained(first, chunks)
    return _gunzipped(path, whole) if first.startswith(_GZIP) else _unzstd(path, whole)


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _gunzipped(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    read = written = 0
    for chunk in chunks:
        read += len(chunk)
        data = chunk
        while data:
            if member.eof:
                data = data.lstrip(b"\0")  # padding between members is legal
                if not data:
                    break
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                piece = member.decompress(data, _PIECE)
            except zlib.error as error:
                raise _damaged(path, "gzip", read - len(data), error) from None
            data = member.unused_data if member.eof else member.unconsumed_tail
            written += len(piece)
            _check_bounds(path, read, written)
            yield piece
    if not member.eof:
        raise _cut_off(path, "gzip", "member", read, written)


def _unzstd(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    zstandard = _zstandard(path)
    decompressor = zstandard.ZstdDecompressor()  # one for all frames: a hostile file has millions
    frame = decompressor.decompressobj()
    read = written = 0
    for chunk in chunks:
        for at in range(0, len(chunk), _ZSTD_PIECE):
            data = chunk[at : at + _ZSTD_PIECE]
            read += len(data)
            while data:
                if frame.eof:
                    frame = decompressor.decompressobj()
                try:
                    piece = frame.decompress(data)
                except zstandard.ZstdError as error:
                    raise _damaged(path, "zstd", read - len(data), error) from None
                data = frame.unused_data if frame.eof else b""
                written += len(piece)
                _check_bounds(path, read, written)
                yield piece
    if not frame.eof:
        raise _cut_off(path, "zstd", "frame", read, written)


def _zstandard(path: Path) -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingDependency(
            "zstandard", purpose=f"{path}: zstd-compressed; reading it", extra="zstd"
        ) from None
    return zstandard


def _damaged(path: Path, kind: str, at: int, error: Exception) -> BrokenTrace:
    return BrokenTrace(f"{path}: damaged {kind} data after byte {at}: {str(error).rpartition(': ')[2]}")


def _cut_off(path: Path, kind: str, unit: str, read: int, written: int) -> BrokenTrace:
    return BrokenTrace(
        f"{path}: truncated {kind} file: it ends at byte {read} inside a {unit}, "
        f"after {written} bytes of content"
    )


def _check_bounds(path: Path, read: int, written: int) -> None:
    if written > _MAX_BYTES or (written > _FREE_BYTES and written > _MAX_RATIO * read):
        raise BrokenTrace(
            f"{path}: unpacks to more than {written} bytes from {read}; refused as a decompression bomb"
        )
