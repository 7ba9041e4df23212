from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlap_lab.analyze import analyze
from overlap_lab.compare import Comparison, Sampling, Verdict, compare
from overlap_lab.compare.samples import Per, of_windows, run_of
from overlap_lab.compare.statistics import OTHER_RUN, evidence
from overlap_lab.errors import MissingDependency, UsageError
from overlap_lab.report import Column, Report, Table
from overlap_lab.schema import Cause
from tests.timeline import timeline
from tests.unit.compare.stepped import steps_of
from tests.unit.render.made_report import made_report

FAST = steps_of([20, 21, 20, 22, 20, 21, 20, 20, 21, 20, 21, 22])
SLOW = steps_of([30, 31, 30, 32, 30, 31, 30, 30, 31, 30, 31, 32], drain_us=12)


def repeat(window_us: int, at: int, *, drain_us: int = 80) -> Report:
    """A report of a run of this length that began at this time."""
    report = made_report(busy_us=window_us - drain_us, idle_us={Cause.DRAIN: drain_us})
    return replace(report, source={**report.source, "clock": "boottime", "trace_start_ns": at})


def repeats(windows_us: list[int], first: int, step: int = 2) -> list[Report]:
    return [repeat(window, first + step * at) for at, window in enumerate(windows_us)]


def test_steps_that_grew_by_their_drain_are_worse_and_say_so() -> None:
    comparison = compare(FAST, SLOW)
    assert comparison.sampling is Sampling.STEPS
    assert comparison.verdict is Verdict.WORSE
    assert comparison.headline is not None
    assert comparison.headline.difference == 10_000
    [explained] = comparison.explanations
    assert explained.busy == 0
    assert next(iter(explained.drained)) == "hipDeviceSynchronize in step #*"


def test_the_parts_and_the_remainder_are_the_difference_exactly() -> None:
    for one, other in ((FAST, SLOW), (SLOW, FAST)):
        comparison = compare(one, other)
        [explained] = comparison.explanations
        assert comparison.headline is not None
        assert explained.window == explained.busy + sum(explained.idle.values())
        assert explained.window + explained.remainder == comparison.headline.difference
        assert sum(explained.drained.values()) == explained.idle[Cause.DRAIN]


@settings(max_examples=20, deadline=None)
@given(
    before=st.lists(st.integers(10, 40), min_size=5, max_size=9),
    after=st.lists(st.integers(10, 60), min_size=5, max_size=9),
    drain=st.integers(1, 6),
)
def test_whatever_the_steps_the_parts_sum_and_no_count_is_made_up(
    before: list[int], after: list[int], drain: int
) -> None:
    comparison = compare(steps_of(before), steps_of(after, drain_us=drain))
    [explained] = comparison.explanations
    assert comparison.headline is not None
    assert explained.window == explained.busy + sum(explained.idle.values())
    assert explained.window + explained.remainder == comparison.headline.difference
    assert sum(explained.drained.values()) == explained.idle[Cause.DRAIN]


def test_the_other_way_round_it_is_better() -> None:
    assert compare(SLOW, FAST).verdict is Verdict.BETTER


def test_a_trace_against_itself_is_the_same() -> None:
    comparison = compare(FAST, FAST)
    assert comparison.verdict in (Verdict.SAME, Verdict.UNDECIDED)
    assert not {d.verdict for d in comparison.differences} & {Verdict.WORSE, Verdict.BETTER}


def test_four_steps_decide_nothing_about_time_but_counts_are_exact() -> None:
    comparison = compare(steps_of([20] * 4), steps_of([40] * 4), per="step")
    assert comparison.verdict is Verdict.UNDECIDED
    assert comparison.headline is not None
    assert comparison.headline.reason == (
        "too few observations: a verdict takes at least 5 steps on each side"
    )
    gaps = comparison.difference("drain/terminal")
    assert gaps is not None


def test_with_too_few_steps_the_whole_runs_are_compared_and_a_note_says_why() -> None:
    comparison = compare(steps_of([20] * 4), FAST)
    assert comparison.sampling is Sampling.SINGLE_RUN
    assert comparison.notes[-1] == (
        "the traces have 4 and 12 steps; a verdict about chance takes 5 on each side"
    )


