"""A check of a budget as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Final

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.checked import Check, Checked, Outcome
from overlap_lab.render.check_words import allowed_words, culprit_words, culprits_head, found_words
from overlap_lab.render.names import printable

__all__ = ["check_to_junit"]

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_to_junit(check: Check) -> str:
    """One test case a rule: a failure where it is violated or has no value, skipped where it is undecided or
    cannot be compared."""
    suite = ET.Element(
        "testsuite",
        name="overlap budget",
        tests=str(len(check.checked)),
        failures=str(len(check.failed)),
        errors="0",
        skipped=str(len(check.undecided)),
    )
    for one in check.checked:
        suite.append(_case(one, _class_of(check, one)))
    allowed = [f"allowed {words}" for words in allowed_words(check)]
    if allowed:
        ET.SubElement(suite, "system-out").text = _safe_lines(allowed)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


def _class_of(check: Check, one: Checked) -> str:
    """The budget's file or the baseline's name, under which a CI system groups the rules."""
    if isinstance(one.rule, BaselineRule):
        return f"overlap baseline {check.compared.name}" if check.compared else "overlap baseline"
    return check.budget or "overlap budget"


def _case(one: Checked, class_name: str) -> ET.Element:
    case = ET.Element("testcase", name=_safe(str(one.rule)), classname=_safe(class_name))
    if one.outcome is Outcome.FINE:
        return case
    kind = "skipped" if one.outcome in (Outcome.UNDECIDED, Outcome.INCOMPARABLE) else "failure"
    found = ET.SubElement(case, kind, message=_safe(found_words(one)))
    if kind == "failure":
        found.set("type", one.outcome.value)
        head = [f"{culprits_head(one)}:"] if len(one.culprits) > 1 else []
        waits = (line for culprit in one.culprits for line in culprit_words(culprit))
        found.text = _safe_lines([*head, *waits])
    return case


def _safe_lines(lines: Iterable[str]) -> str:
    return "\n".join(map(_safe, lines))


def _safe(text: str) -> str:
    """Without what no XML document may hold, escaped or not."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
