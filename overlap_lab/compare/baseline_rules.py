"""What may become worse than the baseline, and by how much, as people write it: `host/blocked:10%`."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final

from overlap_lab.compare.budget import Per, number_within, written
from overlap_lab.errors import UsageError
from overlap_lab.metrics.catalog import COMPARED_TAGS, entry
from overlap_lab.report import Better
from overlap_lab.units import parse_ns

__all__ = ["DEFAULT", "BaselineRule", "parse_baseline_rule"]

_RULE: Final = re.compile(
    r"""\s*"?(?P<tag>[a-z_]+(?:/[a-z_0-9]+)+)"?
    (?:\s*:\s*(?P<allowed>[0-9][\w.µ]*)\s*(?P<share>%)?)?
    (?:\s+in\s+range\s+(?:"(?P<range>[^"]+)"|(?P<bare>\S+)))?
    (?:\s+on\s+device\s+(?P<device>\d{1,5}))?\s*""",
    re.VERBOSE,
)
_EXAMPLES: Final = 'drain/count:0, host/blocked:10%, device/window:50us in range "backward"'


@dataclass(frozen=True, slots=True)
class BaselineRule:
    """One measure that may be worse than the baseline by so much and no more."""

    tag: str
    allowed: int | float = 0
    """In the measure's own unit, or of `is_share` a part of the baseline's value."""
    is_share: bool = False
    range_name: str | None = None
    device: int | None = None

    @property
    def unit(self) -> str:
        return entry(self.tag).unit

    @property
    def better(self) -> Better:
        return entry(self.tag).better

    @property
    def per(self) -> Per:
        return Per.TRACE if self.range_name is None else Per.RANGE

    @property
    def scope(self) -> dict[str, int]:
        return {} if self.device is None else {"device": self.device}

    def allowance(self, baseline: float) -> float:
        """By how much the measure may be worse than this value."""
        return self.allowed * abs(baseline) if self.is_share else self.allowed

    def __str__(self) -> str:
        amount = f"{100 * self.allowed:g}%" if self.is_share else written(self.allowed, self.unit)
        words = [f"{self.tag}:{amount if self.allowed else 0}"]
        if self.range_name is not None:
            words.append(f'in range "{self.range_name}"')
        if self.device is not None:
            words.append(f"on device {self.device}")
        return " ".join(words)


DEFAULT: Final = (BaselineRule("drain/count"), BaselineRule("drain/idle"), BaselineRule("device/window"))
"""What `overlap-lab check --baseline` looks at where nothing is named. Not `host/blocked`: it holds the final
wait, which grows when the host runs further ahead."""


def parse_baseline_rule(text: str) -> BaselineRule:
    """A rule from text such as `drain/count:0` or `host/blocked:10%`; nothing after the measure means 0.

    Raises UsageError that says what is wrong: no rule, an unknown measure, an amount of another unit, or a
    measure of which neither direction is better.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} does not say what may become worse; write for example: {_EXAMPLES}")
    tag = found["tag"]
    if tag not in COMPARED_TAGS:
        near = difflib.get_close_matches(tag, COMPARED_TAGS, 3, 0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; docs/measures lists all there are"
        raise UsageError(f"{text!r}: there is no measure {tag!r}{hint}")
    known = entry(tag)
    if known.better is Better.NEITHER:
        raise UsageError(f"{text!r}: more of {tag} is neither better nor worse, so nothing can be held to it")
    amount, is_share = found["allowed"] or "0", found["share"] is not None
    return BaselineRule(
        tag=tag,
        allowed=_share(text, amount) if is_share else _amount(text, amount, known.unit),
        is_share=is_share,
        range_name=found["range"] or found["bare"],
        device=None if found["device"] is None else int(found["device"]),
    )


def _share(text: str, amount: str) -> float:
    try:
        return number_within(float(amount) / 100)
    except ValueError:
        raise UsageError(f"{text!r}: {amount}% is no share; write for example 10%") from None


def _amount(text: str, amount: str, unit: str) -> int | float:
    try:
        if unit == "ns":
            if re.fullmatch(r"[0-9.]*[1-9][0-9.]*", amount):
                raise UsageError(f"{text!r}: a time needs its unit, as in {amount}us, or % for a share")
            return parse_ns(amount)
        return number_within(int(amount) if unit == "count" else float(amount))
    except ValueError:
        words = "a whole number" if unit == "count" else "a number such as 0.02"
        raise UsageError(f"{text!r}: {amount!r} is neither {words} nor a share such as 10%") from None
