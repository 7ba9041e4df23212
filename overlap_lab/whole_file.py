"""Files that are there whole or not at all, whatever ends the program that writes them."""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from overlap_lab.native import hold_end, release_end

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["cleaned_up", "is_stdout", "whole_file", "write_whole"]

_STDOUT: Final = 1
_PIECE: Final = 4 << 20
_UNSYNCED: Final = 64 << 20
"""Given to the disk in portions, so that Ctrl-C never waits for a gigabyte to be flushed."""


@contextmanager
def whole_file(path: Path) -> Iterator[RawIOBase]:
    """A stream whose content is at `path` when the block ends well; else nothing has changed there.

    Written beside `path`, flushed to the disk, and renamed: a reader sees the old content or the new. A
    device, a pipe that somebody reads, or standard output by its path (`/dev/stdout`) is written to as it is.
    """
    # Asked of the path itself: /dev/fd/63 is a link that leads to the name of no file.
    if is_stdout(path) or (path.exists() and not path.is_file()):
        with _Written(_opened_as_it_is(path), to_disk=False) as stream:
            yield stream
        return
    try:
        target = path.resolve()  # a link stays one
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    with cleaned_up(), _removed_on_termination(part):
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


@contextmanager
def _removed_on_termination(part: Path) -> Iterator[None]:
    """Meanwhile SIGTERM, as schedulers and `timeout` send it, ends the program as ever, without the part.

    Where the program has a handler of its own, or this is a thread of it, nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(*_: object) -> None:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8; see `whole_file`."""
    with whole_file(path) as stream:
        stream.write(text.encode())


def is_stdout(path: str | Path) -> bool:
    """Whether the path leads to where standard output goes: a pipe, a terminal, or a file behind `>`."""
    try:
        return os.path.samestat(Path(path).stat(), os.fstat(_STDOUT))
    except (OSError, ValueError):  # ValueError: no name of any file
        return False


def _opened_as_it_is(path: Path) -> int:
    """The handle of something that is no plain file; a pipe without a reader would make us wait for ever."""
    if is_stdout(path):
        if sys.stdout is not None:
            sys.stdout.flush()
        return os.dup(_STDOUT)
    if not stat.S_ISFIFO(path.stat().st_mode):
        return os.open(path, os.O_WRONLY)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a pipe that nobody reads", str(path)) from None
        raise
    os.set_blocking(handle, True)
    return handle


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
