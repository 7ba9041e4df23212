"""A check of a budget as JSON: the contract of `overlap-lab check ... --json -`."""

from __future__ import annotations

import json
from typing import Any

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.budget import Rule
from overlap_lab.compare.checked import SCHEMA, Check, Checked, Compared, Culprit
from overlap_lab.render.compare_json import comparison_to_json

__all__ = ["check_to_json"]


def check_to_json(check: Check) -> str:
    """The outcome, every rule with what was found, the waits behind a violated one, and what was allowed."""
    whole = {
        "schema": SCHEMA,
        "outcome": check.outcome.value,
        "budget": check.budget,
        "source": dict(check.source),
        "baseline": None if check.compared is None else _plain_baseline(check.compared),
        "rules": [_plain_rule(one) for one in check.checked],
        "allowed": [
            {
                "wait": one.call,
                "range": one.range_name,
                "reason": one.reason,
                "count": passed.waits,
                "blocked_ns": passed.blocked_ns,
                "late": passed.late,
            }
            for passed in check.allowed
            for one in [passed.allowance]
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False)


def _plain_baseline(compared: Compared) -> dict[str, Any]:
    facts = {key: getattr(compared, key) for key in ("name", "machine", "created", "commit")}
    comparison = compared.comparison
    return facts | {"comparison": None if comparison is None else json.loads(comparison_to_json(comparison))}


def _plain_rule(one: Checked) -> dict[str, Any]:
    rule = one.rule
    about = _limit(rule) if isinstance(rule, Rule) else _allowed(rule, one)
    return about | {
        "rule": str(rule),
        "tag": rule.tag,
        "unit": rule.unit,
        "per": rule.per.value,
        "range": rule.range_name,
        "device": rule.device,
        "outcome": one.outcome.value,
        "value": one.value,
        "observations": one.observations,
        "statistic": one.statistic or None,
        "where": one.where or None,
        "low": one.low,
        "high": one.high,
        "reason": one.reason,
        "places": one.places,
        "waits": [_plain_culprit(culprit) for culprit in one.culprits],
    }


def _limit(rule: Rule) -> dict[str, Any]:
    return {"kind": "limit", "relation": rule.relation.value, "limit": rule.limit, "thread": rule.thread}


def _allowed(rule: BaselineRule, one: Checked) -> dict[str, Any]:
    """Of a rule about a baseline: what may be worse, and the baseline's side; low and high are of the
    difference."""
    against = one.against
    return {
        "kind": "baseline",
        "allowed": rule.allowed,
        "allowed_is_share": rule.is_share,
        "baseline": None if against is None else against.value,
        "baseline_observations": 0 if against is None else against.observations,
    }


def _plain_culprit(culprit: Culprit) -> dict[str, Any]:
    frame = culprit.frame
    return {
        "call": culprit.call,
        "reason": culprit.reason,
        "count": culprit.count,
        "blocked_ns": culprit.blocked_ns,
        "idle_ns": culprit.idle_ns,
        **dict(zip(("return_ns", "refill_ns", "launch_ns"), culprit.parts_ns, strict=True)),
        "drains": culprit.drains,
        "device": culprit.device,
        "stream": culprit.stream,
        "range": culprit.range_name,
        "op": culprit.op,
        "stack": list(culprit.stack),
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
    }
