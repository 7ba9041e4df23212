"""Waits that return on an empty device or stream, and what they cost."""

from __future__ import annotations

from overlap_lab.analyze import analyze
from overlap_lab.report import Report
from tests.timeline import timeline

US = 1_000


def drains(report: Report, **scope: int) -> tuple[int, ...]:
    """count, terminal, idle, return, refill, launch; times in microseconds."""
    tags = ("count", "terminal", "idle", "idle/return", "idle/refill", "idle/launch")
    values = [int(report.value(f"drain/{tag}", **scope) or 0) for tag in tags]
    return (*values[:2], *(value // US for value in values[2:]))


def test_a_wait_that_returns_on_an_empty_device_drains_it() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSSSS..L.SSSS
            stream 0 |..KKKKK.......KK.
            """
        )
    )
    assert drains(report) == (1, 1, 7, 2, 2, 3)
    assert report.value("device/idle/drain") == 7 * US


def test_a_wait_with_later_work_queued_is_no_drain() -> None:
    report = analyze(
        timeline(
            """
            host 1 stream 0 |L1TTTTTTT....................
            host 2          |..L2.........................
            stream 0        |..K1KKK..K2KKKKKKKKKKKKKKKKKK
            """
        )
    )
    assert report.value("host/blocked/stream_sync") == 7 * US
    assert drains(report)[0] == 0


def test_two_waits_in_one_gap_are_one_drain_that_ends_with_the_last_return() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1SSSSS....L2...
            host   2 |L3.SSSSSS.......
            stream 0 |..K1KK.......K2K
            stream 1 |..K3KK..........
            """
        )
    )
    assert drains(report) == (1, 0, 7, 3, 2, 2)


def test_waits_at_the_end_are_terminal_once_and_leave_no_idle_time() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1SSSSS
            host   2 |L2.SSSS
            stream 0 |..K1K..
            stream 0 |.....K2
            """.replace(".....K2", "....K2.")
        )
    )
    assert drains(report) == (0, 1, 0, 0, 0, 0)


def test_the_wait_of_a_thread_that_feeds_nothing_drains_nothing() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.........L.
            host   2 |..SSSSSS....
            stream 0 |..KKKK......K
            """.replace("L.\n", "L..\n").replace("S....\n", "S.....\n")
        )
    )
    assert report.value("host/blocked") == 6 * US
    assert drains(report)[0] == 0


def test_an_op_that_ends_within_the_slack_of_the_return_leaves_the_device_empty() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSS..............L...
            stream 0 |..KKKKKKKK............KK
            """
        )
    )
    assert drains(report) == (1, 0, 12, 0, 10, 2)


def test_a_next_op_without_a_call_makes_refill_and_launch_one_part() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1SSSSS.....
            stream 0 |..K1KK....K0
            """
        )
    )
    assert drains(report) == (1, 0, 4, 1, 3, 0)


def test_a_stream_can_drain_while_another_keeps_the_device_busy() -> None:
    report = analyze(
        timeline(
            """
            host 1 stream 1 |L1.TTTTT.L3...............
            host 1 stream 2 |..L2......................
            stream 1        |..K1KKK....K3.............
            stream 2        |...K2KKKKKKKKKKKKKKKKKKKKK
            """.replace("..L2", "..l2")
        )
    )
    assert drains(report)[0] == 0
    assert report.value("stream/drain/count", device=0, stream=1) == 1
    assert report.value("stream/drain/idle", device=0, stream=1) == 4 * US
    assert report.value("stream/drain/count", device=0, stream=2) == 0


def test_work_of_another_process_keeps_the_device_from_draining() -> None:
    report = analyze(
        timeline(
            """
            process 1 host   1 |L1SSSSS......L2..........
            process 2 host   1 |.L3......................
            process 1 stream 0 |..K1KK.........K2........
            process 2 stream 0 |...K3KKKKKKKKKKKKKKKKKKKK
            """
        )
    )
    assert drains(report)[0] == 0
    assert report.value("stream/drain/count", device=0, stream=0) == 1


def test_a_drain_names_its_call_and_where_it_happened() -> None:
    report = analyze(
        timeline(
            """
            host   1 |OOOOOOOOOOOOO....
            host   1 |.IIIIIIIIII......
            host   1 |L.SSSSSSS..L.SSSS
            stream 0 |..KKKKK.......KK.
            """
        )
    )
    [row] = report.tables["drains"].to_pandas().to_dict("records")
    assert (row["call"], row["range"], row["op"]) == ("hipDeviceSynchronize", "range", "aten::op")
    assert (row["run_ahead_before"], row["recovery"]) == (2 * US, 5 * US)
