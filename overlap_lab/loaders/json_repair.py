"""One JSON object from text that is not quite JSON: what trace writers get wrong, undone."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["repaired_object"]

_KEYS: Final = "ph|cat|name|pid|tid|ts|dur|args|id|bp|s|cname|tts|tdur"
_NAME: Final = re.compile(rf'("name"\s*:\s*")(.*?)("\s*(?:,\s*"(?:{_KEYS})"\s*:|\}}\s*\Z))', re.DOTALL)
_KEY: Final = re.compile(rf'"(?:{_KEYS})"')
_BARE_QUOTE: Final = re.compile(r'(?<!\\)"')
_BACKSLASH: Final = re.compile(r'\\(?!")')
_BAD_ESCAPE: Final = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_NUMBER_WORD: Final = re.compile(
    r"(:\s*)[-+]?(?:nan(?:\([^)]*\))?|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE
)
_TRAILING: Final = re.compile(r",(?=\s*[}\]])")
_MAX_QUOTES: Final = 64


def repaired_object(text: str, decoder: json.JSONDecoder) -> dict[str, Any] | None:
    """The object that `text` was meant to be, or None where no known repair makes it one.

    Control characters are up to the decoder (`strict=False` lets them pass). Tried in this order:
    as it is; backslashes that were never escaped; quotes inside the name; words for NaN; trailing commas;
    quotes inside other strings.
    """
    steps = (_as_is, _with_backslashes, _with_name_quotes, _with_numbers, _without_trailing_commas)
    for step in steps:
        text = step(text)
        found, _ = _decoded(text, decoder)
        if found is not None:
            return found
    return _with_quotes(text, decoder)


def _decoded(text: str, decoder: json.JSONDecoder) -> tuple[dict[str, Any] | None, int]:
    """The object, or None and where the parser gave up on a missing comma (-1: for another reason)."""
    try:
        found = decoder.decode(text)
    except json.JSONDecodeError as error:
        return None, error.pos if "',' delimiter" in error.msg else -1
    except (ValueError, RecursionError):
        return None, -1
    return (found, -1) if isinstance(found, dict) else (None, -1)


def _as_is(text: str) -> str:
    return text


def _with_backslashes(text: str) -> str:
    """Double every backslash where at least one cannot be an escape: a Windows path, written raw."""
    return _BACKSLASH.sub(r"\\\\", text) if _BAD_ESCAPE.search(text) else text


def _with_name_quotes(text: str) -> str:
    """Escape the quotes inside the name, unless other keys of the event are in it."""
    found = _NAME.search(text)
    if not found or _KEY.search(found[2]):
        return text
    return text[: found.start(2)] + _BARE_QUOTE.sub(r'\\"', found[2]) + text[found.end(2) :]


def _with_numbers(text: str) -> str:
    return _NUMBER_WORD.sub(r"\1null", text)


def _without_trailing_commas(text: str) -> str:
    return _TRAILING.sub("", text)


def _with_quotes(text: str, decoder: json.JSONDecoder) -> dict[str, Any] | None:
    """Escape, one by one, each quote after which the parser misses a comma."""
    for _ in range(_MAX_QUOTES):
        found, at = _decoded(text, decoder)
        if found is not None or at < 0:
            return found
        quote = text.rfind('"', 0, at)
        if quote <= 0 or text[quote - 1] == "\\":
            return None
        text = text[:quote] + "\\" + text[quote:]
    return None
