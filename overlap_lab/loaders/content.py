"""Bytes of an input file: only regular files, gzip unpacked within bounds."""

from __future__ import annotations

import errno
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from overlap_lab.errors import BrokenTrace, InputError, TraceNotFound

__all__ = ["GZIP", "HEAD_BYTES", "check_readable", "head", "plain_bytes"]

GZIP: Final = b"\x1f\x8b"
HEAD_BYTES: Final = 1 << 16
_CHUNK: Final = 1 << 20
_MAX_BYTES: Final = 8 << 30
_FREE_BYTES: Final = 256 << 20
_MAX_RATIO: Final = 300
"""Real traces pack 10 to 40 times; DEFLATE itself reaches 1032, which only a hostile file needs."""


def check_readable(path: Path) -> None:
    """Raise the right InputError unless `path` is a regular file or folder that may be read."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            next(path.iterdir(), None)
        elif stat.S_ISREG(mode):
            path.open("rb").close()
        else:
            raise InputError(f"{path}: not a file or folder (a pipe, socket or device); give a trace file")
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:
        raise TraceNotFound(f"{str(path)!r}: no such file or folder") from None


def _unreadable(path: Path, error: OSError) -> InputError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return TraceNotFound(f"{path}: no such file or folder")
    if error.errno == errno.ELOOP:
        return TraceNotFound(f"{path}: symbolic links lead in a circle")
    if error.errno in (errno.EACCES, errno.EPERM):
        return InputError(f"{path}: permission denied; make it readable (chmod +r)")
    return InputError(f"{path}: cannot be read ({error.strerror})")


def head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """The first bytes, unpacked. Raises InputError where there are none to unpack."""
    check_readable(path)
    try:
        with path.open("rb") as file:
            raw = file.read(size)
    except OSError as error:
        raise _unreadable(path, error) from None
    if not raw.startswith(GZIP):
        return raw
    try:
        start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, size)
    except zlib.error:
        start = b""
    return start or plain_bytes(path)[:size]  # which says where the file is damaged or cut off


def plain_bytes(path: Path) -> bytes:
    """The whole file, unpacked: gzip of any number of members.

    Raises BrokenTrace with the offset for a gzip file that is cut off, damaged, or a decompression bomb.
    """
    check_readable(path)
    try:
        with path.open("rb") as file:
            if file.read(2) == GZIP:
                file.seek(0)
                return b"".join(_unpacked(path, iter(lambda: file.read(_CHUNK), b"")))
            file.seek(0)
            return file.read()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unpacked(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
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
                piece = member.decompress(data, _CHUNK)
            except zlib.error as error:
                at = read - len(data)
                raise BrokenTrace(f"{path}: damaged gzip data after byte {at}: {_reason(error)}") from None
            data = member.unused_data if member.eof else member.unconsumed_tail
            written += len(piece)
            _check_bounds(path, read, written)
            yield piece
    if not member.eof:
        raise BrokenTrace(
            f"{path}: truncated gzip file: it ends at byte {read} inside a member, "
            f"after {written} bytes of content"
        )


def _reason(error: zlib.error) -> str:
    return str(error).rpartition(": ")[2]


def _check_bounds(path: Path, read: int, written: int) -> None:
    if written > _MAX_BYTES or (written > _FREE_BYTES and written > _MAX_RATIO * read):
        raise BrokenTrace(
            f"{path}: unpacks to more than {written} bytes from {read}; refused as a decompression bomb"
        )
