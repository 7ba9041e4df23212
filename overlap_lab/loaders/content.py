"""Bytes of an input file: only regular files, packed ones unpacked within bounds."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from overlap_lab.errors import BrokenTrace, InputError, TraceNotFound
from overlap_lab.loaders.packed import is_packed, unpacked

__all__ = ["HEAD_BYTES", "check_readable", "head", "plain_bytes"]

HEAD_BYTES: Final = 1 << 16
_CHUNK: Final = 1 << 20


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
    start = b""
    try:
        with path.open("rb") as file:
            raw = file.read(size)
            if not is_packed(raw):
                return raw
            file.seek(0)
            for piece in unpacked(path, _chunks(file)):
                start += piece
                if len(start) >= size:
                    break
    except OSError as error:
        raise _unreadable(path, error) from None
    except BrokenTrace:
        if not start:  # else reading the whole file will say it
            raise
    return start[:size]


def plain_bytes(path: Path) -> bytes:
    """The whole file, unpacked: gzip or zstd, of any number of members.

    Raises BrokenTrace with the offset for a packed file that is cut off, damaged, or a decompression bomb;
    MissingDependency for zstd without its package.
    """
    check_readable(path)
    try:
        with path.open("rb") as file:
            packed = is_packed(file.read(4))
            file.seek(0)
            return b"".join(unpacked(path, _chunks(file))) if packed else file.read()
    except OSError as error:
        raise _unreadable(path, error) from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")
