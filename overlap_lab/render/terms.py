"""Words of ours that a newcomer does not know: a plain word for each cause, and one sentence for each term.

The same sentences stand in docs/glossary.md.
"""

from __future__ import annotations

from typing import Final

from overlap_lab.schema import Cause

__all__ = ["CAUSE_WORDS", "SHOWN_AS", "TERMS"]

CAUSE_WORDS: Final[dict[Cause, str]] = {
    Cause.DRAIN: "ran empty after a wait",
    Cause.HOST_LATE: "host late",
    Cause.LAUNCH: "launch on its way",
    Cause.IN_CALL: "inside a launch call",
    Cause.HOST_FUNCTION: "behind a host function",
    Cause.DEPENDENCY: "queued, not started",
    Cause.UNKNOWN: "unknown",
}
"""Why a device stood idle, in plain words."""

TERMS: Final[dict[str, str]] = {
    "window": "From the device's first op to the end of its last; shares of time divide by it.",
    "busy": "Time with at least one op on the device; idle is the rest of the window.",
    "working": "Busy, without the time that it only waits in collectives; with that time it is busy.",
    "waiting in collectives": (
        "Busy, but with nothing else on the device than a collective that waits for the device that starts "
        "it last."
    ),
    "as fast as the next slowest": (
        "What its host needs to launch, or its device to work, without waits; next is the one of the others "
        "that needs most. No run is faster than that, so no more is gained."
    ),
    "ran empty after a wait": (
        "A drain: the host waited with nothing queued behind, so the device stood idle until new work came: "
        "until the call returned, while the host prepared the next launch (refill), and for that launch."
    ),
    "host late": (
        "The host had not launched the next op when the device finished the last, and no wait was involved: "
        "Python, data loading, many small launches."
    ),
    "launch on its way": "From the start of a launch call to the start of its op on an empty device.",
    "inside a launch call": (
        "A launch call was busy with something else before it launched: loading code, allocating, a lock."
    ),
    "behind a host function": "The stream stood still while the CPU ran a function queued between two ops.",
    "queued, not started": (
        "The next op was queued already, but waited for another stream, an event, a copy engine, or the time "
        "that the device needs between two ops."
    ),
    "unknown": "The records do not tell why.",
    "host blocked": "Time inside calls that really waited for the device; evidence decides, not the name.",
    "with work still to launch": (
        "Of waits after which the host had more work for the device; without waiting at the end for queued "
        "work."
    ),
    "overlap": (
        "Share of busy time in which no thread that feeds the device was blocked with work still to launch."
    ),
    "drain": "A wait after which the device ran empty and stood idle until new work came.",
    "regained its lead": (
        "Idle time before late launches, from a wait that emptied the device until the host leads as far as "
        "before it, at most as long as that lead: an upper bound of what the wait costs besides, never added "
        "to it."
    ),
    "waiting at the end for queued work": (
        "Final waits: those with no device work after them. A run has to wait for its end somewhere, so they "
        "cost nothing, and overlap leaves them out."
    ),
    "run-ahead": "From the start of a launch call to the start of its op: how far the host leads.",
    "launch floor": "What a launch onto an empty stream costs at best: the 10th percentile there.",
    "short gaps between launches": (
        "Gaps under 200 us before ops that the host launched late: it hands out one op after the other, more "
        "slowly than the device runs them."
    ),
    "each device": "A mean over the devices; their sum stands in the list.",
    "time of N devices": "The windows of all devices together, which a sum over all of them is a share of.",
    "stands out": (
        "Its idle share is more than 15 percentage points above the middle device's; named is the cause of "
        "idle time in which it is farthest above all others."
    ),
    "deepest queue": "The most ops that a device had been given and had not finished, at any moment.",
    "densest stretch": (
        "2 % of a device's window, where most of this idle time lies together; where no gap is much of it."
    ),
    "while the device did nothing": (
        "Blocked time beside an empty device, also outside of its window: it can exceed the idle time."
    ),
}

SHOWN_AS: Final[dict[str, str]] = {
    "device idle": "busy",
    "idle of each device": "busy",
    "window of each device": "window",
    "waits after which it ran empty": "drain",
    "waits after which one ran empty": "drain",
    "of busy time, the host was free": "overlap",
    "final waits": "waiting at the end for queued work",
    "final wait": "waiting at the end for queued work",
    "blocked with work still to launch": "with work still to launch",
    "host blocked, all threads": "host blocked",
    "the host launched late": "host late",
    "on average": "each device",
    "counted as busy": "waiting in collectives",
    "busy, but waiting": "waiting in collectives",
    "each device, on average": "each device",
}
"""What the first screen calls a term where its own name would not read well there."""
