"""Only sets that were busy as a call began can be what it waited for: without the others all is the same."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab import analyze
from overlap_lab.errors import UsageError
from overlap_lab.metrics import busy_sets
from overlap_lab.metrics.busy_sets import Entries
from overlap_lab.metrics.opset import OpSet
from overlap_lab.render.json import reports_to_json
from overlap_lab.trace import Trace
from scripts.many_ranks import devices_of_one_thread, null_streams
from tests.reference.random_traces import random_trace, trained_trace


def told(trace: Trace, few: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The whole report where kinds of calls with more sets than these are held against busy ones only."""
    monkeypatch.setattr(busy_sets, "_FEW_SETS", few)
    return reports_to_json([analyze(trace)])


@pytest.mark.parametrize("seed", range(60))
def test_random_traces_give_the_same_report(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = (random_trace if seed % 4 else trained_trace)(seed)
    assert told(trace, 0, monkeypatch) == told(trace, 1 << 30, monkeypatch)


@pytest.mark.parametrize("trace", [null_streams(30), devices_of_one_thread(30)], ids=["streams", "devices"])
def test_many_sets_give_the_same_report(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(trace, 0, monkeypatch) == told(trace, 1 << 30, monkeypatch)


def test_too_many_busy_sets_are_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_sets, "_MOST_PAIRS", 25)
    with pytest.raises(UsageError, match=r"too many streams or devices are busy at once.* over 25 of them"):
        analyze(null_streams(30))


def test_calls_of_few_sets_are_not_held_against_those_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long trace in which one kind of calls has many sets, of which one was busy."""
    monkeypatch.setattr(busy_sets, "_MOST_PAIRS", 5)
    op = OpSet.of(np.array([0], np.int32), np.array([10]), np.array([20]))
    idle = OpSet.of(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    entries = Entries(
        lengths=np.array([1, 9]),
        set_id=np.array([1, *[1] * 8, 0]),
        kept=np.zeros(10, np.bool_),
    )
    kinds, start = np.array([*[0] * 100, 1, 1]), np.array([*range(100), 15, 30])
    call, entry = busy_sets.busy_pairs(kinds, start, entries, (op, idle))
    assert call.tolist() == [*range(100), 100]
    assert entry.tolist() == [*[0] * 100, 9]
