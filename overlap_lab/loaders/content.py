"""Bytes of an input file: only regular files, packed ones unpacked within bounds."""

from __future__ import annotations

import errno
import io
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from overlap_lab.errors import BrokenTrace, InputError, TraceNotFound
from overlap_lab.loaders.packed import is_packed, unpacked
from overlap_lab.native import count_read

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["HEAD_BYTES", "Pieces", "Unpacked", "check_readable", "head", "opened", "plain_bytes"]

HEAD_BYTES: Final = 1 << 16
_CHUNK: Final = 1 << 20
_PACKED: Final = 1 << 17
"""Packed bytes read at once: no more of a decompression bomb is unpacked before it is seen to be one."""


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
        if not path.stat().st_size:  # also /proc/kmsg, whose read waits for the next message
            return b""
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
    with opened(path) as stream:
        return stream.readall()


def opened(path: Path) -> io.RawIOBase:
    """The content as a stream, unpacked as it is read. Reading raises as `plain_bytes` does."""
    check_readable(path)
    try:
        with path.open("rb") as file:
            packed = is_packed(file.read(4))
        return Unpacked(_unpacked(path)) if packed else _Plain(path)
    except OSError as error:
        raise _unreadable(path, error) from None


class _Plain(io.FileIO):
    def __init__(self, path: Path) -> None:
        self._path = path
        super().__init__(path)

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            size = super().readinto(memoryview(buffer)[:_CHUNK]) or 0  # in pieces that Ctrl-C can end
        except OSError as error:
            raise _unreadable(self._path, error) from None
        count_read(size)
        return size

    def readall(self) -> bytes:
        whole = io.BytesIO()  # gives its content away without a copy
        while piece := self.read(_CHUNK):
            whole.write(piece)
        return whole.getvalue()


class Pieces(io.RawIOBase):
    """A stream of what an iterator gives."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def close(self) -> None:
        if isinstance(self._pieces, Generator):
            self._pieces.close()  # and with it the file that it reads
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        room = memoryview(buffer)
        size = min(len(room), len(self._left))
        room[:size] = self._left[:size]
        self._left = self._left[size:]
        return size


class Unpacked(Pieces):
    """The content of a packed file."""


def _unpacked(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from unpacked(path, _chunks(file))
    except OSError as error:
        raise _unreadable(path, error) from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_PACKED):
        count_read(len(chunk))
        yield chunk
