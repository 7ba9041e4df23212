"""Budgets: what a run may cost, as rules that people write, and the waits that are allowed with a reason.

# overlap.toml
rules = [
    'drain/count = 0',
    'host/blocked per step < 50us',
    'overlap/ratio > 0.95 in range "backward"',
]
[[allow]]
wait = 'aten::item in "logging"'
reason = "the loss is printed every hundred steps"
"""

from __future__ import annotations

import difflib
import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from overlap_lab.errors import UsageError
from overlap_lab.metrics.catalog import ALL_TAGS, entry
from overlap_lab.units import format_ns, parse_ns

__all__ = [
    "Allowance",
    "Budget",
    "Per",
    "Relation",
    "Rule",
    "number_within",
    "parse_allowance",
    "parse_rule",
    "read_budget",
]

_WINDOWED: Final = (
    "host/blocked",
    "drain/count",
    "drain/terminal",
    "drain/idle",
    "overlap/ratio",
    "overlap/ratio_literal",
)
_WINDOWED_ROOTS: Final = ("device/", "drain/")
"""Measures that are known for a part of the trace as well."""
_RULE: Final = re.compile(
    r"""\s*"?(?P<tag>[a-z_]+(?:/[a-z_0-9]+)+)"?
    (?:\s+per\s+(?P<per>step|range|wait))?"?
    \s*(?P<relation><=|>=|==|=|<|>)\s*
    "?(?P<limit>[-+.\w%\ µ]+?)"?
    (?:\s+in\s+range\s+(?:"(?P<range>[^"]+)"|(?P<bare>\S+)))?
    (?:\s+on\s+device\s+(?P<device>\d{1,5}))?
    (?:\s+on\s+thread\s+(?P<thread>\d{1,19}))?\s*""",
    re.VERBOSE,
)
_WAIT: Final = re.compile(r"""\s*"?(?P<call>[^"]+?)"?(?:\s+in\s+(?:range\s+)?"(?P<range>[^"]+)")?\s*""")
_LARGEST: Final = 1 << 20
_BEYOND: Final = 1 << 63
_Number = TypeVar("_Number", int, float)


class Relation(StrEnum):
    BELOW = "<"
    AT_MOST = "<="
    EQUAL = "="
    AT_LEAST = ">="
    ABOVE = ">"

    def holds(self, value: float, limit: float) -> bool:
        return _HOLDS[self](value, limit)


_HOLDS: Final[Mapping[Relation, Callable[[float, float], bool]]] = {
    Relation.BELOW: operator.lt,
    Relation.AT_MOST: operator.le,
    Relation.EQUAL: operator.eq,
    Relation.AT_LEAST: operator.ge,
    Relation.ABOVE: operator.gt,
}


