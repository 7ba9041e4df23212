"""Which calls waited, why, and for how long the device was the reason."""

from __future__ import annotations

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.report import Report
from overlap_lab.schema import Memory
from overlap_lab.trace import Source
from tests.timeline import timeline

US = 1_000


def blocked(report: Report) -> dict[str, int]:
    """`host/blocked/*` in microseconds, zeros left out."""
    return {
        m.tag.removeprefix("host/blocked/"): int(m.value or 0) // US
        for m in report.measurements
        if m.tag.startswith("host/blocked/") and not m.scope and m.value
    }


def test_a_sync_waits_for_what_was_outstanding_at_its_start() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LlSSSSSSSS
            stream 0 |..KKKKKk..
            """
        )
    )
    assert blocked(report) == {"explicit": 8, "device_sync": 8, "device_bound": 6, "return_latency": 2}


def test_a_sync_on_an_idle_device_is_redundant() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L....SSSS
            stream 0 |.KKK.....
            """
        )
    )
    assert blocked(report) == {}
    assert report.value("host/redundant_waits") == 1


def test_an_op_that_outlives_the_sync_was_not_waited_for() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSS.....................
            stream 0 |..KKKKKKKKKKKKKKKKKKKKKKKK
            """
        )
    )
    assert report.value("host/redundant_waits") == 1


def test_an_end_ten_microseconds_after_the_return_counts_as_ended() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSS..........
            stream 0 |..KKKKKKKKKKKKKK
            """
        )
    )
    assert blocked(report) == {"explicit": 4, "device_sync": 4, "device_bound": 4}


def test_a_stream_sync_waits_for_its_stream_only() -> None:
    report = analyze(
        timeline(
            """
            host 1 stream 2 |LlTTTTTTTTTTTTTTTTT
            stream 1        |.KKKKKKKKKKKKKKKKK.
            stream 2        |..KKK..............
            """
        )
    )
    assert blocked(report)["device_bound"] == 3


def test_a_sync_on_the_null_stream_waits_for_blocking_streams_too() -> None:
    drawing = """
            host 1 stream 1 |L...............
            host 1 stream 0 |.L.TTTTTTTTTTTTT
            stream 1        |..KKKKKKKKKKKKK.
            stream 0        |..KK............
            """
    null = frozenset({0})
    legacy = analyze(timeline(drawing, source=Source(null_streams=null)))
    apart = analyze(timeline(drawing, source=Source(null_streams=null, nonblocking_streams=frozenset({1}))))
    assert blocked(legacy)["device_bound"] == 12
    assert blocked(apart)["device_bound"] == 1


def test_an_event_waits_for_the_work_before_its_record() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1R2L3E4EEE....................
            stream 5 |..K1KK..K3KKKKKKKKKKKKKKKKKKKKK
            stream 5 |......E42E.....................
            """
        )
    )
    assert report.value("host/redundant_waits") == 1


def test_an_event_wait_returns_with_the_op_before_its_record() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1R2L3E4EEE....................
            stream 5 |..K1KKKKK.K3KKKKKKKKKKKKKKKKKKK
            stream 5 |......E42E.....................
            """
        )
    )
    assert blocked(report) == {"explicit": 5, "event_sync": 5, "device_bound": 3, "return_latency": 2}


def test_a_synchronous_copy_waits_for_its_own_copy() -> None:
    report = analyze(
        timeline(
            """
            host   1 |MMMMM
            stream 0 |..DD.
            """
        )
    )
    assert blocked(report) == {"explicit": 5, "sync_copy": 5, "device_bound": 4, "return_latency": 1}


def test_a_copy_that_returns_long_before_its_copy_ends_did_not_wait() -> None:
    report = analyze(
        timeline(
            """
            host   1 |MM..............
            stream 0 |..UUUUUUUUUUUUUU
            """
        )
    )
    assert blocked(report) == {}
    assert report.value("host/redundant_waits") == 0


