"""A check of a budget as SARIF 2.1.0, which code hosts show beside the line that waits."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.checked import Check, Checked, Culprit, Outcome
from overlap_lab.metrics.python_frames import Frame
from overlap_lab.render.check_words import culprit_words, culprits_head, found_words
from overlap_lab.render.names import printable

__all__ = ["check_to_sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {
    Outcome.VIOLATED: "error",
    Outcome.NO_VALUE: "error",
    Outcome.UNDECIDED: "note",
    Outcome.INCOMPARABLE: "note",
}


def check_to_sarif(check: Check, *, version: str, folder: str | Path = ".") -> str:
    """One result for each place that waits behind a violated rule, with file and line where a stack is known;
    one without a place for a rule that is broken for another reason, or undecided.

    The place is the innermost of the user's own files inside `folder`, by its path in there as code hosts
    want it, where the stack has one.
    """
    inside = Path(folder).resolve()
    rules = {_id(one): one.rule for one in check.checked}
    driver = {
        "name": "overlap-lab",
        "version": version,
        "rules": [{"id": name, "shortDescription": {"text": str(rule)}} for name, rule in rules.items()],
    }
    results = [result for one in check.checked for result in _results(one, list(rules), inside)]
    whole = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(whole, indent=1)


def _id(one: Checked) -> str:
    tag = one.rule.tag
    return f"baseline/{tag}" if isinstance(one.rule, BaselineRule) else tag


def _results(one: Checked, rules: list[str], folder: Path) -> list[dict[str, Any]]:
    if one.outcome is Outcome.FINE:
        return []
    base = {"ruleId": _id(one), "ruleIndex": rules.index(_id(one)), "level": _LEVELS[one.outcome]}
    says = f"{one.rule}: {found_words(one)}"
    if len(one.culprits) > 1:
        says += f"; {culprits_head(one)}"
    if not one.culprits:
        return [{**base, "message": {"text": printable(says)}}]
    return [
        {
            **base,
            "message": {"text": printable(f"{says}. {'; '.join(culprit_words(culprit))}")},
            **_place(culprit, folder),
        }
        for culprit in one.culprits
    ]


def _place(culprit: Culprit, folder: Path) -> dict[str, Any]:
    frame = next((one for one in culprit.frames if one.is_own and _within(one, folder)), culprit.frame)
    if frame is None:
        return {}
    path, within = PurePath(frame.file), _within(frame, folder)
    relative = quote((within or path).as_posix(), errors="replace")
    uri = path.as_uri() if within is None and path.is_absolute() else relative
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(frame.line, 1)}}
    return {"locations": [{"physicalLocation": place}]}


def _within(frame: Frame, folder: Path) -> PurePath | None:
    """The file's path in the folder; None where it lies elsewhere. torch.profiler shortens paths, so that a
    relative one may be of any folder of sys.path."""
    path = PurePath(frame.file)
    if path.is_absolute():
        return path.relative_to(folder) if path.is_relative_to(folder) else None
    there = os.path.isfile(folder / path)  # noqa: PTH113  a path that is too long is no error
    return path if there and ".." not in path.parts else None
