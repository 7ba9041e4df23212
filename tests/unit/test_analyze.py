"""The whole report: every tag with its scopes, its tables and its verdict."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from overlap_lab.analyze import analyze
from overlap_lab.errors import UsageError
from overlap_lab.metrics.catalog import COLLECTIVE_TAGS, DEVICE_TAGS, HOST_TAGS, QUALITY_TAGS, STREAM_TAGS
from overlap_lab.render.numbers import records
from overlap_lab.render.verdict import device_lines
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, Kind
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import steps_of
from tests.unit.test_link import kernel, launch, rows

ALL_TAGS = {*HOST_TAGS, *DEVICE_TAGS, *COLLECTIVE_TAGS, *STREAM_TAGS, *QUALITY_TAGS}
SYNCED = """
    host   1 |L.SSSSSS.L.SSSSS
    stream 0 |..KKKKK....KKK..
    """
TWO_DEVICES = """
    host   1          |L1L2SSSS.
    device 0 stream 0 |..K1K....
    device 1 stream 0 |....K2KK.
    """


def test_steps_are_those_of_the_window_and_end_where_it_ends() -> None:
    trace = steps_of([10, 10, 10])
    whole, clipped = (
        records(analyze(trace, window=window, steps=True).tables["steps"])
        for window in (None, (4_000, 15_000))
    )
    assert [row["window"] for row in whole] == [10_000] * 3
    assert [(row["step"], row["start"], row["end"], row["busy"]) for row in clipped] == [
        ("step #0", 4_000, 10_000, 4_000),
        ("step #1", 10_000, 15_000, 4_000),
    ]


@pytest.mark.parametrize(
    ("window", "ops", "busy", "calls"),
    [
        (None, 2, 8_000, 4),
        ((8_000, 10_000), 0, 0, 1),
        ((6_000, 12_000), 2, 2_000, 3),
        ((0, 3_000), 1, 1_000, 2),
    ],
)
def test_counts_and_times_of_a_table_are_of_the_same_window(
    window: tuple[int, int] | None, ops: int, busy: int, calls: int
) -> None:
    tables = analyze(timeline(SYNCED), window=window).tables
    for name in ("devices", "streams"):
        [row] = records(tables[name])
        assert (row["ops"], row["busy"]) == (ops, busy), name
    [thread] = records(tables["threads"])
    assert thread["calls"] == calls


@pytest.mark.parametrize(
    "trace",
    [
        timeline(SYNCED),
        timeline(TWO_DEVICES),
        rows(launch(0, 1)),
        rows(kernel(0, 1)),
        Trace.from_columns({}, names=(), source=Source()),
    ],
    ids=["synced", "two devices", "host only", "device only", "empty"],
)
def test_every_tag_is_always_present_and_a_null_says_why(trace: Trace) -> None:
    report = analyze(trace)
    assert {m.tag for m in report.measurements} == ALL_TAGS
    assert all(m.reason for m in report.measurements if m.value is None)
    assert len({(m.tag, tuple(sorted(m.scope.items()))) for m in report.measurements}) == len(
        report.measurements
    )


def test_one_device_is_also_the_whole_and_two_are_not() -> None:
    scopes = [dict(m.scope) for m in analyze(timeline(SYNCED)).by_tag("device/busy")]
    assert scopes == [{"device": 0}, {}]
    scopes = [dict(m.scope) for m in analyze(timeline(TWO_DEVICES)).by_tag("device/busy")]
    assert scopes == [{"device": 0}, {"device": 1}]


def test_host_tags_come_for_the_whole_each_process_and_each_thread() -> None:
    scopes = [dict(m.scope) for m in analyze(timeline(SYNCED)).by_tag("host/blocked")]
    assert scopes == [{}, {"process": 1}, {"process": 1, "thread": 1}]


def test_a_device_only_trace_keeps_busy_and_says_what_it_cannot_tell() -> None:
    report = analyze(rows(kernel(0, 1), kernel(30, 2)))
    assert (report.value("device/busy"), report.value("device/idle")) == (20, 20)
    for tag in ("host/blocked", "drain/count", "overlap/ratio", "device/idle/host_late", "run_ahead/min"):
        assert report.measurement(tag).reason == "the trace has no host records"


def test_the_verdict_says_what_blocks_how_often_and_what_it_costs() -> None:
    report = analyze(timeline(SYNCED))
    assert report.findings[0].title == (
        "hipDeviceSynchronize blocked the host 2 times for 11.0 us (5.00 us of it in 1 final wait) "
        "and drained device 0 once (4.00 us idle)"
    )


def test_the_verdict_says_how_many_drains_there_are_beside_those_of_its_call() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSS....L.TTTTT.L.SSSS
            stream 0 |.KKKKKK.....KKKKKK..KKKK.
            """
        )
    )
    assert report.findings[0].title == (
        "hipDeviceSynchronize blocked the host 2 times for 9.00 us (4.00 us of it in 1 final wait) "
        "and drained device 0 once of 2 drains (5.00 us idle)"
    )
    assert device_lines(report)[0].text == (
        "device 0 idle 7.00 us, 30.4 % of its 23.0 us window: "
        "drain 7.00 us (return 0 ns, refill by the host 5.00 us, launch 2.00 us); overlap 0.375"
    )


