"""One colour a meaning, on every figure and page; hues from Okabe and Ito's set for colour-blind readers."""

from __future__ import annotations

from typing import Final

from overlap_lab.schema import Cause

__all__ = ["CAUSE_COLOURS", "COLOURS", "GRID", "INK"]

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
    "host call": "#8A94A6",
    "blocked": "#D55E00",
    "blocked, final wait": "#F0B48C",
    "kernel": "#0072B2",
    "copy": "#7B6FD0",
    "memset": "#B6A6E9",
    **{f"idle: {cause.replace('_', ' ')}": colour for cause, colour in CAUSE_COLOURS.items()},
}
"""Legend entry -> colour, in the order of the legend."""

INK: Final = "#6B7280"
GRID: Final = "rgba(128,128,128,0.22)"
"""Readable on a light and on a dark page, because a saved figure does not know where it will lie."""
