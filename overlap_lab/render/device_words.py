"""What is said of several devices: what each has on average, the one with the most, and the odd one out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from overlap_lab.metrics.unlike import Unlike, most_unlike, set_apart
from overlap_lab.render.names import printable
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import percent
from overlap_lab.report import Report
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = [
    "Devices",
    "OddOne",
    "devices_of",
    "each_words",
    "odd_one",
    "range_words",
    "several_words",
    "span_words",
]

_NOTABLE: Final = 1.25
"""A device has the most where it has so many times what they have on average."""
_DEPTH: Final = 2
"""How many times a queue is shallower than the others' before it is told."""
_MOST_ODD: Final = 2
_LATE: Final = (
    "Compare the process that feeds {device} with the {others}: CPU cores, share of the data, extra work."
)
_OTHER: Final = "Compare the process of {device} with the {others}, and begin with what it alone does."


@dataclass(frozen=True, slots=True)
class OddOne:
    """A device unlike the others: what is different about it, and what to do to find out why."""

    said: str
    advice: str


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of a report by number, with the idle share of each."""

    numbers: Numbers
    shares: Mapping[int, float]
    odd: tuple[int, ...]
    """Those that idle unlike the others."""

    @property
    def usual(self) -> list[int]:
        return [device for device in self.shares if device not in self.odd]

    def of(self, tag: str) -> dict[int, int]:
        """A measure by device."""
        return {device: self.numbers.count(tag, {"device": device}) for device in self.shares}


def devices_of(report: Report) -> Devices:
    """The devices with a window; none where the file numbers none."""
    numbers = Numbers(report)
    shares = {
        scope["device"]: numbers.count("device/idle", scope) / window
        for scope in numbers.devices()
        if "device" in scope and (window := numbers.count("device/window", scope))
    }
    return Devices(numbers, shares, set_apart(shares))


def several_words(report: Report) -> str:
    """How many devices, and of which model, where the file names one for all of them."""
    scopes = Numbers(report).devices()
    named = report.source.get("devices")
    names = named if isinstance(named, Mapping) else {}
    models = {printable(str(names.get(str(scope.get("device")), ""))) for scope in scopes}
    model = f" ({model})" if len(models) == 1 and (model := models.pop()) else ""
    return f"{len(scopes)} devices{model}"


def range_words(devices: Devices) -> str:
    """The range of the devices' idle shares, those that lie apart by themselves."""
    usual = [devices.shares[device] for device in devices.usual]
    told = span_words(percent(min(usual), 1), percent(max(usual), 1))
    if not devices.odd:
        return f"{told} each"
    apart = [f"device {device}: {percent(devices.shares[device], 1)}" for device in devices.odd[:_MOST_ODD]]
    more = len(devices.odd) - len(apart)
    apart += [f"{more} more apart"] if more else []
    return f"{', '.join(apart)}, the other{'s' if len(usual) > 1 else ''}: {told}"


def span_words(low: str, high: str) -> str:
    """From the least to the most, or the one that they read as; the unit once where they share it.

    >>> span_words("34.9 %", "36.7 %"), span_words("900 us", "1.20 ms"), span_words("4 ns", "4 ns")
    ('34.9 to 36.7 %', '900 us to 1.20 ms', '4 ns')
    """
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def each_words(ns: int, window_ns: int, by_device: Sequence[tuple[int | None, int]], devices: int) -> str:
    """What each of several devices has on average, of how much, and where the most is."""
    mean, window = format_ns(round(ns / devices)), format_ns(round(window_ns / devices))
    words = f"{mean} of each device's {window} ({percent(ns, window_ns)})"
    number, most = by_device[0] if by_device else (None, 0)
    if number is None or most * devices < _NOTABLE * ns:
        return words
    return f"{words}, {'all' if most == ns else 'most'} on device {number}: {format_ns(most)}"


def odd_one(report: Report) -> OddOne | None:
    """The device that idles more than the others, the most where there are several; None where none does."""
    devices = devices_of(report)
    if not devices.odd or not devices.usual:
        return None
    most = max(devices.odd, key=lambda device: devices.shares[device])
    causes = {str(cause): devices.of(f"device/idle/{cause}") for cause in Cause}
    found = most_unlike(causes, most, devices.usual)
    if found is None or devices.shares[most] <= max(devices.shares[device] for device in devices.usual):
        return None
    others = "others" if len(devices.usual) > 1 else "other"
    what = f"{CAUSE_WORDS[Cause(found.name)]} {_against(found, others)}"
    advice = (_LATE if found.name == Cause.HOST_LATE else _OTHER).format(
        device=f"device {most}", others=others
    )
    return OddOne(f"Device {most} stands out: {what}{_depth(devices, most, others)}.", advice)


def _against(found: Unlike, others: str) -> str:
    theirs = span_words(format_ns(found.low), format_ns(found.high))
    return f"{format_ns(found.value)} ({theirs} on the {others})"


def _depth(devices: Devices, device: int, others: str) -> str:
    depth = devices.of("queue/depth_max")
    least = min(depth[one] for one in devices.usual)
    if not depth[device] or least < _DEPTH * depth[device]:
        return ""
    ops = f"{depth[device]:,} op{'' if depth[device] == 1 else 's'}"
    return f"; its deepest queue held {ops} ({least:,} or more on the {others})"