def test_a_count_that_never_varies_needs_no_statistics() -> None:
    waiting = timeline(
        """
        host   1 |LSS..LSS..L.
        stream 0 |.KK...KK...K
        """
    )
    queueing = timeline(
        """
        host   1 |LlL.........
        stream 0 |.KKkkK......
        """
    )
    before, after = [analyze(queueing)] * 5, [analyze(waiting)] * 5
    drains = compare(before, after).difference("drain/count")
    assert drains is not None
    assert (drains.baseline, drains.candidate, drains.verdict) == (0, 2, Verdict.WORSE)
    assert drains.statistics is None


def test_a_count_that_varies_is_tested_and_says_how_it_varies() -> None:
    drains = compare(steps_of([20] * 12), FAST, per="step").difference("device/gaps")
    assert drains is not None
    assert drains.statistics is not None or drains.verdict is Verdict.SAME
    count = compare(FAST, FAST).difference("drain/terminal")
    assert count is not None
    assert count.reason is not None
    assert count.reason.endswith("the count varies: 0 to 1 against 0 to 1")


def test_repeats_that_took_turns_are_compared_in_pairs() -> None:
    drifting = [1_000, 1_100, 1_200, 1_300, 1_400, 1_500, 1_600, 1_700]
    before = repeats(drifting, first=0)
    after = repeats([window + 30 for window in drifting], first=1)
    comparison = compare(before, after)
    assert comparison.sampling is Sampling.PAIRED_REPEATS
    assert comparison.verdict is Verdict.WORSE
    assert any("took turns" in note and "A B A B" in note for note in comparison.notes)


def test_the_same_repeats_one_side_after_the_other_are_undecided() -> None:
    drifting = [1_000, 1_100, 1_200, 1_300, 1_400, 1_500, 1_600, 1_700]
    after = repeats([window + 30 for window in drifting], first=100)
    comparison = compare(repeats(drifting, first=0), after)
    assert comparison.sampling is Sampling.REPEATS
    assert comparison.verdict is Verdict.UNDECIDED


def test_a_pair_may_begin_with_either_side() -> None:
    before = [repeat(1_000, at) for at in (0, 3, 4, 7, 8, 11)]
    after = [repeat(1_100, at) for at in (1, 2, 5, 6, 9, 10)]
    assert compare(before, after).sampling is Sampling.PAIRED_REPEATS


def test_without_a_common_clock_nothing_is_paired() -> None:
    before, after = repeats([1_000] * 6, first=0), repeats([1_000] * 6, first=1)
    after = [replace(one, source={**one.source, "clock": "unknown"}) for one in after]
    assert compare(before, after).sampling is Sampling.REPEATS


def test_pairs_that_are_asked_for_need_as_many_on_each_side() -> None:
    with pytest.raises(UsageError, match="as many repeats on each side, not 3 and 2"):
        compare(repeats([1_000] * 3, first=0), repeats([1_000] * 2, first=1), paired=True)


def test_another_machine_is_incomparable_and_told_by_name() -> None:
    other = [
        replace(one, source={**one.source, "devices": {"0": "MI355X"}}) for one in repeats([1_000] * 6, 1)
    ]
    comparison = compare(repeats([1_000] * 6, 0), other)
    assert comparison.verdict is Verdict.INCOMPARABLE
    assert comparison.headline is not None
    assert comparison.headline.reason == "the devices differ: MI300X against MI355X"
    forced = compare(repeats([1_000] * 6, 0), other, force_comparable=True)
    assert forced.verdict is not Verdict.INCOMPARABLE
    assert "compared all the same: the devices differ: MI300X against MI355X" in forced.notes


def test_another_driver_is_incomparable() -> None:
    one, other = ({"driver version": version} for version in ("560.1", "570.2"))
    comparison = compare(steps_of([20] * 6, metadata=one), steps_of([20] * 6, metadata=other))
    assert comparison.verdict is Verdict.INCOMPARABLE
    assert comparison.headline is not None
    assert comparison.headline.reason == "the drivers differ (driver version): 560.1 against 570.2"