def test_the_verdict_of_an_async_run_is_that_nothing_blocks() -> None:
    report = analyze(
        timeline(
            """
            host   1 |LlL.SSSSSS
            stream 0 |..KKkkKKK.
            """
        )
    )
    assert report.findings[0].title == (
        "nothing blocks: the host waits only at the end (6.00 us) and drains no device"
    )


def test_the_verdict_begins_with_a_cause_that_costs_more_than_the_waits() -> None:
    late = analyze(
        timeline(
            """
            host   1 |L..........L.SSSSS..L
            stream 0 |.KK.........KKKKK....K
            """
        )
    )
    assert late.verdict == (
        "device 0 was idle for 8.00 us (38.1 % of the window) because the host launched late; "
        "hipDeviceSynchronize blocked the host once for 5.00 us and drained device 0 once (4.00 us idle)"
    )
    assert late.findings[0].severity == "warning"
    assert late.findings[0].evidence["idle_ns"] == 4_000


def test_a_cause_below_five_per_cent_of_the_window_is_not_in_the_verdict() -> None:
    late = timeline("host 1   |L.L.SSS\nstream 0 |.K.KKK.")
    assert analyze(late).verdict.startswith("device 0 was idle for 1.00 us (20.0 % of the window) because ")
    long = timeline(f"host 1   |L.L.{'S' * 60}\nstream 0 |.K.{'K' * 60}.")
    assert analyze(long).verdict.startswith("nothing blocks")


def test_the_verdict_of_several_devices_says_what_each_has_on_average() -> None:
    drawing = """
        host   1           |L.....L......
        device 1 stream 0  |.KK....KKKK..
        host   2           |L.....L......
        device 2 stream 0  |.KK....KKKK..
        """
    verdict = analyze(timeline(drawing)).verdict
    assert verdict.startswith("2 devices were idle for 3.00 us on average (30.0 % of the window) because ")


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        (
            "host 1   |L1.....L2.....\nstream 0 |..K1.....K2KKK",
            "the device was idle for 3.00 us (25.0 % ",
        ),
        ("host 1   |L1SSSSSL2.....\nstream 0 |..K1KK...K2KKK", "drained the device "),
    ],
    ids=["late", "drained"],
)
def test_a_device_without_a_number_has_none_in_the_findings(drawing: str, said: str) -> None:
    trace = timeline(drawing)
    trace = trace.replace(device=np.full(len(trace), ABSENT_DEVICE, np.int16))
    report = analyze(trace)
    assert said in report.verdict
    assert not [one for one in report.findings if str(-ABSENT_DEVICE) in one.title or one.scope]


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        analyze(timeline(SYNCED), window=(5, 5))


def test_steps_are_windows_of_a_repeated_numbered_range() -> None:
    trace = timeline(
        """
        host   1 |OOOOOOOOOOOOOOOO
        host   1 |L.SSSSSS.L.SSSSS
        stream 0 |..KKKKK....KKK..
        """
    )
    named = trace.replace(names=tuple("ProfilerStep#3" if n == "range" else n for n in trace.names))
    [row] = analyze(named, steps=True).tables["steps"].to_pandas().to_dict("records")
    assert (row["step"], row["window"], row["busy"], row["idle"]) == ("ProfilerStep#3", 16_000, 8_000, 8_000)
    assert "steps" not in analyze(named).tables


