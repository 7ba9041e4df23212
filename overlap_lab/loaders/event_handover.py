"""Events that Python has read, handed to the native parser among those that it reads itself."""

from __future__ import annotations

import json

from overlap_lab.loaders.json_text import Event
from overlap_lab.native import EventParser

__all__ = ["hand_over"]


def hand_over(event: Event, parser: EventParser) -> None:
    """Add one event to the parser's columns."""
    if not _accepted(event, parser):  # nested deeper than the parser goes, where nothing is of use
        flat = {key: value for key, value in event.items() if key == "args" or not _nests(value)}
        args = event.get("args")
        if isinstance(args, dict):
            flat["args"] = {key: value for key, value in args.items() if not _nests(value)}
        _accepted(flat, parser)


def _nests(value: object) -> bool:
    return isinstance(value, (dict, list))


def _accepted(event: Event, parser: EventParser) -> bool:
    try:
        return parser.accept(json.dumps(event).encode())
    except RecursionError:
        return False
