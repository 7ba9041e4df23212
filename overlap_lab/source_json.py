"""Source <-> JSON: what a saved trace says about where it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from overlap_lab.schema import Fault
from overlap_lab.trace import Source

__all__ = ["source_from_json", "source_to_json"]

_WORDS: Final = ("format", "vendor", "tool", "clock")
_LISTS: Final = ("files", "notes")
_NUMBERED: Final = ("devices", "processes")
_SETS: Final = ("null_streams", "nonblocking_streams")


def source_to_json(source: Source) -> dict[str, Any]:
    """JSON-ready: keys are strings, sets are sorted lists."""
    return {
        **{key: getattr(source, key) for key in _WORDS},
        **{key: list(getattr(source, key)) for key in _LISTS},
        **{key: {str(n): name for n, name in getattr(source, key).items()} for key in _NUMBERED},
        **{key: sorted(getattr(source, key)) for key in _SETS},
        "metadata": dict(source.metadata),
        "faults": {fault.value: count for fault, count in source.faults.items()},
    }


def source_from_json(given: object) -> Source:
    """The source that `source_to_json` wrote. Raises ValueError for anything else."""
    if not isinstance(given, dict):
        raise ValueError("the source is no object")
    expected = {*_WORDS, *_LISTS, *_NUMBERED, *_SETS, "metadata", "faults"}
    if set(given) != expected:
        raise ValueError(f"the source has {sorted(set(given) ^ expected)} missing or too many")
    values: dict[str, Any] = {key: _as(str, given[key]) for key in _WORDS}
    values |= {key: tuple(_as(str, one) for one in _as(list, given[key])) for key in _LISTS}
    values |= {key: _mapped(given[key], int, str) for key in _NUMBERED}
    values |= {key: frozenset(_as(int, one) for one in _as(list, given[key])) for key in _SETS}
    values["metadata"] = _mapped(given["metadata"], str, str)
    values["faults"] = _mapped(given["faults"], Fault, int)
    return Source(**values)


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:  # True is no number here
        raise ValueError(f"{value!r:.80} is no {kind.__name__}")
    return value


def _mapped(given: Any, key_of: Callable[[str], Any], kind: type) -> Mapping[Any, Any]:
    return {key_of(key): _as(kind, value) for key, value in _as(dict, given).items()}