def test_a_synchronous_copy_without_a_record_waited() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1.M2MM
            stream 0 |.K1....
            """
        )
    )
    assert blocked(report)["sync_copy"] == 4


def long_copy(own: str, memory: Memory = Memory.UNKNOWN, vendor: str = "amd") -> dict[str, int]:
    drawing = f"""
        host   1 |C1{"C" * 38}..............................
        stream 0 |{own}
        """
    trace = timeline(drawing, memory={1: memory}, source=Source(vendor=vendor))
    return blocked(analyze(trace))


def test_a_pageable_copy_inside_its_call_is_a_wait_on_an_idle_device() -> None:
    assert long_copy("." * 30 + "D1DDD")["pageable_copy"] == 40


def test_a_pageable_copy_that_runs_on_past_the_return_is_a_wait() -> None:
    assert long_copy("." * 10 + "U1" + "U" * 50)["pageable_copy"] == 40


def test_a_copy_that_starts_just_before_the_return_is_no_wait() -> None:
    assert long_copy("." * 30 + "U1" + "U" * 30) == {}


def test_a_copy_recorded_as_pinned_is_no_wait() -> None:
    assert long_copy("." * 30 + "D1DDD", Memory.PINNED) == {}


@pytest.mark.parametrize(("vendor", "waits"), [("nvidia", False), ("amd", True)])
def test_a_device_to_device_copy_waits_on_amd_only(vendor: str, waits: bool) -> None:
    assert bool(long_copy("." * 30 + "X1XXX", vendor=vendor)) == waits


def may_wait(letter: str, length: int, op_end: int) -> dict[str, int]:
    """A call of some length from 3 us on, beside one op that ends at `op_end`."""
    drawing = f"""
        host   1 |L1.{letter}5{letter * (length - 2)}
        stream 0 |..K1{"K" * (op_end - 4)}
        """
    return blocked(analyze(timeline(drawing)))


@pytest.mark.parametrize(
    ("letter", "reason"),
    [
        ("F", "alloc_free"),
        ("A", "alloc_free"),
        ("P", "alloc_free"),
        ("U", "alloc_free"),
        ("J", "module_load"),
    ],
)
def test_a_free_that_returns_when_the_device_is_done_waited(letter: str, reason: str) -> None:
    assert may_wait(letter, 30, 30)[reason] == 30


def test_a_call_of_twenty_microseconds_is_no_wait() -> None:
    assert may_wait("F", 20, 22) == {}
    assert may_wait("F", 21, 22) != {}


def test_an_end_over_twenty_microseconds_before_the_return_is_no_evidence() -> None:
    assert may_wait("F", 40, 23) != {}
    assert may_wait("F", 40, 22) == {}


def test_a_free_beside_work_that_runs_on_did_not_wait() -> None:
    drawing = f"""
        host   1 |L1L2F3{"F" * 28}{"." * 20}
        stream 0 |..K1{"K" * 26}{"." * 20}
        stream 1 |..K2{"K" * 46}
        """
    assert blocked(analyze(timeline(drawing))) == {}


def test_a_long_first_launch_on_an_idle_device_waits_for_nothing() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
            stream 0 |.............................K
            """
        )
    )
    assert blocked(report) == {}


def full_queue(slow: int, fast: int) -> dict[str, int]:
    """Two launches in flight; then `slow` ones that return as an op ends, and `fast` ones at once."""
    host, ops, number = "L1L2", "....", 3
    for _ in range(slow):
        host += f"L{number}" + "L" * 22
        number += 1
    for _ in range(fast):
        host += f"L{number}"
        number += 1
    ops += "K1" + "K" * 20
    for each in range(2, 2 + slow):
        ops += f"K{each}" + "K" * 22
    for each in range(2 + slow, number):
        ops += f"K{each}"
    width = max(len(host), len(ops))
    return blocked(analyze(timeline(f"host   1 |{host:.<{width}}\nstream 0 |{ops:.<{width}}")))


def test_two_launches_that_return_as_an_op_ends_find_the_queue_full() -> None:
    assert full_queue(slow=2, fast=0) == {
        "implicit": 48,
        "queue_full": 48,
        "device_bound": 44,
        "return_latency": 4,
    }


def test_one_slow_launch_is_no_full_queue() -> None:
    assert full_queue(slow=1, fast=0) == {}


def test_slow_launches_among_quick_ones_of_the_same_depth_are_no_full_queue() -> None:
    assert full_queue(slow=2, fast=3) == {}


def test_an_event_record_behind_another_threads_wait_waited_for_the_lock() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSSSSSSSSSSSSSSSSSSSSSSSSS....
            host   2 |......RRRRRRRRRRRRRRRRRRRRRRRRRR..
            stream 0 |..KKKKKKKKKKKKKKKKKKKKKKKKKKK.....
            """
        )
    )
    assert blocked(report)["lock"] == 26


def test_an_event_record_beside_an_op_end_needs_five_floors() -> None:
    assert may_wait("R", 100, 100) == {}
    assert may_wait("R", 101, 100)["other"] == 101


def test_queries_are_polling_and_never_blocked() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LQQ.QQQ.QQ
            stream 0 |.KKKKKKK..
            """
        )
    )
    assert blocked(report) == {}
    values = [report.value(f"host/polling_{what}") for what in ("calls", "time", "span")]
    assert values == [3, 7 * US, 9 * US]


def test_a_host_function_launch_never_waits() -> None:
    assert may_wait("H", 30, 30) == {}


def test_nested_calls_count_once_on_the_outermost() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSSS
            host   1 |..XXXXX.
            stream 0 |..KKKK..
            """
        )
    )
    assert blocked(report)["explicit"] == 6
    assert len(report.tables["waits"].rows) == 1
    assert report.value("host/redundant_waits") == 0


def test_two_threads_that_wait_at_once_block_twice() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSS
            host   2 |...SSSS
            stream 0 |..KKKK.
            """
        )
    )
    assert report.value("host/blocked") == 9 * US
    assert report.value("host/blocked", process=1, thread=2) == 4 * US


def test_only_ops_of_its_own_process_are_waited_for() -> None:
    report = analyze(
        timeline(
            """
            process 1 host   1 |L1....
            process 2 host   1 |..S2SS
            process 1 stream 0 |..K1K.
            """
        )
    )
    assert blocked(report) == {}


def test_a_long_sync_where_records_are_missing_is_unknown() -> None:
    drawing = """
        host   1 |L1L2....{}
        stream 0 |..K1K...{}
        """
    report = analyze(timeline(drawing.format("S3" + "S" * 28, "." * 30)))
    assert report.value("host/unknown_wait") == 30 * US
    assert report.value("host/redundant_waits") == 0
    assert report.value("host/blocked") == 0


def test_the_first_call_of_a_file_may_wait_for_work_before_it() -> None:
    report = analyze(
        timeline(
            f"""
            host   1 |{"S" * 30}L.
            stream 0 |{"." * 30}.K
            """
        )
    )
    assert report.value("host/unknown_wait") == 30 * US
