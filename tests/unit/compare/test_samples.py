from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.analyze import analyze
from overlap_lab.compare.samples import PARTS, Per, of_repeats, of_windows, run_of
from overlap_lab.errors import UsageError
from overlap_lab.metrics.steps import steps_table
from tests.timeline import timeline
from tests.unit.compare.stepped import stepped, steps_of

STEPS = stepped(
    """
    host   1 |OOOOOOOOOoooooooooOOOOOOOOO
    host   1 |LSSSS....Ll.......LSSSSSS..    steps of 9 us; the first and the last wait
    stream 0 |.KKKK....kkkkKKKK..KKKKKK..
    """
)


def values(tag: str) -> list[float]:
    return of_windows([run_of(STEPS)], Per.STEP, None).values[tag, ()].tolist()


def test_every_step_is_an_observation_of_every_measure() -> None:
    assert values("device/window") == [9_000, 9_000, 9_000]
    assert values("device/busy") == [4_000, 8_000, 6_000]
    assert values("drain/count") == [1, 0, 0]
    assert values("host/blocked") == [4_000, 0, 6_000]


def test_the_values_are_those_of_the_table_of_steps() -> None:
    table = steps_table(run_of(STEPS).context).to_pandas()  # type: ignore[arg-type]
    for tag, column in (("device/busy", "busy"), ("device/idle", "idle"), ("drain/idle", "drain_idle")):
        assert values(tag) == table[column].tolist()


def test_busy_and_idle_by_cause_sum_to_the_window_in_every_step() -> None:
    found = of_windows([run_of(STEPS)], Per.STEP, None).values
    whole, *parts = (found[tag, ()] for tag in PARTS)
    assert np.array_equal(whole, np.sum(parts, axis=0))


def test_ranges_of_one_name_are_observations() -> None:
    trace = timeline(
        """
        host   1 |.OOOO.....oooooo..
        host   1 |L.....L...........
        stream 0 |.KKKK..KKKKKKKKK..
        """
    )
    found = of_windows([run_of(trace)], Per.RANGE, "range").values
    assert found["device/window", ()].tolist() == [4_000, 6_000]
    assert found["device/busy", ()].tolist() == [4_000, 6_000]


def test_a_range_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"no range is called 'forward'; it has step #0, step #1, step #2"):
        of_windows([run_of(STEPS)], Per.RANGE, "forward")


def test_a_trace_without_steps_says_what_a_step_is() -> None:
    with pytest.raises(UsageError, match="no steps; a step is a range such as"):
        of_windows(
            [run_of(timeline("host 1 |L.\nstream 0 |.K".replace("host 1", "host   1")))], Per.STEP, None
        )


def test_a_saved_report_has_no_steps() -> None:
    with pytest.raises(UsageError, match="a saved report holds no steps"):
        of_windows([run_of(analyze(STEPS))], Per.STEP, None)


def test_a_repeat_counts_with_its_quiet_steps_and_all_of_its_drains() -> None:
    run = run_of(steps_of([10] * 9 + [40, 60]))
    found = of_repeats([run], by_steps=True)
    assert found.values["device/window", ()].tolist() == [10_000]
    assert found.values["drain/count", ()].tolist() == [10]
    assert found.windows.size == 11


def test_with_few_steps_a_repeat_counts_with_their_median() -> None:
    found = of_repeats([run_of(steps_of([10, 20, 40]))], by_steps=True)
    assert found.values["device/window", ()].tolist() == [20_000]


def test_a_repeat_without_steps_is_its_whole_run() -> None:
    report = analyze(STEPS)
    found = of_repeats([run_of(report), run_of(report)], by_steps=False)
    assert found.values["device/window", ()].tolist() == [report.value("device/window")] * 2
    assert (
        found.windows.drained[(), "hipDeviceSynchronize in step #*"].tolist()
        == [report.value("device/idle/drain")] * 2
    )
