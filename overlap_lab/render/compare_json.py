"""Comparison -> JSON."""

from __future__ import annotations

import json
from typing import Any

from overlap_lab.compare import Comparison, Difference, Explanation, Statistics
from overlap_lab.compare.comparison import SCHEMA

__all__ = ["comparison_to_json"]


def comparison_to_json(comparison: Comparison) -> str:
    """Every difference and explanation; values are candidate minus baseline, in the measure's own unit."""
    plain = {
        "schema": SCHEMA,
        "sampling": comparison.sampling.value,
        "confidence": comparison.confidence,
        "verdict": comparison.verdict.value if comparison.verdict else None,
        "headline": _plain_difference(comparison.headline) if comparison.headline else None,
        "baseline": dict(comparison.baseline),
        "candidate": dict(comparison.candidate),
        "explanations": [_plain_explanation(one) for one in comparison.explanations],
        "differences": [_plain_difference(one) for one in comparison.differences],
        "notes": list(comparison.notes),
    }
    return json.dumps(plain, indent=1, allow_nan=False)


def _plain_explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "scope": dict(explanation.scope),
        "unit": "ns",
        "baseline": explanation.baseline_ns,
        "candidate": explanation.candidate_ns,
        "window": explanation.window,
        "busy": explanation.busy,
        "idle": {cause.value: change for cause, change in explanation.idle.items()},
        "drained": dict(explanation.drained),
        "remainder": explanation.remainder,
    }


def _plain_difference(difference: Difference) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "tag": difference.tag,
        "scope": dict(difference.scope),
        "title": difference.title,
        "unit": difference.unit,
        "better": difference.better.value,
        "baseline": difference.baseline,
        "candidate": difference.candidate,
        "difference": difference.difference,
        "ratio": difference.ratio,
        "verdict": difference.verdict.value,
    }
    if difference.statistics is not None:
        plain["statistics"] = _plain_statistics(difference.statistics)
    return plain if difference.reason is None else plain | {"reason": difference.reason}


def _plain_statistics(found: Statistics) -> dict[str, Any]:
    return {
        "observations": list(found.observations),
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "cliffs_delta": found.delta,
        "noise_floor": found.noise_floor,
    }
