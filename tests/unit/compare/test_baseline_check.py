"""What a baseline decides, on drawn traces; one letter is a microsecond."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from overlap_lab.compare import compare
from overlap_lab.compare.baseline import StoredRun, baseline_of, runs_to_store
from overlap_lab.compare.baseline_check import held_against, judged
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.compare.baseline_machine import Machine, machine_of
from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.checked import Checked, Outcome
from overlap_lab.compare.comparison import Sampling, Verdict
from overlap_lab.errors import MissingDependency, UsageError
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import steps_of


def drained(times: int) -> Trace:
    """A kernel and a wait that drains the device, so many times, and a last one."""
    host = "L.SSSS." * times + "L.SSSS"
    stream = ".KKKK.." * times + ".KKKK."
    return timeline(f"host   1 |{host}\nstream 0 |{stream}")


def stored(*traces: Trace) -> tuple[StoredRun, ...]:
    """As a file gives them back."""
    written = baseline_to_json(baseline_of("main", traces))
    return baseline_from_json(written.encode(), where="here").entries["trace"]


def held(baseline: tuple[StoredRun, ...], *traces: Trace, rule: str) -> Checked:
    [one], _ = held_against(baseline, traces, [parse_baseline_rule(rule)])
    return one


@pytest.mark.parametrize(
    ("drains", "rule", "outcome"),
    [
        (2, "drain/count:0", Outcome.FINE),
        (1, "drain/count:0", Outcome.FINE),
        (3, "drain/count", Outcome.VIOLATED),
        (3, "drain/count:1", Outcome.FINE),
        (3, "drain/count:50%", Outcome.FINE),
        (4, "drain/count:50%", Outcome.VIOLATED),
    ],
)
def test_a_count_decides_exactly(drains: int, rule: str, outcome: Outcome) -> None:
    one = held(stored(drained(2)), drained(drains), rule=rule)
    assert (one.outcome, one.value) == (outcome, drains)
    assert one.against is not None
    assert one.against.value == 2


def test_a_count_that_varies_is_never_a_false_red() -> None:
    one = held(stored(drained(0), drained(1)), drained(1), drained(2), rule="drain/count:0")
    assert one.outcome is Outcome.UNDECIDED
    assert "too few observations" in one.reason


def test_one_run_a_side_says_nothing_about_a_time() -> None:
    one = held(stored(steps_of([10])), steps_of([40]), rule="device/window:0")
    assert one.outcome is Outcome.UNDECIDED


def test_steps_are_weighed_as_those_of_another_session() -> None:
    before, slower = steps_of([10, 11] * 10), steps_of([30, 31] * 10)
    assert held(stored(before), slower, rule="device/window:50%").outcome is Outcome.VIOLATED
    assert held(stored(before), slower, rule="device/window:300%").outcome is Outcome.FINE
    steady = steps_of([10] * 20)
    assert held(stored(steady), steady, rule="device/window:0").outcome is Outcome.FINE


def test_worse_but_not_shown_to_be_beyond_what_is_allowed_is_undecided() -> None:
    one = held(stored(steps_of([10, 11] * 10)), steps_of([20, 22] * 10), rule="device/window:100%")
    assert one.outcome is Outcome.UNDECIDED
    assert "not shown to be more than the 100% of the baseline that are allowed" in one.reason


def test_steps_that_wander_are_undecided_however_small_p_is() -> None:
    wandering = steps_of([10] * 10 + [14] * 10)
    one = held(stored(wandering), steps_of([14] * 10 + [18] * 10), rule="device/window:0")
    assert one.outcome is Outcome.UNDECIDED
    assert "noise floor" in one.reason


def test_steps_of_one_run_of_the_host_target_decide_no_time() -> None:
    before, slower = (steps_of([length] * 20) for length in (10, 30))
    host = [one.replace(source=replace(one.source, vendor="host")) for one in (before, slower)]
    assert held(stored(before), slower, rule="device/window:0").outcome is Outcome.VIOLATED
    one = held(stored(host[0]), host[1], rule="device/window:0")
    assert one.outcome is Outcome.UNDECIDED
    assert one.reason.endswith("on the CPU host target it takes 5 runs on each side")
    repeats = held(stored(*[host[0]] * 5), *[host[1]] * 5, rule="device/window:0")
    assert repeats.outcome is Outcome.VIOLATED


def test_repeats_of_another_session_need_more_than_repeats_in_turn() -> None:
    before = [steps_of([length] * 4, start_us=200 * at) for at, length in enumerate([20, 20, 20, 21, 21, 21])]
    after = [steps_of([length] * 4, start_us=9_000 + 200 * at) for at, length in enumerate([23] * 6)]
    in_turn = compare(before, after, paired=False)
    apart = compare(stored(*before), after, paired=False)
    assert (in_turn.verdict, apart.verdict) == (Verdict.WORSE, Verdict.UNDECIDED)


def test_a_stored_run_compares_like_its_trace() -> None:
    before, after = steps_of([10, 12, 11] * 4), steps_of([20, 22, 21] * 4)
    plain, again = compare(before, after), compare(stored(before), after)
    assert (again.verdict, again.explanations) == (plain.verdict, plain.explanations)
    assert [(d.tag, d.baseline, d.difference) for d in again.differences] == [
        (d.tag, d.baseline, d.difference) for d in plain.differences
    ]


def test_one_stored_run_compares_like_its_trace_as_well() -> None:
    plain, again = compare(drained(2), drained(5)), compare(stored(drained(2)), drained(5))
    assert again.explanations == plain.explanations
    assert again.differences == plain.differences


def test_a_rule_in_a_range_looks_at_its_instances() -> None:
    before, after = steps_of([10]), steps_of([10])
    one = held(stored(before), after, rule='device/window:0 in range "nowhere"')
    assert (one.outcome, one.reason) == (Outcome.NO_VALUE, "the trace has no range called 'nowhere'")


@pytest.mark.parametrize("rule", ["device/window:0 on device 0", "drain/count:0 on device 0"])
def test_the_one_device_of_a_trace_may_be_named(rule: str) -> None:
    one = held(stored(drained(2)), drained(2), rule=rule)
    assert (one.outcome, str(one.rule)) == (Outcome.FINE, rule)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("device/window:0 on device 7", "the trace has no device 7; it has 0"),
        ("host/blocked:0 on device 0", "neither side has a value"),
    ],
)
def test_another_device_has_no_value_and_the_reason_says_so(rule: str, why: str) -> None:
    one = held(stored(drained(2)), drained(2), rule=rule)
    assert (one.outcome, one.reason) == (Outcome.NO_VALUE, why)


def test_a_measure_without_a_value_fails_with_its_reason() -> None:
    before, after = drained(1), timeline("host 1 |K.SSS")
    [one], _ = held_against(
        stored(before), [after], [parse_baseline_rule("drain/count:0")], force_comparable=True
    )
    assert one.outcome is Outcome.NO_VALUE
    assert "no device records" in one.reason


def test_a_trace_without_device_records_keeps_no_rule() -> None:
    one = held(stored(timeline("host 1 |K.SSS")), timeline("host 1 |K.SSS"), rule="host/redundant_waits:0")
    assert (one.outcome, one.reason) == (Outcome.NO_VALUE, "the trace has no device records")


def test_counts_need_no_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = (steps_of([length] * 8) for length in (10, 20))
    monkeypatch.setitem(sys.modules, "scipy", None)
    [one], comparison = held_against(stored(before), [after], [parse_baseline_rule("drain/count:0")])
    assert (one.outcome, comparison) == (Outcome.FINE, None)
    with pytest.raises(MissingDependency, match="scipy"):
        held(stored(before), after, rule="device/window:0")


def test_another_setup_is_incomparable() -> None:
    before, after = (steps_of([10] * 6, metadata={"cpu": cpu}) for cpu in ("one", "other"))
    one = held(stored(before), after, rule="device/window:0")
    assert (one.outcome, one.reason) == (Outcome.INCOMPARABLE, "the CPUs differ: one against other")


def test_a_violation_names_the_waits() -> None:
    one = held(stored(drained(1)), drained(3), rule="drain/count:0")
    [culprit] = one.culprits
    assert (culprit.call, culprit.drains) == ("hipDeviceSynchronize", 3)


def test_a_verdict_of_undecided_never_fails_whatever_is_allowed() -> None:
    rng = np.random.default_rng(3)
    for seed in range(5):
        lengths = rng.integers(10, 60, (2, 12)).tolist()
        one = held(stored(steps_of(lengths[0])), steps_of(lengths[1]), rule="device/window:0")
        assert one.outcome is not Outcome.VIOLATED, seed


def test_traces_that_were_not_made_alike_are_no_baseline() -> None:
    with pytest.raises(UsageError, match="the CPUs differ"):
        baseline_of("main", [steps_of([10], metadata={"cpu": cpu}) for cpu in ("one", "other")])


def test_runs_are_stored_in_the_order_of_their_start() -> None:
    late, early = steps_of([10, 10], start_us=500), steps_of([20, 20])
    found = runs_to_store([late, early])
    assert [run.steps.values["device/window", ()].tolist() for run in found] == [[20_000] * 2, [10_000] * 2]


def test_no_trace_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no run to store"):
        baseline_of("main", [])
    with pytest.raises(UsageError, match="a run on each side"):
        held_against(stored(drained(1)), [])


def test_the_machine_is_what_times_depend_on_and_nothing_else() -> None:
    source = {
        "devices": {"0": "NVIDIA H200", "1": "NVIDIA H200"},
        "vendor": "nvidia",
        "format": "kineto",
        "metadata": {
            "cpu": "EPYC 9654",
            "cores": "16",
            "system": "Linux 6.1.0-18-amd64 x86_64",
            "hostname": "node17",
            "environment RANK": "3",
            "command": "python train.py --token secret",
            "cuda_driver_version": "12080",
        },
    }
    machine = machine_of(source)
    assert dict(machine.facts) == {
        "device": "2 x NVIDIA H200",
        "vendor": "nvidia",
        "backend": "kineto",
        "cpu": "EPYC 9654",
        "cores": "16",
        "system": "Linux x86_64",
        "cuda_driver_version": "12080",
    }
    assert machine.id.startswith("2-x-nvidia-h200-")
    other = Machine({**machine.facts, "cores": "8"})
    assert other.id != machine.id
    assert list(machine.differences(other)) == ["the cores differ: 16 against 8"]


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("drain/count", "drain/count:0"),
        ("drain/count : 3", "drain/count:3"),
        ("host/blocked:10%", "host/blocked:10%"),
        ("host/blocked:50us on device 1", "host/blocked:50.0us on device 1"),
        ('device/window:2.5% in range "back ward"', 'device/window:2.5% in range "back ward"'),
        ("overlap/ratio:0.02", "overlap/ratio:0.02"),
    ],
)
def test_a_rule_reads_what_it_writes(text: str, spelled: str) -> None:
    rule = parse_baseline_rule(text)
    assert str(rule) == spelled
    assert parse_baseline_rule(spelled) == rule


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not say what may become worse"),
        ("drain/count < 3", "does not say what may become worse"),
        ("__import__('os')", "does not say what may become worse"),
        ("drain/cuont:0", "did you mean drain/count"),
        ("device/busy:0", "neither better nor worse"),
        ("host/blocked:5", "a time needs its unit"),
        ("host/blocked:5parsec", "'5parsec' is not a time"),
        ("drain/count:1.5", "neither a whole number nor a share"),
        ("overlap/ratio:1x", "neither a number such as 0.02 nor a share"),
        ("drain/count:1x%", "1x% is no share"),
    ],
)
def test_what_is_no_rule_says_why(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_baseline_rule(text)
    assert why in str(caught.value)


def test_a_ratio_is_worse_when_it_falls() -> None:
    difference = compare(drained(1), drained(1)).difference("overlap/ratio")
    assert difference is not None
    rule = parse_baseline_rule("overlap/ratio:0")
    assert judged(rule, difference, Sampling.SINGLE_RUN).outcome is Outcome.FINE
