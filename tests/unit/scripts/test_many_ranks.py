"""The drawn traces of many devices, threads, streams and waits have the numbers that their words say."""

from __future__ import annotations

import pytest

from overlap_lab import analyze
from overlap_lab.report import Report
from overlap_lab.trace import Trace
from scripts.many_ranks import SHAPES, devices_of_one_thread, long_waits, null_streams, ranks, threads


def _values(report: Report, tag: str) -> list[int | float | None]:
    """The values of a tag for each device, thread or stream, but not those of everything together."""
    return [each.value for each in report.measurements if each.tag == tag and each.scope]


@pytest.mark.parametrize("made", [ranks(40), devices_of_one_thread(40)], ids=["ranks", "one thread"])
def test_each_of_many_devices_drains_between_its_rounds(made: Trace) -> None:
    report = analyze(made)
    assert _values(report, "drain/count") == [2] * 40
    assert _values(report, "drain/terminal") == [1] * 40
    assert _values(report, "device/busy") == [300_000] * 40
    assert _values(report, "stream/drain/count") == [2] * 40
    assert len(report.tables["waits"].rows) == 120


def test_each_rank_is_blocked_by_its_own_device() -> None:
    report = analyze(ranks(40))
    blocked = {
        each.scope["process"]: each.value
        for each in report.measurements
        if each.tag == "host/blocked" and set(each.scope) == {"process"}
    }
    assert blocked == {1_000 + rank: 3 * 109_000 for rank in range(40)}
    assert _values(report, "drain/idle") == [200_000] * 40
    assert _values(report, "overlap/ratio_literal") == [0.0] * 40


def test_threads_that_take_turns_drain_one_device() -> None:
    report = analyze(threads(40))
    assert report.value("drain/count") == 39
    assert report.value("host/blocked") == 40 * 109_000


def test_copies_on_the_null_stream_wait_for_their_own_copies_when_all_streams_are_done() -> None:
    report = analyze(null_streams(40))
    assert report.value("host/blocked") == 40 * 10_000
    assert report.value("host/blocked/sync_copy") == 40 * 10_000
    assert report.value("drain/count") == 39


def test_waits_over_all_ops_of_a_device_end_as_its_terminal_drain() -> None:
    made = long_waits(40)
    report = analyze(made)
    assert len(report.tables["waits"].rows) == 40
    assert report.value("drain/terminal") == 1
    assert report.value("drain/count") == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_has_as_many_as_asked_for(shape: str) -> None:
    few, more = (len(SHAPES[shape](count)) for count in (5, 10))
    assert more == 2 * few
