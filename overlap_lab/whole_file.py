"""Files that are there whole or not at all, whatever ends the program that writes them."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.native import hold_end, release_end

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["cleaned_up", "whole_file", "write_whole"]

_PIECE: Final = 4 << 20
_UNSYNCED: Final = 64 << 20
"""Given to the disk in portions, so that Ctrl-C never waits for a gigabyte to be flushed."""


@contextmanager
def whole_file(path: Path) -> Iterator[RawIOBase]:
    """A stream whose content is at `path` when the block ends well; else nothing has changed there.

    Written beside `path`, flushed to the disk, and renamed: a reader sees the old content or the new.
    """
    try:
        target = path.resolve()  # a link stays one
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
    if target.exists() and not target.is_file():  # a device or pipe is written to, and never replaced
        with _Written(os.open(target, os.O_WRONLY), to_disk=False) as stream:
            yield stream
        return
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    with cleaned_up():
        try:
            with _Written(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)) as stream:
                with suppress(FileNotFoundError):
                    part.chmod(target.stat().st_mode & 0o777)
                yield stream
                stream.sync()
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    _sync_folder(target.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all; a pipe or device (`/dev/stderr`) is written as it is."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    with whole_file(path) as stream:
        stream.write(text.encode())


@contextmanager
def cleaned_up() -> Iterator[None]:
    """After Ctrl-C a command ends at once, but not before the end of this block, which takes files away."""
    hold_end()
    try:
        yield
    finally:
        release_end()


class _Written(RawIOBase):
    """A file of which every write is whole, and can be interrupted between its pieces."""

    def __init__(self, handle: int, *, to_disk: bool = True) -> None:
        self._to_disk = to_disk
        self._handle = handle
        self._unsynced = 0
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, content: ReadableBuffer) -> int:
        view = memoryview(content).cast("B")
        at = 0
        while at < len(view):
            written = os.write(self._handle, view[at : at + _PIECE])
            at += written
            self._size += written
            self._unsynced += written
            if self._to_disk and self._unsynced >= _UNSYNCED:
                self.sync()
        return at

    def sync(self) -> None:
        os.fsync(self._handle)
        self._unsynced = 0

    def close(self) -> None:
        if not self.closed:
            os.close(self._handle)
        super().close()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot, and the file itself is safe
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
