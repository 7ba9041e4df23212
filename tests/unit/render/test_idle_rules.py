"""Every rule for idle time where it applies, and beside it the nearest thing where it must stay silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlap_lab.render.idle_rules import IDLE_RULES, IdleFacts, advice_for_idle
from overlap_lab.schema import Cause

NAMED = IdleFacts(Cause.HOST_LATE, 0.2, around=("ProfilerStep#3", "aten::mm"), is_long=True)
SHORT = replace(NAMED, is_long=False)


def _around(*names: str) -> IdleFacts:
    return replace(NAMED, around=("ProfilerStep#3", *names))


APPLIES = {
    "loader_without_workers": _around("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    "loader_too_slow": _around("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
    "loader": _around("train.py(12): next_batch"),
    "zero_grad": _around("Optimizer.zero_grad#SGD.zero_grad"),
    "optimizer_step": _around("Optimizer.step#Adam.step"),
    "garbage_collection": _around("<built-in function collect>"),
    "saving": _around("torch/serialization.py(400): save"),
    "compiling": _around("torch/_dynamo/convert_frame.py(10): compile"),
    "tensor_on_the_host": _around("aten::_to_copy"),
    "lead_lost_to_waits": replace(SHORT, follows_waits=True),
    "short_gaps": SHORT,
    "only_the_step": replace(NAMED, around=("ProfilerStep#3",)),
    "own_line": replace(NAMED, line="train.py:88 step"),
    "named_work": NAMED,
    "nothing_named": replace(NAMED, around=()),
    "host_function": IdleFacts(Cause.HOST_FUNCTION, 0.01),
    "launches_after_waits": IdleFacts(Cause.LAUNCH, 0.02, follows_waits=True),
    "launches_one_by_one": IdleFacts(Cause.LAUNCH, 0.02),
    "busy_launch_call": IdleFacts(Cause.IN_CALL, 0.01),
    "queued_but_not_started": IdleFacts(Cause.DEPENDENCY, 0.02),
}
SILENT = {
    "loader_without_workers": APPLIES["loader_too_slow"],
    "loader_too_slow": APPLIES["loader_without_workers"],
    "loader": _around("train.py(12): batch_norm"),
    "zero_grad": _around("Optimizer.step#SGD.step"),
    "optimizer_step": _around("Optimizer.zero_grad#SGD.zero_grad"),
    "garbage_collection": _around("<built-in method collective of Group object>"),
    "saving": _around("torch/serialization.py(900): load"),
    "compiling": _around("Torch-Compiled Region"),
    "tensor_on_the_host": replace(SHORT, around=("aten::_to_copy",)),
    "lead_lost_to_waits": SHORT,
    "short_gaps": NAMED,
    "only_the_step": _around("aten::step"),
    "own_line": NAMED,
    "named_work": replace(NAMED, around=()),
    "nothing_named": NAMED,
    "host_function": IdleFacts(Cause.HOST_FUNCTION, 0.0099),
    "launches_after_waits": IdleFacts(Cause.LAUNCH, 0.02),
    "launches_one_by_one": IdleFacts(Cause.LAUNCH, 0.0199),
    "busy_launch_call": IdleFacts(Cause.LAUNCH, 0.9),
    "queued_but_not_started": IdleFacts(Cause.DEPENDENCY, 0.0199),
}


def test_every_rule_has_both_tests() -> None:
    names = [rule.name for rule in IDLE_RULES]
    assert len(set(names)) == len(names)
    assert set(names) == APPLIES.keys() == SILENT.keys()


@pytest.mark.parametrize("name", APPLIES)
def test_a_rule_speaks_where_it_applies_and_is_the_first_that_does(name: str) -> None:
    found = advice_for_idle(APPLIES[name])
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", SILENT)
def test_a_rule_stays_silent_beside_it(name: str) -> None:
    [rule] = [rule for rule in IDLE_RULES if rule.name == name]
    assert not rule.applies(SILENT[name])


@pytest.mark.parametrize("rule", IDLE_RULES, ids=lambda rule: rule.name)
def test_idle_time_is_spoken_of_from_its_share_on(rule) -> None:
    facts = replace(APPLIES[rule.name], share=rule.least_share)
    assert rule.applies(facts)
    assert not rule.applies(replace(facts, share=rule.least_share - 1e-9))


def test_drains_are_left_to_their_waits_and_unknown_time_to_silence() -> None:
    assert advice_for_idle(IdleFacts(Cause.DRAIN, 0.9)) is None
    assert advice_for_idle(IdleFacts(Cause.UNKNOWN, 0.9)) is None
