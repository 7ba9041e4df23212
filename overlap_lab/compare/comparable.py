"""Why two sides cannot be held against each other: another machine, driver, tool, or kind of window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

__all__ = ["differences_of_setup", "setup_words"]

Source = Mapping[str, object]

_MUST_AGREE: Final = {
    "vendor": "the vendors differ",
    "format": "the file formats differ, and formats record different things",
    "tool": "the capturing tools differ",
    "devices": "the devices differ",
}
_THRESHOLDS: Final = ("floor_ns", "nearness_ns", "slack_ns")
_MACHINE: Final = {
    "captured with": "the ways of capturing differ",
    "device": "the devices differ",
    "cpu": "the CPUs differ",
    "cores": "the numbers of cores differ",
    "machine": "the machines differ",
    "host": "the machines differ",
    "hostname": "the machines differ",
    "system": "the systems differ",
}


def differences_of_setup(baseline: Sequence[Source], candidate: Sequence[Source]) -> list[str]:
    """One sentence for each thing that differs, with both values; what one side does not tell is passed over
    where it stands in the free part of a trace."""
    found = [one for before in baseline[:1] for after in candidate for one in _pair(before, after)]
    found += [one for before in baseline[1:] for one in _pair(baseline[0], before)]
    return list(dict.fromkeys(found))


def _pair(before: Source, after: Source) -> Iterator[str]:
    for key, sentence in _MUST_AGREE.items():
        if _told(before.get(key)) != _told(after.get(key)):
            yield f"{sentence}: {setup_words(before.get(key))} against {setup_words(after.get(key))}"
    if (before.get("window") is None) != (after.get("window") is None):
        kinds = [
            "the whole trace" if one.get("window") is None else "a chosen window" for one in (before, after)
        ]
        yield f"the windows were chosen differently: {kinds[0]} against {kinds[1]}"
    yield from _facts(_mapping(before.get("metadata")), _mapping(after.get("metadata")))
    thresholds = [
        {key: _mapping(one.get("settings")).get(key) for key in _THRESHOLDS} for one in (before, after)
    ]
    if thresholds[0] != thresholds[1]:
        yield "the analysis settings differ: " + " against ".join(map(setup_words, thresholds))


def _told(value: object) -> object:
    """What has to agree: of devices their names, whatever numbers they had in each run."""
    return sorted(map(str, value.values())) if isinstance(value, Mapping) else value


def _facts(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    for key in before:
        sentence = _MACHINE.get(key)
        if sentence is None and "driver" in key.lower():
            sentence = f"the drivers differ ({key})"
        if sentence and key in after and before[key] != after[key]:
            yield f"{sentence}: {setup_words(before[key])} against {setup_words(after[key])}"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def setup_words(value: object) -> str:
    """A value of a source for people."""
    if isinstance(value, Mapping):
        return ", ".join(str(one) for one in value.values()) or "none"
    return "unknown" if value in (None, "") else str(value)
