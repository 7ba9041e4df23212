"""A file's text in a buffer that moves along it: what was used falls off, what is needed is read."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Final

from overlap_lab.loaders.content import Pieces

__all__ = ["NotUtf8", "TextFeed", "place_in", "replaced"]

_READ: Final = 1 << 18
"""Read at once: what is used up meanwhile stays in a core's own cache."""
_BOM: Final = codecs.BOM_UTF8


class NotUtf8(Exception):
    """Some bytes of the text are not UTF-8."""


class TextFeed:
    """The UTF-8 text of a stream, without a byte order mark.

    A view of it must be released before the next call.
    """

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self._buffer = bytearray(2 * _READ)
        self._begin = 0
        self._end = 0
        self.offset = 0
        """Bytes that were used."""
        self.last = False
        """Whether all text is in the buffer."""
        self._mark = 0
        self._skip_mark()

    def _skip_mark(self) -> None:
        self.more(len(_BOM))
        if self._buffer[: self._end].startswith(_BOM):
            self._begin = self._mark = len(_BOM)

    @property
    def size(self) -> int:
        """Bytes in the buffer."""
        return self._end - self._begin

    @property
    def place(self) -> int:
        """Bytes of the stream before the buffer's first one."""
        return self._mark + self.offset

    def view(self) -> memoryview:
        """What is in the buffer, without a copy."""
        return memoryview(self._buffer)[self._begin : self._end]

    def bytes(self, size: int | None = None) -> bytes:
        """The first bytes of the buffer; all of them without a size."""
        end = self._end if size is None else min(self._begin + size, self._end)
        return bytes(self._buffer[self._begin : end])

    def use(self, size: int) -> None:
        """Let go of the first bytes."""
        self._begin += size
        self.offset += size

    def jump(self, size: int) -> None:
        """Let go of so many bytes, which may be more than the buffer holds; the stream is a file."""
        if size > self.size:
            self._stream.seek(size - self.size, io.SEEK_CUR)
            self.offset += size - self.size
            size = self.size
        self.use(size)
        if not self.size:
            self.more()

    def end_with(self, rest: bytearray, *, used: int) -> None:
        """Let go of so many bytes, and take all that follows from elsewhere than the stream."""
        self.offset += used
        self._buffer = rest
        self._begin, self._end = 0, len(rest)
        self.last = True

    def more(self, size: int = 1) -> None:
        """Add at least `size` bytes behind what is in the buffer, or all that there are."""
        wanted = self.size + size
        self._make_room(max(size, _READ))
        while self.size < wanted and not self.last:
            with memoryview(self._buffer) as view:
                read = self._stream.readinto(view[self._end : self._end + max(size, _READ)]) or 0
            self.last = read == 0
            self._end += read

    def _make_room(self, size: int) -> None:
        kept = self.size
        if self._end + size <= len(self._buffer):
            return
        larger = kept + size + min(kept + size, _READ)
        buffer = self._buffer if kept + size <= len(self._buffer) else bytearray(larger)
        buffer[:kept] = self._buffer[self._begin : self._end]
        self._buffer, self._begin, self._end = buffer, 0, kept

    def rest(self) -> bytearray:
        """All bytes behind what was used."""
        rest = bytearray(self.bytes())
        while not self.last and (piece := self._stream.read(4 * _READ)):
            rest += piece
        self._buffer = bytearray()
        self._begin = self._end = 0
        self.last = True
        return rest

    def text(self, size: int) -> tuple[str, bool]:
        """Text of about `size` bytes, and whether the file ends with it. Raises NotUtf8."""
        self.more(max(size - self.size, 0))
        last = self.last and self.size <= size
        try:
            text, _ = codecs.utf_8_decode(self.bytes(size), "strict", last)
        except UnicodeDecodeError:
            raise NotUtf8 from None
        return text, last


def replaced(stream: io.RawIOBase) -> io.RawIOBase:
    """The same text with bytes that are not UTF-8 replaced."""
    return Pieces(_replaced(stream))


def _replaced(stream: io.RawIOBase) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    with stream:
        while piece := stream.read(_READ):
            yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def place_in(stream: io.RawIOBase, offset: int | None) -> tuple[str, int]:
    """Where people find a byte of the text, and how many characters come before it; None: its end."""
    lines = characters = 0
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    feed = TextFeed(stream)
    while offset is None or feed.offset < offset:
        if not feed.size:
            if feed.last:
                break
            feed.more()
            continue
        piece = feed.bytes(None if offset is None else offset - feed.offset)
        text = decoder.decode(piece)
        feed.use(len(piece))
        lines += text.count("\n")
        characters += len(text)
    return f"line {lines + 1}, offset {characters}", characters
