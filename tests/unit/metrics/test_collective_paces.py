"""What devices that share collectives need by themselves, and what a faster straggler gains, to count."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.analyze import analyze
from overlap_lab.render.numbers import records
from overlap_lab.report import Report
from overlap_lab.schema import ABSENT_DEVICE, Api, Kind
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

US = 1_000
SLOW_HOST = """
    process 1 host 1            |L1SSSSSSSSSSL2SSSSSSSSSSL3..........
    process 2 host 2            |........L4..........L5..........L6..
    process 1 device 0 stream 0 |...N1NNNNNNN...N2NNNNNNN...N3NNNNNNN
    process 2 device 1 stream 0 |..........N4N.........N5N.........N6N
    """
BY_A_HAIR = """
    process 1 host 1            |L1.........L2.........L3.......
    process 2 host 2            |..L4..........L5..........L6...
    process 1 device 0 stream 0 |..N1NN.......N2NNN......N3NNNNN
    process 2 device 1 stream 0 |....N4..........N5..........N6N
    """
MORE_WORK = """
    process 1 host 1            |L1L2L3L4..............
    process 2 host 2            |L5L6L7L8..............
    process 1 device 0 stream 0 |..K1N2NNNNNNK3N4NNNNNN
    process 2 device 1 stream 0 |..K5KKKKKKN6K7KKKKKKN8
    """


def us(report: Report, name: str, device: int) -> float:
    value = report.value(f"collectives/{name}", device=device)
    assert value is not None
    return value / US


def all_of(report: Report, device: int) -> tuple[float, ...]:
    span, launching, work, gain = (us(report, name, device) for name in ("span", "launching", "work", "gain"))
    return span, launching, work, gain


def test_a_host_that_is_truly_slow_could_gain_what_the_others_wait() -> None:
    report = analyze(timeline(SLOW_HOST))
    # Launched at 0 and 24, blocked in [2, 12) and [14, 24); of [3, 27) it ran 18, and waited 7 + 7 of them.
    assert all_of(report, 0) == (24, 4, 4, 0)
    # Launched at 8 and 32; of [10, 34) it ran 3 + 3. The other needs 4 by itself, and waited 14.
    assert all_of(report, 1) == (24, 24, 6, 14)


def test_a_host_that_is_slower_by_a_hair_could_gain_no_more() -> None:
    report = analyze(timeline(BY_A_HAIR))
    # Launched at 0 and 22 and never blocked: it waits 3 + 5 before its last one, and needs 22 all the same.
    assert us(report, "launching", 0) == 22
    assert us(report, "waited", 0) == 2 + 3 + 4
    assert all_of(report, 1) == (24, 24, 4, 2)


def test_a_device_with_more_work_is_bound_by_it() -> None:
    report = analyze(timeline(MORE_WORK))
    # From 4 to 14 it works for 2 + 2 and waits for 6; its host had done after 4.
    assert all_of(report, 0) == (10, 4, 4, 0)
    # From 10 to 20 it works all the time.
    assert all_of(report, 1) == (10, 4, 10, 6)


def test_no_more_is_gained_than_the_others_waited() -> None:
    drawing = """
    process 1 host 1            |L1SSSSSSSSL2SSSSSSSSL3...
    process 2 host 2            |.L4SSSSSSSSL5SSSSSSSSL6..
    process 1 device 0 stream 0 |..N1NNNNNN..N2NNNNNN..N3N
    process 2 device 1 stream 0 |...N4NNNNN...N5NNNNN...N6
    """
    report = analyze(timeline(drawing))
    # All blocked for most of the time: what they need by themselves is little, yet only 1 + 1 was waited.
    assert us(report, "span", 1) - us(report, "work", 0) > 2
    assert us(report, "gain", 1) == 2


def test_a_queued_op_that_starts_late_is_the_devices_own_time() -> None:
    report = analyze(timeline(MORE_WORK.replace("N6K7KKKKKKN8", "N6..K7KKKKN8")))
    assert all_of(report, 1) == (10, 4, 10, 6)


def test_a_window_asks_for_the_collectives_that_start_in_it() -> None:
    report = analyze(timeline(SLOW_HOST), window=(0, 26 * US))
    assert all_of(report, 1) == (12, 12, 3, 7)
    early = analyze(timeline(SLOW_HOST), window=(0, 13 * US))
    assert early.measurement("collectives/gain", device=1).value is None


@pytest.mark.parametrize("name", ["span", "launching", "work", "gain"])
def test_without_launches_nothing_is_known_and_the_reason_stands_there(name: str) -> None:
    trace = timeline("\n".join(line for line in SLOW_HOST.splitlines() if "host" not in line))
    for device in (0, 1):
        found = analyze(trace).measurement(f"collectives/{name}", device=device)
        assert found.value is None
        assert found.reason == (
            "no two collectives that all devices with collectives share and whose launches are known"
        )


def test_the_straggler_is_told_with_what_it_would_gain() -> None:
    [slow] = [one for one in analyze(timeline(SLOW_HOST)).findings if one.rule == "straggler"]
    assert slow.title.endswith(
        "; were it (24.0 us by itself) as fast as the next slowest (4.00 us), at most 14.0 us of 24.0 us "
        "would be gained"
    )
    [near] = [one for one in analyze(timeline(BY_A_HAIR)).findings if one.rule == "straggler"]
    assert near.title.endswith(
        "; were it (24.0 us by itself) as fast as the next slowest (22.0 us), at most 2.00 us of 24.0 us "
        "would be gained"
    )
    assert near.evidence["needs_ns"] == 24 * US
    assert near.evidence["next_needs_ns"] == 22 * US
    assert near.evidence["next"] == 0


def test_an_op_without_a_launch_that_started_last_is_left_out() -> None:
    """Its process is another one on the same device."""
    report = analyze(
        timeline(
            """
            process 1 host 1            |L1.......L2.......L3.......
            process 2 host 2            |L4.......L5.......L6.......
            process 1 device 0 stream 0 |..N1NNNN..N2NNNN....N3NNNN.
            process 2 device 1 stream 0 |...N4NNN...N5NNN.....N6NNN.
            process 3 device 0 stream 0 |.....N0N.....N0N.......N0N.
            """
        )
    )
    assert [report.value("collectives/matched", device=device) for device in (0, 1)] == [6, 3]
    assert [us(report, "span", device) for device in (0, 1)] == [18, 18]


def test_among_a_thousand_devices_one_gains_what_it_falls_behind() -> None:
    """Each launches every 1,000 ns, one every 1,020; a collective ends 100 ns after that one started."""
    devices, rounds, slow = 1_000, 10, 345
    launch = np.tile(np.arange(rounds) * 1_000, (devices, 1))
    launch[slow] = np.arange(rounds) * 1_020 + 50
    size, device = launch.size, np.repeat(np.arange(devices), rounds)
    kinds = {"kind": [Kind.API, Kind.KERNEL], "api": [Api.LAUNCH, Api.NONE], "name": [0, 1]}
    columns = {name: np.repeat(np.array(each, np.int64), size) for name, each in kinds.items()}
    columns |= {name: np.tile(device, 2) for name in ("process", "thread")}
    columns |= {"device": np.r_[np.full(size, ABSENT_DEVICE), device], "stream": np.zeros(2 * size, np.int64)}
    columns["correlation"] = np.tile(np.arange(size) + 1, 2)
    columns["start_ns"] = np.r_[launch.ravel(), launch.ravel() + 5]
    columns["end_ns"] = np.r_[launch.ravel() + 5, np.tile(launch[slow] + 105, devices)]
    names = ("hipLaunchKernel", "ncclDevKernel_AllReduce")
    table = analyze(Trace.from_columns(columns, names=names, source=Source())).tables["collectives"]
    gains = {row["device"]: row["gain"] for row in records(table)}
    assert gains == {**dict.fromkeys(range(devices), 0), slow: 9 * 20}
