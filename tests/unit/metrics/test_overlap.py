"""How much device work did not block the host."""

from __future__ import annotations

import pytest

from overlap_lab.analyze import analyze
from tests.timeline import timeline


def test_a_final_wait_counts_in_the_literal_ratio_only() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L...SSSSSSSS
            stream 0 |.KKKKKKKKKK.
            """
        )
    )
    assert report.value("overlap/ratio") == 1.0
    assert report.value("overlap/ratio_literal") == pytest.approx(0.3)


def test_a_wait_in_the_middle_counts_in_both() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L..SSSSL.....
            stream 0 |.KKKKK..KKKKK
            """
        )
    )
    assert report.value("overlap/ratio") == report.value("overlap/ratio_literal") == pytest.approx(0.7)


def test_the_wait_of_a_thread_that_feeds_another_device_does_not_count() -> None:
    report = analyze(
        timeline(
            """
            host 1 device 0     |L1...........
            host 2 device 1     |L2SSSSSS.....
            device 0 stream 0   |.K1KKKKKKKKKK
            device 1 stream 0   |..K2KK.......
            """
        )
    )
    assert report.value("overlap/ratio_literal", device=0) == 1.0
    assert report.value("overlap/ratio_literal", device=1) == 0.0


def test_blocked_time_beside_an_idle_device_is_said_apart() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSSSSSSL..
            stream 0 |..KKK.......KK
            """
        )
    )
    assert report.value("host/blocked_while_idle") == 6_000


def test_without_device_work_in_the_window_the_ratio_is_not_applicable() -> None:
    trace = timeline(
        """
        host   1 |L.......L...
        stream 0 |..KK......KK
        """
    )
    ratio = analyze(trace, window=(5_000, 9_000)).measurement("overlap/ratio")
    assert ratio.value is None
    assert ratio.reason == "not applicable: no device operation in the window"