class Per(StrEnum):
    """What one value of a rule is of."""

    TRACE = "trace"
    STEP = "step"
    RANGE = "range"
    WAIT = "wait"
    """Each wait but the final ones: how long it blocked."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One limit on one measure. `text` is what the user wrote."""

    tag: str
    relation: Relation
    limit: int | float
    """In the measure's own unit: ns, a count, a ratio."""
    per: Per = Per.TRACE
    range_name: str | None = None
    device: int | None = None
    thread: int | None = None
    text: str = ""

    @property
    def unit(self) -> str:
        return entry(self.tag).unit

    def __str__(self) -> str:
        words = [self.tag]
        if self.per is not Per.TRACE and not (self.per is Per.RANGE and self.range_name):
            words.append(f"per {self.per}")
        words += [self.relation.value, written(self.limit, self.unit)]
        if self.range_name is not None:
            words.append(f'in range "{self.range_name}"')
        if self.device is not None:
            words.append(f"on device {self.device}")
        if self.thread is not None:
            words.append(f"on thread {self.thread}")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Waits that no rule counts: by call, or any framework op or Python frame around it (with * and ?), maybe
    only inside ranges of a name."""

    call: str
    reason: str
    range_name: str | None = None

    def __str__(self) -> str:
        place = f' in "{self.range_name}"' if self.range_name else ""
        return f"{self.call}{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Budget:
    rules: tuple[Rule, ...]
    allowed: tuple[Allowance, ...] = ()
    source: str = ""
    """The file it was read from, empty where it was made in a program."""


def written(value: float, unit: str) -> str:
    """A value as people write limits."""
    if unit == "ns":
        return format_ns(int(value)).replace(" ", "")
    return f"{value:g}"


def number_within(value: _Number) -> _Number:
    """The number, if a measure can have it. Raises ValueError for nan, infinity, and 2^63 and beyond."""
    if not -_BEYOND < value < _BEYOND:
        raise ValueError
    return value


def parse_rule(text: str) -> Rule:
    """A rule from text such as `drain/count = 0` or `host/blocked per step < 50us`.

    Raises UsageError that says what is wrong: no rule, an unknown measure, a limit of another unit, a measure
    that is not known for a part of a trace.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise UsageError(
            f"{text!r} is no rule; write for example: drain/count = 0, or host/blocked per step < 50us, or "
            'overlap/ratio > 0.95 in range "backward"'
        )
    tag = found["tag"]
    if tag not in ALL_TAGS:
        near = difflib.get_close_matches(tag, ALL_TAGS, 3, 0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; docs/measures lists all there are"
        raise UsageError(f"{text!r}: there is no measure {tag!r}{hint}")
    relation = Relation("=" if found["relation"] == "==" else found["relation"])
    name = found["range"] or found["bare"]
    per = Per(found["per"]) if found["per"] else Per.RANGE if name else Per.TRACE
    rule = Rule(
        tag=tag,
        relation=relation,
        limit=_limit(text, found["limit"], entry(tag).unit),
        per=per,
        range_name=name,
        device=None if found["device"] is None else int(found["device"]),
        thread=None if found["thread"] is None else int(found["thread"]),
        text=text,
    )
    _refuse_impossible(rule)
    return rule


def _limit(text: str, limit: str, unit: str) -> int | float:
    try:
        if unit == "ns":
            if re.fullmatch(r"\s*[1-9][\d.]*\s*", limit):
                raise UsageError(f"{text!r}: a time needs its unit, as in {limit.strip()}us")
            return parse_ns(limit)
        if unit == "count":
            return number_within(int(limit))
        share = limit.strip().endswith("%")
        return number_within(float(limit.strip().rstrip("%")) / (100 if share else 1))
    except ValueError:
        words = "a whole number" if unit == "count" else "a ratio such as 0.95 or 95%"
        raise UsageError(f"{text!r}: the limit {limit.strip()!r} is not {words}") from None


def _refuse_impossible(rule: Rule) -> None:
    windowed = rule.tag in _WINDOWED or rule.tag.startswith(_WINDOWED_ROOTS)
    if rule.per in (Per.STEP, Per.RANGE) and not windowed:
        raise UsageError(f"{rule.text!r}: {rule.tag} is known for the whole trace only, not per {rule.per}")
    if rule.per is Per.RANGE and rule.range_name is None:
        raise UsageError(f'{rule.text!r}: which range? write for example: in range "backward"')
    if rule.per is Per.WAIT and rule.tag != "host/blocked":
        raise UsageError(f"{rule.text!r}: only host/blocked has a value for each wait")
    if rule.thread is not None and (not rule.tag.startswith("host/") or rule.per is not Per.TRACE):
        raise UsageError(f"{rule.text!r}: only host measures of the whole trace are known per thread")
    if rule.relation is Relation.EQUAL and rule.unit != "count":
        raise UsageError(f"{rule.text!r}: a time or ratio never equals a limit; use <, <=, >= or >")


def parse_allowance(wait: str, reason: str) -> Allowance:
    """An allowance from `aten::item in "logging"` and why it is fine. Raises UsageError without a reason."""
    found = _WAIT.fullmatch(wait)
    if found is None:
        raise UsageError(f'{wait!r} names no wait; write a call, op or frame, as in: aten::item in "logging"')
    if not reason.strip():
        raise UsageError(f'allow {wait!r}: say why it is fine, as reason = "..."')
    return Allowance(found["call"].strip(), reason.strip(), found["range"])


def read_budget(path: str | Path) -> Budget:
    """The budget in a TOML file. Raises UsageError that names the file and what in it cannot be used."""
    content = _content(Path(path))
    unknown = set(content) - {"rules", "allow"}
    if unknown:
        raise UsageError(f"{path}: unknown keys {sorted(unknown)}; a budget has `rules` and `allow`")
    try:
        rules = tuple(parse_rule(text) for text in _rule_texts(content.get("rules", [])))
        allowed = tuple(_allowance(item) for item in _list(content.get("allow", []), "allow"))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if not rules:
        raise UsageError(f"{path}: holds no rules; write for example: rules = ['drain/count = 0']")
    return Budget(rules, allowed, str(path))


def _content(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise UsageError(f"{path}: is larger than {_LARGEST >> 20} MiB, which no budget is")
        return tomllib.loads(text.decode())
    except OSError as error:
        raise UsageError(f"{path}: the budget cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # bad UTF-8, bad TOML, a number of 5000 digits
        raise UsageError(f"{path}: is not TOML: {error}") from None


def _rule_texts(rules: object) -> list[str]:
    """Rules as a list of texts, or as a table of measure = limit, where a bare number means "equals"."""
    if isinstance(rules, dict):
        return [f"{key} {_with_relation(value)}" for key, value in rules.items()]
    texts = _list(rules, "rules")
    wrong = next((text for text in texts if not isinstance(text, str)), None)
    if wrong is not None:
        raise UsageError(f"rules: {wrong!r} is no text such as 'drain/count = 0'")
    return texts


def _with_relation(limit: object) -> str:
    text = str(limit)
    return text if text.lstrip()[:1] in ("<", ">", "=") else f"= {text}"


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"{name}: expected a list, not {type(value).__name__}")
    return value


def _allowance(item: object) -> Allowance:
    if not isinstance(item, dict) or set(item) - {"wait", "reason"} or not isinstance(item.get("wait"), str):
        raise UsageError(f"allow: {item!r} needs `wait` and `reason`, both texts, and nothing else")
    return parse_allowance(item["wait"], str(item.get("reason", "")))
