"""What our own captures say beside a trace, or in it, about how it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from overlap_lab.schema import ORIGIN_FILE
from overlap_lab.trace import Trace

__all__ = ["facts_in", "with_origin"]

_MOST_FACTS: Final = 100
_LONGEST_FACT: Final = 4096
_LARGEST_FILE: Final = 1 << 20


def facts_in(said: object) -> dict[str, str]:
    """The facts in a decoded JSON value, which may be anything; long ones are cut."""
    if not isinstance(said, dict):
        return {}
    first = list(said.items())[:_MOST_FACTS]
    return {str(key)[:_LONGEST_FACT]: str(value)[:_LONGEST_FACT] for key, value in first}


def with_origin(trace: Trace, files: Sequence[Path]) -> Trace:
    """The trace with the facts of the origin file beside it, where there is one and it names its files."""
    try:
        with files[0].with_name(ORIGIN_FILE).open("rb") as file:
            said = json.loads(file.read(_LARGEST_FILE))
    except (OSError, ValueError, RecursionError):  # it is a note on a trace: without it the trace is whole
        return trace
    if not isinstance(said, dict) or not any(path.name in _names(said.get("files")) for path in files):
        return trace
    source = trace.source
    facts = {**facts_in(said.get("origin")), **source.metadata}
    return trace.replace(source=replace(source, metadata=facts))


def _names(files: object) -> list[object]:
    return files if isinstance(files, list) else []
