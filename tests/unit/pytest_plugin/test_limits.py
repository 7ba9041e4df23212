"""Limits as arguments: what they mean, and one sentence for what they cannot mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlap_lab.compare.budget import Budget, parse_rule
from overlap_lab.errors import UsageError
from overlap_lab.pytest_plugin.limits import budget_of


def rules(**limits: Any) -> list[str]:
    return list(map(str, budget_of(limits, where="overlap.check").rules))


def test_each_limit_is_a_rule() -> None:
    found = rules(drains=0, blocked="1ms", blocked_per_call="50us", ratio=0.95, rules=["drain/idle < 1ms"])
    assert found == [
        "drain/count <= 0",
        "host/blocked < 1.00ms",
        "host/blocked per wait < 50.0us",
        "overlap/ratio >= 0.95",
        "drain/idle < 1.00ms",
    ]
    assert rules(drains=None, ratio=None) == []


def test_a_budget_or_its_file_counts_as_well(tmp_path: Path) -> None:
    file = tmp_path / "overlap.toml"
    file.write_text("rules = ['drain/idle < 1ms']\n")
    for budget in (file, str(file), Budget((parse_rule("drain/idle < 1ms"),))):
        assert rules(drains=2, budget=budget) == ["drain/count <= 2", "drain/idle < 1.00ms"]
    [allowed] = budget_of({"allow": [("aten::item", "printed")]}, where="overlap.check").allowed
    assert str(allowed) == "aten::item: printed"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"drain": 0}, "there is no limit 'drain' (did you mean drains?); limits are drains, blocked, "),
        ({"xyz": 0}, "there is no limit 'xyz'; limits are drains, blocked, blocked_per_call, ratio, rules, "),
        ({"drains": "few"}, "the limit 'few' is not a whole number"),
        ({"drains": True}, "the limit 'True' is not a whole number"),
        ({"blocked": 50}, "a time needs its unit, as in 50us"),
        ({"ratio": []}, "'overlap/ratio >= []' is no rule"),
        ({"rules": "drain/count = 0"}, "write for example rules=['drain/count = 0']"),
        ({"rules": 3}, "rules=3 cannot be read"),
        ({"rules": [3]}, "rules=[3] cannot be read"),
        ({"allow": "aten::item"}, 'write for example allow=[("aten::item", '),
        ({"allow": ["aten::item"]}, 'write for example allow=[("aten::item", '),
        ({"allow": [("aten::item", None)]}, "cannot be read"),
        ({"allow": [("aten::item", " ")]}, "say why it is fine"),
        ({"budget": 3}, "a budget is a file or a Budget, not int"),
        ({"budget": "none.toml"}, "none.toml: the budget cannot be read"),
    ],
)
def test_what_is_no_limit_is_one_sentence(limits: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError) as caught:
        budget_of(limits, where="overlap.check")
    assert str(caught.value).startswith("overlap.check: ")
    assert why in str(caught.value)


def test_the_marker_tells_its_own_words_as_well() -> None:
    with pytest.raises(UsageError, match=r"overlap_budget: .*did you mean repeats.*also takes repeats"):
        budget_of({"repeat": 3}, where="overlap_budget", also=("repeats",))
