from __future__ import annotations

from overlap_lab.trace import columns_of
from tests.reference.calculator import calculate, key
from tests.reference.collective_paces import PACE_TAGS
from tests.reference.collectives import TAGS as COLLECTIVE_TAGS
from tests.reference.random_traces import random_trace
from tests.timeline import timeline


def us(values: dict, tag: str, **scope: int) -> float:
    return values[key(tag, **scope)] / 1_000


def test_a_wait_between_two_kernels_drains_the_device_once() -> None:
    values = calculate(
        timeline(
            """
            host   1 |LL.SSSSSSSS..LL..SSSSSSS
            stream 0 |..KKKKKKK......KKKKKKK..
            """
        )
    )
    assert us(values, "host/blocked") == 8 + 7
    assert us(values, "host/blocked/device_bound") == 6 + 5
    assert us(values, "device/busy") == 14
    assert us(values, "device/idle/drain") == 6
    assert us(values, "drain/idle/return") == 2
    assert us(values, "drain/idle/refill") == 2
    assert us(values, "drain/idle/launch") == 2
    assert (values[key("drain/count")], values[key("drain/terminal")]) == (1, 1)
    assert values[key("overlap/ratio")] == (1 + 2 + 5) / 14
    assert values[key("overlap/ratio_literal")] == (1 + 2) / 14


def test_a_late_host_leaves_a_gap_that_no_wait_made() -> None:
    values = calculate(
        timeline(
            """
            host   1 |LL.......LL...
            stream 0 |..KKK......KK.
            """
        )
    )
    assert us(values, "device/idle/host_late") == 4
    assert us(values, "device/idle/launch") == 2
    assert us(values, "device/idle") == 6


def test_a_synchronize_on_an_empty_device_is_redundant() -> None:
    values = calculate(
        timeline(
            """
            host   1 |LL......SSS.
            stream 0 |..KKK.......
            """
        )
    )
    assert us(values, "host/blocked") == 0
    assert values[key("host/redundant_waits")] == 1
    assert values[key("drain/terminal")] == 0


def test_a_stream_may_drain_while_the_device_stays_busy() -> None:
    values = calculate(
        timeline(
            """
            host   1 |L1L2..TTTTTTTTTTT....L3.........
            stream 0 |....K1KKKKK............K3KK.....
            stream 1 |.....K2KKKKKKKKKKKKKKKKKKKKKKKKK
            """
        )
    )
    assert values[key("drain/count")] == 0
    assert values[key("stream/drain/count", device=0, stream=0)] == 1
    assert us(values, "stream/drain/idle", device=0, stream=0) == 12
    assert values[key("stream/drain/count", device=0, stream=1)] == 0


def test_every_random_trace_is_the_same_for_the_same_seed() -> None:
    for seed in range(20):
        one, two = columns_of(random_trace(seed)), columns_of(random_trace(seed))
        assert all((one[name] == two[name]).all() for name in one)


def test_idle_is_the_sum_of_its_causes() -> None:
    for seed in range(200):
        values = calculate(random_trace(seed))
        for (tag, scope), idle in values.items():
            if tag == "device/idle":
                causes = [v for (t, s), v in values.items() if t.startswith("device/idle/") and s == scope]
                assert sum(causes) == idle


def test_blocked_is_the_sum_of_each_of_its_splits() -> None:
    for seed in range(200):
        values = calculate(random_trace(seed))
        for (tag, scope), blocked in values.items():
            if tag == "host/blocked":
                part = {t: v for (t, s), v in values.items() if t.startswith("host/blocked/") and s == scope}
                names = ("explicit", "implicit"), ("device_bound", "return_latency")
                for split in names:
                    assert sum(part.pop(f"host/blocked/{name}") for name in split) == blocked
                assert sum(part.values()) == blocked


def test_the_random_traces_reach_every_kind_of_wait_and_every_cause() -> None:
    reached = {tag for seed in range(1_000) for (tag, _), v in calculate(random_trace(seed)).items() if v}
    every = {tag for tag, _ in calculate(random_trace(0))}
    quiet = {"quality/" + fault for fault in QUIET_FAULTS} | {*COLLECTIVE_TAGS, *PACE_TAGS}
    assert every - reached <= quiet


QUIET_FAULTS = (
    "inverted",
    "negative_duration",
    "no_device_records",
    "no_host_records",
    "no_stream",
    "rows_repaired",
    "truncated",
    "zero_duration",
)
