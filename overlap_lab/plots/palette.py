"""One colour a meaning, on every figure and page; hues from Okabe and Ito's set for colour-blind readers."""

from __future__ import annotations

from typing import Final

from overlap_lab.schema import Cause

__all__ = [
    "CAUSE_COLOURS",
    "COLOURS",
    "GRID",
    "INK",
    "MODE_COLOURS",
    "PART_COLOURS",
    "PEER_WAIT_COLOUR",
    "VERDICT_COLOURS",
    "line_colour",
]

CAUSE_COLOURS: Final[dict[str, str]] = {
    Cause.DRAIN: "#B2182B",
    Cause.HOST_LATE: "#E69F00",
    Cause.LAUNCH: "#E8D53A",
    Cause.IN_CALL: "#CC79A7",
    Cause.HOST_FUNCTION: "#009E73",
    Cause.DEPENDENCY: "#56B4E9",
    Cause.UNKNOWN: "#9AA0A6",
}

COLOURS: Final[dict[str, str]] = {
    "range": "#A8C5A0",
    "framework op": "#C9D3DF",
    "host call": "#8A94A6",
    "blocked": "#D55E00",
    "blocked, final wait": "#F0B48C",
    "kernel": "#0072B2",
    "copy": "#7B6FD0",
    "memset": "#B6A6E9",
    **{f"idle: {cause.replace('_', ' ')}": colour for cause, colour in CAUSE_COLOURS.items()},
}
"""Legend entry -> colour, in the order of the legend."""

PEER_WAIT_COLOUR: Final = "#B39DDB"
"""Busy time in which a device only waits for another."""
PART_COLOURS: Final = {"return": "#F0B48C", "refill": "#E69F00", "launch": "#E8D53A"}
"""The parts of a drain's cost."""
_LINES: Final = {
    "light": ("#0072B2", "#009E73", "#CC79A7", "#D55E00", "#7B6FD0", "#6B7280"),
    "dark": ("#56B4E9", "#2CC295", "#E39BC4", "#F58B4C", "#B6A6E9", "#C9D3DF"),
}
MODE_COLOURS: Final = {"none": "#9AA0A6", "sync": "#D55E00", "async": "#009E73", "device": "#0072B2"}
"""The ways to prepare the backward's workspace."""
VERDICT_COLOURS: Final = {
    "better": "#009E73",
    "worse": "#D55E00",
    "same": "#0072B2",
    "different": "#CC79A7",
    "undecided": "#9AA0A6",
    "incomparable": "#9AA0A6",
}

INK: Final = "#6B7280"
GRID: Final = "rgba(128,128,128,0.22)"
"""Readable on a light and on a dark page, because a saved figure does not know where it will lie."""


def line_colour(number: int, theme: str) -> str:
    """The colour of a figure's n-th line."""
    colours = _LINES.get(theme, _LINES["light"])
    return colours[number % len(colours)]
