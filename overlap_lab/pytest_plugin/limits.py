"""Limits given as arguments -> a budget."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from overlap_lab.compare.budget import Allowance, Budget, parse_allowance, parse_rule, read_budget
from overlap_lab.errors import UsageError

__all__ = ["budget_of"]

_RULES: Final[Mapping[str, str]] = {
    "drains": "drain/count <= {}",
    "blocked": "host/blocked < {}",
    "blocked_per_call": "host/blocked per wait < {}",
    "ratio": "overlap/ratio >= {}",
}
_NAMES: Final = (*_RULES, "rules", "allow", "budget")


def budget_of(limits: Mapping[str, Any], *, where: str, also: Sequence[str] = ()) -> Budget:
    """The budget that the arguments of `overlap.check` and of the marker mean; None is no limit.

    `drains`: at most so many device drains. `blocked`: the host is blocked for less than this in all, without
    the final wait; `blocked_per_call`: in each wait. `ratio`: of the device's busy time, at least this part
    does not block the host. `rules` as in a budget file, `allow` pairs of a wait and the reason why it is
    fine, `budget` a budget, or a file, whose rules count as well. Raises UsageError, which begins with
    `where`, for what cannot be read and for other names; `also` are names that are taken there besides.
    """
    for name in limits:
        if name not in _NAMES:
            raise UsageError(f"{where}: {_no_limit(name, also)}")
    given = {name: value for name, value in limits.items() if value is not None}
    try:
        texts = [_RULES[name].format(given[name]) for name in _RULES if name in given]
        rules = map(parse_rule, (*texts, *_each(given, "rules", _is_text, "['drain/count = 0']")))
        allowed = _each(given, "allow", _is_pair, '[("aten::item", "the loss is printed")]')
        base = _base(given.get("budget"))
        return Budget((*rules, *base.rules), (*map(_allowance, allowed), *base.allowed), base.source)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _no_limit(name: str, also: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, (*_NAMES, *also), 1, 0.5)
    hint = f" (did you mean {near[0]}?)" if near else ""
    besides = f"; it also takes {', '.join(also)}" if also else ""
    return f"there is no limit {name!r}{hint}; limits are {', '.join(_NAMES)}{besides}"


def _each(given: Mapping[str, Any], name: str, fits: Callable[[object], bool], example: str) -> list[Any]:
    value = given.get(name, ())
    found = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else None
    if found is None or not all(map(fits, found)):
        raise UsageError(f"{name}={value!r} cannot be read; write for example {name}={example}")
    return found


def _is_text(one: object) -> bool:
    return isinstance(one, str)


def _is_pair(one: object) -> bool:
    return isinstance(one, tuple | list) and len(one) == 2 and all(map(_is_text, one))


def _allowance(pair: tuple[str, str]) -> Allowance:
    return parse_allowance(*pair)


def _base(budget: object) -> Budget:
    if budget is None:
        return Budget(())
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, str | Path):
        return read_budget(budget)
    raise UsageError(f"a budget is a file or a Budget, not {type(budget).__name__}")
