"""The words of reports, checks and comparisons, as `docs/glossary.md` and `overlap-lab explain` tell them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Final

from overlap_lab.errors import UsageError
from overlap_lab.metrics.catalog import ALL_TAGS, entry
from overlap_lab.render.terms import SHOWN_AS, TERMS

__all__ = ["WORDS", "meaning_of"]

_NUMBER: Final = re.compile(r"\b\d+\b")
"""A number in a phrase, which stands for any."""

WORDS: Final[Mapping[str, str]] = {
    "host, device": "the CPU side, the GPU side",
    "stream": "an ordered queue of device work; 0 is a real one",
    "host call": "one runtime or driver API record on a thread",
    "enqueue call": (
        "a host call that hands work to a device: launch, graph launch, copy, memset, host-function launch"
    ),
    "device op": "a kernel, copy or memset that ran on a device",
    "link": "enqueue call -> device op, by correlation id inside one process of one file; 0 links nothing",
    "feeding thread": "a thread with at least one enqueue call linked to an op on that device",
    "wait": "a call that really waited for the device; evidence decides, not the name",
    "redundant wait": "a synchronizing call that waited for nothing",
    "terminal wait": (
        "a wait that drains the device with no later op on it: the end of the program or of the capture"
    ),
    "host blocked, host blocking": "time inside calls that waited",
    "drain, device drain, stream drain": (
        "a wait that returns on an empty device or stream, so that it idles until new work is enqueued"
    ),
    "return, refill, launch": (
        "the parts of what a drain costs: until the wait was back, until the host launched again "
        "after work of its own, until that launch ran"
    ),
    "late synchronize": "a synchronize that found its work done, where a faster host would have waited",
    "busy, idle": "the union of device ops; the gaps between them inside the window",
    "overlap": "device busy time during which no feeding thread was blocked, as a share of busy",
    "collective, collectives": (
        "a kernel that talks to other devices, known by its name (NCCL, RCCL, custom all-reduce); it runs, "
        "and its device counts as busy, while it waits for them"
    ),
    "exposed": "time in collectives with no other op on the device",
    "straggler": (
        "the device that starts last in more than half of its collectives, and that most of the time that "
        "devices wait in them is for"
    ),
    "run-ahead": "device start of an op minus host start of its enqueue call: how far the host leads",
    "queue depth": "launched and not yet finished",
    "range": "NVTX, roctx or `record_function` annotation on a thread",
    "step": "one training iteration",
    "window": "the interval that ratios divide by; always printed",
    "observation": ("what a comparison counts: a step, an instance of a range, or a repeat of the whole run"),
    "baseline, candidate": "the side to compare with, the side to judge",
    "noise floor": "how far a side wanders by itself; a difference has to exceed it",
    "paired": "compared with the observation of the other side that ran next to it",
    "stream sync, device sync, event sync": "a call that waits for a stream, for a device, or for an event",
    "sync copy": "a copy call that returns when the copy is done",
    "pageable copy": (
        "a copy of memory that is not pinned: the driver takes it by way of its own, and the call waits"
    ),
    "pageable, pinned": (
        "memory that the system may move, and memory that it may not, which a device can copy from by itself"
    ),
    "alloc free": "memory of a device is allocated or freed, which can wait for all work on it",
    "queue full": "a launch that waits for room in the queue: the host is as far ahead as it can be",
    "module load": "code is loaded onto a device when it is first used",
    "lock": "a call waits for another thread that is in the runtime",
    "place": "waits of the same call, reason, op, range and line of Python",
    "WORSE, BETTER, SAME": (
        "more than chance explains, one way or the other; no difference of 5 % of the baseline can hide"
    ),
    "UNDECIDED": "chance explains it as well, or there are too few observations: no alarm",
    "INCOMPARABLE": "made by another machine, driver, tool or program: no verdict, with the reason",
}
"""Terms that mean one thing or belong together, and what they mean."""


def meaning_of(word: str) -> str:
    """A term, or a measure, and what it means: a line, or two where reports say it in words of their own.

    Raises UsageError that names what is near.

    >>> meaning_of("Refill").partition(":")[0]
    'return, refill, launch'
    >>> meaning_of("drain/count")
    'drain/count: Device drains'
    """
    asked = _NUMBER.sub("n", word.strip().lower())
    terms = _terms()
    if asked in terms:
        return "\n".join(terms[asked])
    if asked in ALL_TAGS:
        return f"{asked}: {entry(asked).title}"
    if inside := _inside(asked, terms):
        return "\n".join(told for term in inside for told in terms[term])
    near = difflib.get_close_matches(asked, (*terms, *ALL_TAGS), 3, 0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "`overlap-lab explain` lists all there are"
    raise UsageError(f"explain: {word[:80]!r} is no word of ours; {hint}")


def _terms() -> dict[str, list[str]]:
    """What each term means, by the term in small letters."""
    terms: dict[str, list[str]] = {}
    for row, told in WORDS.items():
        for term in {row, *row.split(", ")}:
            terms.setdefault(term.lower(), []).append(f"{row}: {told}")
    for term, told in TERMS.items():
        terms.setdefault(term.lower(), []).append(f"{term}: {told}")
    for name, term in SHOWN_AS.items():
        terms.setdefault(name.lower(), []).append(f"{name} ({term}): {TERMS[term]}")
    return terms


def _inside(asked: str, terms: Iterable[str]) -> list[str]:
    """The terms that a phrase of several words is made of, but for those that lie in a longer one of them."""
    if " " not in asked:
        return []
    found = [term for term in terms if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", asked)]
    return [term for term in found if not any(term in other for other in found if other != term)]
