"""A check of a budget as JSON: the contract of `overlap-lab check ... --json -`."""

from __future__ import annotations

import json
from typing import Any

from overlap_lab.compare.checked import SCHEMA, Check, Checked, Culprit

__all__ = ["check_to_json"]


def check_to_json(check: Check) -> str:
    """The outcome, every rule with what was found, the waits behind a violated one, and what was allowed."""
    whole = {
        "schema": SCHEMA,
        "outcome": check.outcome.value,
        "budget": check.budget,
        "source": dict(check.source),
        "rules": [_plain_rule(one) for one in check.checked],
        "allowed": [
            {
                "wait": one.call,
                "range": one.range_name,
                "reason": one.reason,
                "count": count,
                "blocked_ns": blocked_ns,
            }
            for one, count, blocked_ns in check.allowed
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False)


def _plain_rule(one: Checked) -> dict[str, Any]:
    rule = one.rule
    return {
        "rule": str(rule),
        "tag": rule.tag,
        "unit": rule.unit,
        "per": rule.per.value,
        "relation": rule.relation.value,
        "limit": rule.limit,
        "range": rule.range_name,
        "device": rule.device,
        "thread": rule.thread,
        "outcome": one.outcome.value,
        "value": one.value,
        "observations": one.observations,
        "low": one.low,
        "high": one.high,
        "reason": one.reason,
        "waits": [_plain_culprit(culprit) for culprit in one.culprits],
    }


def _plain_culprit(culprit: Culprit) -> dict[str, Any]:
    frame = culprit.frame
    return {
        "call": culprit.call,
        "reason": culprit.reason,
        "count": culprit.count,
        "blocked_ns": culprit.blocked_ns,
        "idle_ns": culprit.idle_ns,
        "drains": culprit.drains,
        "device": culprit.device,
        "stream": culprit.stream,
        "range": culprit.range_name,
        "op": culprit.op,
        "stack": list(culprit.stack),
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
    }
