"""Several devices on a card: a thin bar for each, and their numbers as ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from overlap_lab.metrics.unlike import set_apart
from overlap_lab.plots.palette import CAUSE_COLOURS, COLOURS, PEER_WAIT_COLOUR
from overlap_lab.render.device_words import Devices, devices_of, span_words
from overlap_lab.render.html_parts import bar_drawing, element, sentence, term, text
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.summary import idle_causes
from overlap_lab.render.terms import CAUSE_WORDS
from overlap_lab.render.values import percent
from overlap_lab.report import Report, Scope
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["MOST_THIN_BARS", "device_bars", "device_facts"]

MOST_THIN_BARS: Final = 8
"""Up to so many devices each have a bar; of more the most idle have."""
_WORST: Final = 4
_WHOLE: Final = 100.0
"""Percent of the width."""


def device_bars(report: Report, longest_ns: int) -> str:
    """A bar for each device, or for the most idle of many, with the range of the others below them."""
    devices = devices_of(report)
    shown = list(devices.shares)
    if len(shown) > MOST_THIN_BARS:
        worst = sorted(shown, key=lambda device: -devices.numbers.count("device/idle", {"device": device}))
        shown = sorted(worst[:_WORST])
    odd = _odd(devices)
    rows = (part for device in shown for part in _row(devices, device, longest_ns, is_odd=device in odd))
    return element("div", *rows, class_="each") + _others(devices, shown)


def _odd(devices: Devices) -> tuple[int, ...]:
    """The devices that work for a share of their time unlike the others."""
    return set_apart({device: 1 - _working(devices, device) for device in devices.shares})


def _working(devices: Devices, device: int) -> float:
    """The share of its window in which a device is busy and does not only wait in collectives."""
    scope, numbers = {"device": device}, devices.numbers
    worked = numbers.count("device/busy", scope) - numbers.count("collectives/waited/exposed", scope)
    return worked / numbers.count("device/window", scope)


def _row(devices: Devices, device: int, longest_ns: int, *, is_odd: bool) -> Iterator[str]:
    scope, numbers = {"device": device}, devices.numbers
    odd = "odd" if is_odd else ""
    yield element("span", text(f"device {device}"), class_=f"name {odd}".rstrip())
    window, idle = numbers.count("device/window", scope), numbers.count("device/idle", scope)
    yield bar_drawing(_parts(numbers, scope, window, longest_ns), label=f"device {device}")
    if any(devices.of("collectives/waited/exposed").values()):
        said = sentence(f"{percent(_working(devices, device), 1)} working")
        yield element("span", said, class_=f"total {odd}".rstrip())
        return
    yield element(
        "span",
        sentence(f"{percent(idle, window)} idle"),
        class_=f"total {odd}".rstrip(),
        data_tag="device/idle",
        data_device=str(device),
        data_value=str(idle),
    )


def _parts(numbers: Numbers, scope: Scope, window: int, longest_ns: int) -> Iterable[tuple[str, float, str]]:
    busy = numbers.count("device/busy", scope)
    causes = idle_causes(numbers, scope)
    if not causes:
        causes = [(Cause.UNKNOWN, window - busy)]
    waits = numbers.count("collectives/waited/exposed", scope)
    parts = [("working" if waits else "busy", busy - waits, COLOURS["kernel"])]
    parts += [("waiting in collectives", waits, PEER_WAIT_COLOUR)] if waits else []
    parts += [(CAUSE_WORDS[cause], ns, CAUSE_COLOURS[cause]) for cause, ns in causes]
    for word, ns, colour in parts:
        said = f"{word}: {format_ns(ns)}, {percent(ns, window)} of its {format_ns(window)} window"
        yield said, _WHOLE * ns / longest_ns, colour


def _others(devices: Devices, shown: list[int]) -> str:
    shares = [share for device, share in devices.shares.items() if device not in shown]
    if not shares:
        return ""
    words = f"the other {len(shares):,} devices: {_shares(shares)} idle"
    return element("div", sentence(words), class_="total")


def device_facts(report: Report) -> Iterator[tuple[str, str]]:
    """What the card says of one device as markup and value, here over all of them."""
    devices = devices_of(report)
    if not devices.shares:
        return
    yield term("window", "window of each device"), _times(devices.of("device/window").values())
    yield term("busy", "idle of each device"), _times(devices.of("device/idle").values())
    drains = sum(devices.of("drain/count").values())
    yield term("drain", "waits after which one ran empty"), f"{drains:,}"
    ratios = (devices.numbers.value("overlap/ratio", {"device": device}) for device in devices.shares)
    known = [ratio for ratio in ratios if ratio is not None]
    if known:
        yield term("overlap", "of busy time, the host was free"), _shares(known)


def _times(values: Collection[int]) -> str:
    return span_words(format_ns(min(values)), format_ns(max(values)))


def _shares(values: Collection[float]) -> str:
    return span_words(percent(min(values), 1), percent(max(values), 1))