def test_a_repeat_of_another_machine_within_a_side_is_incomparable_too() -> None:
    mixed = repeats([1_000] * 6, 0)
    mixed[3] = replace(mixed[3], source={**mixed[3].source, "devices": {"0": "MI355X"}})
    assert compare(mixed, repeats([1_000] * 6, 1)).verdict is Verdict.INCOMPARABLE


def test_a_repeat_of_another_program_within_a_side_is_incomparable_too() -> None:
    mixed = [FAST, FAST.replace(names=tuple("sgemm" if one == "kernel" else one for one in FAST.names)), FAST]
    comparison = compare([FAST] * 3, mixed)
    assert comparison.headline is not None
    assert comparison.headline.reason == (
        "of the candidate, trace 2 is no repeat of trace 1, for their programs differ: sgemm against kernel"
    )
    assert comparison.verdict is Verdict.INCOMPARABLE
    forced = compare([FAST] * 3, mixed, force_comparable=True)
    assert forced.verdict is not Verdict.INCOMPARABLE
    assert any(one.startswith("compared all the same: of the candidate, trace 2") for one in forced.notes)


def test_another_program_on_the_other_side_is_a_change_to_judge() -> None:
    other = FAST.replace(names=tuple("sgemm" if one == "kernel" else one for one in FAST.names))
    assert compare([FAST] * 6, [other] * 6).verdict is Verdict.SAME


def test_p_of_the_other_measures_is_adjusted_and_the_note_says_how_many() -> None:
    comparison = compare(FAST, SLOW)
    tested = [d for d in comparison.differences if d.statistics is not None]
    assert any(f"{len(tested) - 1} other measures tested" in note for note in comparison.notes)
    before, after = (of_windows([run_of(side)], Per.STEP, None).values for side in (FAST, SLOW))
    for tag, adjusted in (("device/window", False), ("device/idle", True)):
        found = comparison.difference(tag)
        assert found is not None
        assert found.statistics is not None
        alone = evidence(before[tag, ()], after[tag, ()], floors=OTHER_RUN, seed=0).p
        assert found.statistics.p == pytest.approx(float(alone)) or adjusted
        assert found.statistics.p > 1.5 * alone or not adjusted


def test_what_one_observation_lacks_is_incomparable_with_the_reason() -> None:
    before = repeats([1_000] * 6, 0)
    unknown = compare(before, repeats([1_000] * 6, 1)).difference("host/unknown_wait")
    assert unknown is not None
    assert unknown.verdict is Verdict.INCOMPARABLE
    assert (
        unknown.reason == "baseline: no value in every observation; candidate: no value in every observation"
    )


def test_several_runs_cannot_be_compared_as_one() -> None:
    with pytest.raises(UsageError, match="takes one run a side, not 2 and 1"):
        compare(repeats([1_000] * 2, 0), repeat(1_000, 9), per="run")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per": "week"}, "choose from auto, step, range, repeat, run"),
        ({"per": "range"}, "name the range"),
        ({"confidence": 95.0}, "is not between 0.5 and 1"),
        ({"seed": -1}, "seed -1 is negative"),
        ({"per": "step", "range_name": "x"}, "goes with per range"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(FAST, SLOW, **options)  # type: ignore[arg-type]


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingDependency, match=r"pip install 'overlap_lab\[stats\]'"):
        compare(FAST, SLOW)
    assert compare(FAST, SLOW, per="run").sampling is Sampling.SINGLE_RUN


def test_a_report_whose_drains_have_no_times_still_compares() -> None:
    report = repeat(1_000, 0)
    drains = Table((Column("idle", "text"),), (("long",),))
    odd = replace(report, tables={**report.tables, "drains": drains})
    [explained] = compare(odd, repeat(1_200, 1, drain_us=180)).explanations
    assert sum(explained.drained.values()) == explained.idle[Cause.DRAIN] == 100_000


def test_a_comparison_prints_as_its_text() -> None:
    comparison: Comparison = compare(FAST, SLOW)
    said = "WORSE: 48.8 % slower per step than the baseline: medians 20.5 us -> 30.5 us (12 steps against 12)"
    assert said in " ".join(str(comparison).split())
    assert repr(comparison).startswith("Comparison(worse, steps, ")
