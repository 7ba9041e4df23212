"""Rules and allowances as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.budget import (
    Allowance,
    Per,
    Relation,
    Rule,
    parse_allowance,
    parse_rule,
    read_budget,
)
from overlap_lab.errors import UsageError


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("drain/count = 0", Rule("drain/count", Relation.EQUAL, 0)),
        ("drain/count == 0", Rule("drain/count", Relation.EQUAL, 0)),
        ('"drain/count" <= 2', Rule("drain/count", Relation.AT_MOST, 2)),
        ('"host/blocked per step" < "50us"', Rule("host/blocked", Relation.BELOW, 50_000, Per.STEP)),
        ("host/blocked per wait < 1.5ms", Rule("host/blocked", Relation.BELOW, 1_500_000, Per.WAIT)),
        (
            '"overlap/ratio" > 0.95 in range "backward"',
            Rule("overlap/ratio", Relation.ABOVE, 0.95, Per.RANGE, "backward"),
        ),
        (
            "overlap/ratio >= 95% in range backward on device 1",
            Rule("overlap/ratio", Relation.AT_LEAST, 0.95, Per.RANGE, "backward", 1),
        ),
        ("host/blocked < 50 us on thread 7", Rule("host/blocked", Relation.BELOW, 50_000, thread=7)),
        ("device/idle/host_function < 0us", Rule("device/idle/host_function", Relation.BELOW, 0)),
        ("quality/unlinked_ops <= 3", Rule("quality/unlinked_ops", Relation.AT_MOST, 3)),
    ],
)
def test_a_rule_says_measure_relation_limit_and_where(text: str, rule: Rule) -> None:
    found = parse_rule(text)
    assert (found.tag, found.relation, found.limit, found.per) == (
        rule.tag,
        rule.relation,
        rule.limit,
        rule.per,
    )
    assert (found.range_name, found.device, found.thread) == (rule.range_name, rule.device, rule.thread)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("drains = 0", "is no rule; write for example"),
        ("", "is no rule"),
        ("drain/cuont = 0", "did you mean drain/count"),
        ("x/y = 0", "docs/measures lists all"),
        ("drain/count = many", "'many' is not a whole number"),
        ("drain/count = 1.5", "'1.5' is not a whole number"),
        ("host/blocked < 50", "a time needs its unit, as in 50us"),
        ("host/blocked < soon", "'soon' is not a time"),
        ("overlap/ratio > most", "'most' is not a ratio"),
        ("overlap/ratio = 1", "never equals a limit"),
        ("run_ahead/median per step > 5us", "is known for the whole trace only"),
        ("host/blocked/lock per step < 5us", "is known for the whole trace only"),
        ("drain/count per range = 0", "which range?"),
        ("drain/count per wait = 0", "only host/blocked has a value for each wait"),
        ("drain/count = 0 on thread 3", "only host measures of the whole trace"),
    ],
)
def test_what_is_no_rule_is_told_in_one_line(text: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_rule(text)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_a_usage_error(text: str) -> None:
    try:
        parse_rule(text)
    except UsageError:
        return


@given(
    st.sampled_from(["drain/count", "stream/drain/count", "quality/clipped"]),
    st.sampled_from(list(Relation)),
    st.integers(0, 10**9),
)
def test_a_rule_in_words_is_the_same_rule(tag: str, relation: Relation, limit: int) -> None:
    once = parse_rule(f"{tag} {relation.value} {limit}")
    again = parse_rule(f"{once.tag} {once.relation.value} {once.limit}")
    assert (again.tag, again.relation, again.limit) == (tag, relation, limit)


def test_an_allowance_names_the_wait_the_range_and_why() -> None:
    assert parse_allowance('aten::item in "logging"', "printed") == Allowance(
        "aten::item", "printed", "logging"
    )
    assert parse_allowance("hipMemcpy", "start-up") == Allowance("hipMemcpy", "start-up")
    assert parse_allowance('hipMemcpy in range "a b"', "x") == Allowance("hipMemcpy", "x", "a b")
    assert str(parse_allowance("a", "b")) == "a: b"


def test_an_allowance_needs_a_reason() -> None:
    with pytest.raises(UsageError, match="say why it is fine"):
        parse_allowance("aten::item", "  ")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "overlap.toml"
    path.write_text(text)
    return path


def test_a_budget_file_has_rules_and_allowances(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        rules = ['drain/count = 0', 'host/blocked per step < 50us']
        [[allow]]
        wait = 'aten::item in "logging"'
        reason = "printed every hundred steps"
        """,
    )
    budget = read_budget(path)
    assert [str(rule) for rule in budget.rules] == ["drain/count = 0", "host/blocked per step < 50.0us"]
    assert budget.allowed[0].range_name == "logging"
    assert budget.source == str(path)


def test_rules_may_be_a_table_of_measures(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '[rules]\n"drain/count" = 0\n"host/blocked per step" = "< 50us"\n"overlap/ratio" = ">= 0.9"\n',
    )
    assert [str(rule) for rule in read_budget(path).rules] == [
        "drain/count = 0",
        "host/blocked per step < 50.0us",
        "overlap/ratio >= 0.9",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rules = [", "is not TOML"),
        ("rules = []", "holds no rules"),
        ("", "holds no rules"),
        ("rules = 3", "rules: expected a list"),
        ("rules = [3]", "is no text"),
        ("rules = ['drain/count = 0']\nlimits = 1", "unknown keys ['limits']"),
        ("rules = ['drain/count = 0']\nallow = 1", "allow: expected a list"),
        ("rules = ['drain/count = 0']\n[[allow]]\nwait = 'x'", "say why it is fine"),
        ("rules = ['drain/count = 0']\n[[allow]]\ncall = 'x'", "needs `wait` and `reason`"),
        ("rules = ['nonsense']", "'nonsense' is no rule"),
    ],
)
def test_what_is_no_budget_names_the_file(tmp_path: Path, text: str, why: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        read_budget(path)
    assert str(error.value).startswith(f"{path}: ")
    assert why in str(error.value)


def test_a_budget_that_is_not_there_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_budget(tmp_path / "none.toml")


def test_a_budget_of_other_bytes_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not TOML"):
        read_budget(path)


NINES = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"drain/count < 1{'0' * 400}",
        f"drain/count < {NINES}",
        f"host/blocked < {NINES}s",
        f"drain/count = 0 on device {NINES}",
        f"host/blocked < 1s on thread {NINES}",
        "overlap/ratio > nan",
        "overlap/ratio > inf",
        "overlap/ratio > 1e999",
    ],
)
def test_a_limit_that_no_measure_reaches_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_rule(text)


@pytest.mark.parametrize(
    "text",
    [f"drain/count:1{'0' * 400}", f"host/blocked:{NINES}s", "overlap/ratio:1e999", "host/blocked:1e999%"],
)
def test_an_amount_that_no_measure_reaches_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_baseline_rule(text)


def test_a_budget_with_an_endless_number_says_so(tmp_path: Path) -> None:
    path = tmp_path / "overlap.toml"
    path.write_text(f"rules = [{NINES}]\n")
    with pytest.raises(UsageError, match="is not TOML"):
        read_budget(path)


def test_a_budget_is_never_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "overlap.toml"
    path.write_text("rules = ['drain/count = 0']\n" + "#" * (1 << 20) + "\nforeign = 1\n")
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        read_budget(path)
