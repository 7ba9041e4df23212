"""Strings out of a trace, made safe and short enough to show."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["ELLIPSIS", "printable", "shorten"]

ELLIPSIS: Final = "…"

# Control, format (bidirectional overrides, zero width), surrogate, private use, and line separators: a
# kernel name must not move the cursor, recolour the terminal, or reorder what stands next to it.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str) -> str:
    r"""The text on one line, with every invisible or control character spelled out.

    >>> printable("gemm\x1b[31m\n")
    'gemm\\x1b[31m\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(letter) for letter in text)


def _spelled(letter: str) -> str:
    if unicodedata.category(letter) not in _UNSAFE:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def shorten(text: str, width: int) -> str:
    """At most `width` characters; what is cut off is marked.

    >>> shorten("hipLaunchKernel", 8), shorten("hipFree", 8)
    ('hipLaun…', 'hipFree')
    """
    return text if len(text) <= width else text[: max(width - 1, 0)] + ELLIPSIS