def test_steps_that_an_old_profiler_filed_among_the_operators_are_steps() -> None:
    trace = timeline(
        """
        host   1 |IIIIIIIIIIIIIIII
        host   1 |L.SSSSSS.L.SSSSS
        stream 0 |..KKKKK....KKK..
        """
    )
    named = trace.replace(names=tuple("ProfilerStep#5" if n == "aten::op" else n for n in trace.names))
    assert [row["step"] for row in records(analyze(named, steps=True).tables["steps"])] == ["ProfilerStep#5"]
    assert not records(analyze(trace, steps=True).tables["steps"])  # an operator like others is none


def test_a_step_is_one_of_the_devices_that_its_process_feeds() -> None:
    trace = timeline(
        """
        process 1 host 1            |OOOOOOOOOOOOOOOO
        process 1 host 1            |L.SSSSSS........
        process 1 device 0 stream 0 |..KKKKK.........
        process 2 host 2            |OOOOOOOOOOOOOOOO
        process 2 host 2            |L.SSSSSSSSS.....
        process 2 device 1 stream 0 |..KKKKKKKK......
        """
    )
    named = trace.replace(names=tuple("ProfilerStep#3" if n == "range" else n for n in trace.names))
    table = records(analyze(named, steps=True).tables["steps"])
    assert [(row["device"], row["busy"]) for row in table] == [(0, 5_000), (1, 8_000)]


def test_rows_of_every_table_fit_their_columns() -> None:
    for table in analyze(timeline(TWO_DEVICES), steps=True).tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_source_names_windows_and_thresholds() -> None:
    source = analyze(timeline(SYNCED)).source
    assert source["device_windows"] == {"0": [2_000, 14_000]}
    assert source["settings"] == {
        "floor_ns": 20_000,
        "floor_ns_by_name": {},
        "nearness_ns": 20_000,
        "slack_ns": 10_000,
    }


def test_a_drain_past_the_window_is_in_neither_the_count_nor_the_table() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSSS..L.SSSSSS....L.SSSSSS
        stream 0 |..KKKKK.....KKKKK.......KKKKK.
        """
    )
    report = analyze(trace, window=(0, 17_000))
    drained = [row for row in report.tables["waits"].to_pandas()["drained"] if row]
    assert report.value("drain/count") == len(drained) == 1


def test_two_drains_are_told_apart_from_the_device_number() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L.SSSSSS..L.SSSSSS....L.SSSSSS
            stream 0 |..KKKKK.....KKKKK.......KKKKK.
            """
        )
    )
    assert "drained device 0, 2 times" in report.findings[0].title


def test_waits_in_a_range_and_outside_of_ranges_are_not_two_ranges() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSSS......L.SSSSSS..L.SSSSSS
        host   1 |.OOOOOOOOO......................
        stream 0 |..KKKKK.........KKKKK.....KKKKKK
        """
    )
    title = analyze(trace).findings[0].title
    assert title.endswith("drained device 0, 2 times (14.0 us idle), in range and outside of ranges")


def test_one_call_around_ten_thousand_others_costs_no_more_than_they_do() -> None:
    """With a pair for each call and op under the same outer call, this needs 10^8 of them: gigabytes."""
    size = 10_000
    start = np.arange(size) * 100
    columns = {
        "kind": np.r_[np.full(size + 1, Kind.API), np.full(size, Kind.KERNEL)],
        "api": np.r_[np.full(size + 1, Api.LAUNCH), np.zeros(size, np.int64)],
        "start_ns": np.r_[0, start + 10, start + 30],
        "end_ns": np.r_[size * 100, start + 20, start + 80],
        "process": np.full(2 * size + 1, 1),
        "thread": np.r_[np.full(size + 1, 1), np.full(size, ABSENT)],
        "correlation": np.r_[0, np.arange(size) + 1, np.arange(size) + 1],
        "stream": np.r_[np.full(size + 1, ABSENT), np.full(size, 7)],
    }
    trace = Trace.from_columns(columns, names=(), source=Source())
    tracemalloc.start()
    report = analyze(trace)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.value("device/busy") == size * 50
    assert peak < 200 * len(trace) * 8
