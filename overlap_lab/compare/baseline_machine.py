"""Which kind of machine a trace was recorded on: what its times depend on, and a short name for it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Machine", "is_version", "machine_of"]

Source = Mapping[str, object]

_NOT_SLUG: Final = re.compile(r"[^a-z0-9]+")
_DIGITS: Final = 8
_LONGEST_SLUG: Final = 32
_WORDS: Final = {"device": "the devices differ", "cpu": "the CPUs differ", "cores": "the cores differ"}


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of machine: devices, vendor, way of capturing, CPU, cores, drivers and runtimes, as the trace
    itself tells them. Never a host's name, and nothing about the machine that looks at the trace."""

    facts: Mapping[str, str]

    @property
    def id(self) -> str:
        """The device's name and eight digits that stand for all facts.

        >>> Machine({"device": "NVIDIA H200", "backend": "kineto"}).id
        'nvidia-h200-c9ab24d7'
        """
        spelled = json.dumps(dict(sorted(self.facts.items())), ensure_ascii=True)
        digits = hashlib.sha256(spelled.encode()).hexdigest()[:_DIGITS]
        first = self.facts.get("device") or self.facts.get("vendor") or ""
        slug = _NOT_SLUG.sub("-", first.lower())[:_LONGEST_SLUG].strip("-")
        return f"{slug or 'unknown-device'}-{digits}"

    def differences(self, other: Machine) -> Iterator[str]:
        """One sentence for each fact that differs, this machine's value first."""
        for key in dict.fromkeys([*self.facts, *other.facts]):
            one, two = self.facts.get(key, "unknown"), other.facts.get(key, "unknown")
            if one != two:
                yield f"{_WORDS.get(key, f'{key} differs')}: {one} against {two}"


def machine_of(source: Source) -> Machine:
    """The machine behind the source of a report."""
    told = source.get("metadata")
    metadata = {str(key): str(value) for key, value in told.items()} if isinstance(told, Mapping) else {}
    devices = source.get("devices")
    names = sorted(map(str, devices.values())) if isinstance(devices, Mapping) else []
    system = metadata.get("system", "").split()
    facts = {
        "device": ", ".join(_counted(names)),
        "vendor": str(source.get("vendor") or ""),
        "backend": metadata.get("captured with") or str(source.get("format") or ""),
        "cpu": metadata.get("cpu", ""),
        "cores": metadata.get("cores", ""),
        # Not the kernel's release, which changes every week where the times do not.
        "system": f"{system[0]} {system[-1]}" if system else "",
        **{key: value for key, value in sorted(metadata.items()) if is_version(key)},
    }
    return Machine({key: value[:200] for key, value in facts.items() if value})


def _counted(names: list[str]) -> list[str]:
    """Eight equal devices as one name."""
    counts = {name: names.count(name) for name in dict.fromkeys(names) if name}
    return [name if count == 1 else f"{count} x {name}" for name, count in counts.items()]


def is_version(key: str) -> bool:
    """Whether a trace's metadata names a driver or runtime under this key."""
    return key.endswith(("driver_version", "runtime_version"))
