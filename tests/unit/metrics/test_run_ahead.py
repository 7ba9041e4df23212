"""How far the host leads, and what the queue held."""

from __future__ import annotations

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.metrics.floor import quantiles
from overlap_lab.report import Report
from tests.timeline import timeline

US = 1_000


def values(report: Report, family: str) -> list[int]:
    return [int(report.value(f"{family}/{name}") or 0) for name in ("min", "median", "max")]


def test_run_ahead_is_device_start_minus_call_start() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LLlL.......
            stream 0 |..KKKkkkkKK
            """
        )
    )
    assert values(report, "run_ahead") == [2 * US, 3 * US, 6 * US]
    assert values(report, "run_ahead_from_end") == [0, 2 * US, 5 * US]


def test_an_op_that_starts_inside_its_own_call_is_no_fault() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LLLLL.
            stream 0 |..KKKK
            """
        )
    )
    assert values(report, "run_ahead_from_end") == [-3 * US, -3 * US, -3 * US]
    assert report.value("quality/inverted") == 0


def test_an_impossible_run_ahead_stays_out_of_the_quantiles() -> None:
    report = analyze(
        timeline(
            """
            host   1 |..L1L2......
            stream 0 |.K1.......K2
            """
        )
    )
    assert values(report, "run_ahead") == [6 * US, 6 * US, 6 * US]


def test_every_op_of_a_graph_has_its_own_run_ahead_and_only_the_first_counts_for_the_floor() -> None:
    report = analyze(
        timeline(
            """
            host   1 |G1........
            stream 0 |..K1K1K1K1
            """
        )
    )
    assert values(report, "run_ahead") == [2 * US, 5 * US, 8 * US]
    assert report.value("launch/floor") == 2 * US


def test_the_launch_floor_asks_ops_launched_onto_an_empty_stream() -> None:
    report = analyze(
        timeline(
            """
            host   1 |Ll......L..
            stream 0 |..KKKkkk.KK
            """
        )
    )
    assert report.value("launch/floor") == 1_100


def test_the_queue_holds_what_was_launched_and_has_not_ended() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LlL.......
            stream 0 |..KKkkkKKK
            """
        )
    )
    assert report.value("queue/depth_max") == 3
    assert report.value("queue/work_max") == 7 * US


def test_a_graph_launch_is_one_entry_of_the_queue() -> None:
    report = analyze(
        timeline(
            """
            host   1 |G1........
            stream 0 |...K1K1K1K
            """
        )
    )
    assert report.value("queue/depth_max") == 1
    assert report.value("queue/work_max") == 7 * US


@pytest.mark.parametrize(
    ("sample", "tenths", "expected"),
    [([7], 5, 7), ([0, 10], 5, 5), ([0, 10], 1, 1), ([0, 3], 5, 2), ([0, 1], 5, 0), ([1, 2, 3], 10, 3)],
)
def test_quantiles_are_linear_and_whole(sample: list[int], tenths: int, expected: int) -> None:
    place = (len(sample) - 1) * tenths // 10
    low, high = sorted(sample)[place : place + 2] if place + 1 < len(sample) else [max(sample)] * 2
    assert quantiles(len(sample), [low], [high], (tenths,)) == [expected]
