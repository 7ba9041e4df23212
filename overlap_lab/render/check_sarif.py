"""A check of a budget as SARIF 2.1.0, which code hosts show beside the line that waits."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any, Final

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.checked import Check, Checked, Culprit, Outcome
from overlap_lab.render.check_words import culprit_words, found_words
from overlap_lab.render.names import printable

__all__ = ["check_to_sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {
    Outcome.VIOLATED: "error",
    Outcome.NO_VALUE: "error",
    Outcome.UNDECIDED: "note",
    Outcome.INCOMPARABLE: "note",
}


def check_to_sarif(check: Check, *, version: str) -> str:
    """One result for each place that waits behind a violated rule, with file and line where a stack is known;
    one without a place for a rule that is broken for another reason, or undecided."""
    rules = {_id(one): one.rule for one in check.checked}
    driver = {
        "name": "overlap-lab",
        "version": version,
        "rules": [{"id": name, "shortDescription": {"text": str(rule)}} for name, rule in rules.items()],
    }
    results = [result for one in check.checked for result in _results(one, list(rules))]
    whole = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(whole, indent=1)


def _id(one: Checked) -> str:
    tag = one.rule.tag
    return f"baseline/{tag}" if isinstance(one.rule, BaselineRule) else tag


def _results(one: Checked, rules: list[str]) -> list[dict[str, Any]]:
    if one.outcome is Outcome.FINE:
        return []
    base = {"ruleId": _id(one), "ruleIndex": rules.index(_id(one)), "level": _LEVELS[one.outcome]}
    says = f"{one.rule}: {found_words(one)}"
    if not one.culprits:
        return [{**base, "message": {"text": printable(says)}}]
    return [
        {
            **base,
            "message": {"text": printable(f"{says}. {'; '.join(culprit_words(culprit))}")},
            **_place(culprit),
        }
        for culprit in one.culprits
    ]


def _place(culprit: Culprit) -> dict[str, Any]:
    frame = culprit.frame
    if frame is None:
        return {}
    path = PurePath(frame.file)
    uri = path.as_uri() if path.is_absolute() else path.as_posix()
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(frame.line, 1)}}
    return {"locations": [{"physicalLocation": place}]}
