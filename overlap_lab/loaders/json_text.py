"""Text of a JSON file that may be damaged, and a parser that keeps numbers exact."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["Event", "Objects", "collector_paused", "decoded_text", "is_sound_gap"]

Event = dict[str, Any]
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_COMMA: Final = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")


class Objects:
    """Builds objects for the standard parser and counts what it had to mend in them.

    Numbers with a fraction are kept as text, so that times stay exact.
    """

    def __init__(self) -> None:
        self.repaired = 0
        self._constant = False

    def constant(self, _name: str) -> None:
        """NaN and Infinity become null."""
        self._constant = True

    def object(self, pairs: list[tuple[str, Any]]) -> Event:
        """The last value of a repeated key wins."""
        built = dict(pairs)
        self.repaired += self._constant or len(built) != len(pairs)
        self._constant = False
        return built

    def forget(self, repaired: int) -> None:
        """Go back to an earlier count, after text that could not be read to its end."""
        self.repaired = repaired
        self._constant = False

    def decoder(self, *, strict: bool) -> json.JSONDecoder:
        """A parser that builds its objects here; a strict one refuses control characters in text."""
        return json.JSONDecoder(
            parse_float=str, parse_constant=self.constant, object_pairs_hook=self.object, strict=strict
        )


def is_sound_gap(gap: str, *, comma: bool) -> bool:
    """Whether blank text, with one comma in it where there must be one, is all that stands there."""
    return bool((_COMMA if comma else _BLANK).fullmatch(gap))


@contextmanager
def collector_paused() -> Iterator[None]:
    """The cycle collector only costs time while millions of acyclic objects are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def decoded_text(content: bytes) -> tuple[str, bool]:
    """The text, and whether bytes of it were no characters and were replaced."""
    encoding = "utf-8-sig" if content[:3] == b"\xef\xbb\xbf" else json.detect_encoding(content[:4])
    try:
        return content.decode(encoding), False
    except UnicodeDecodeError:
        return content.decode(encoding, "replace"), True
