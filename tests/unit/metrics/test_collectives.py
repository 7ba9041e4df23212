"""Time in collectives and waits in them: drawn traces to count, and what holds for every trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlap_lab.analyze import analyze
from overlap_lab.loaders import load
from overlap_lab.metrics.catalog import COLLECTIVE_TAGS
from overlap_lab.render.numbers import records
from overlap_lab.report import Report
from overlap_lab.schema import Kind
from overlap_lab.trace import Source, Trace, columns_of
from tests.reference.collectives import collective_trace
from tests.timeline import timeline

SAMPLE = Path(__file__).parents[4] / "shared/samples/kineto_amd/hpctraining_merged_all_events.json.gz"
NEEDS_SAMPLES = pytest.mark.skipif(not SAMPLE.is_file(), reason="no real captures beside the repository")
US = 1_000
STRAGGLER = """
    device 0 stream 0 |K0K.....K0K.......K0K............
    device 0 stream 1 |..N0NNNNNN..N0NNNNNN..N0NNNNNN...
    device 1 stream 1 |.......N0N.......N0N.......N0N...
    device 2 stream 1 |....N0NNNN....N0NNNN....N0NNNN...
    """


def us(report: Report, name: str, device: int) -> float:
    return (report.value(f"collectives/{name}", device=device) or 0) / US


def test_each_waits_until_the_last_one_starts() -> None:
    report = analyze(timeline(STRAGGLER))
    assert [us(report, "time", d) for d in (0, 1, 2)] == [24, 9, 18]
    assert [us(report, "waited", d) for d in (0, 1, 2)] == [15, 0, 9]
    assert [report.value("collectives/last", device=d) for d in (0, 1, 2)] == [0, 3, 0]
    assert [report.value("collectives/matched", device=d) for d in (0, 1, 2)] == [3, 3, 3]


def test_what_another_op_covers_is_not_exposed() -> None:
    report = analyze(timeline(STRAGGLER))
    assert us(report, "exposed", 0) == 24 - 1 - 2 - 2  # of the kernels [0, 3), [8, 11) and [18, 21)
    assert us(report, "waited/exposed", 0) == 15 - 1
    assert us(report, "awaited", 1) == 14 + 9


def test_the_straggler_is_named_with_those_who_wait_for_it() -> None:
    [finding] = [one for one in analyze(timeline(STRAGGLER)).findings if one.rule == "straggler"]
    assert finding.title == (
        "device 1 started last in 3 of 3 collectives: 2 devices waited 23.0 us for it and did nothing else"
    )
    assert finding.scope == {"device": 1}


def test_the_verdict_begins_with_waits_that_cost_more_than_any_idle_time() -> None:
    drawing = """
    host 1            |L0L........................
    device 0 stream 0 |..N0NNNNNN0NNNNNN0NNNNN....
    device 1 stream 0 |..K0KKN0NK0KKN0NK0KKN0N....
    """
    said = "device 1 started last in 3 of 3 collectives: another device waited 12.0 us for it "
    assert analyze(timeline(drawing)).verdict.startswith(said)
    idle = drawing.replace("N0N....", "N0N....................K0K")
    assert not analyze(timeline(idle)).verdict.startswith(said)
    assert "straggler" in {one.rule for one in analyze(timeline(idle)).findings}


@pytest.mark.parametrize(
    "drawing",
    [
        """
        device 0 stream 0 |N0NNN...N0N.N0NNN...N0N
        device 1 stream 0 |..N0N.N0NNN...N0N.N0NNN
        """,
        """
        device 0 stream 0 |N0NNNN.N0NNNN
        device 1 stream 0 |...N0N....N0N
        """,
    ],
    ids=["in turns", "two only"],
)
def test_no_straggler_is_named_where_none_is_clear(drawing: str) -> None:
    rules = {one.rule for one in analyze(timeline(drawing)).findings}
    assert "straggler" not in rules
    assert {"collectives", "collective_waits"} <= rules


@pytest.mark.parametrize("instants", ["N0", "N0.........N0"], ids=["no window", "no length"])
def test_collectives_in_which_nobody_waits_have_no_word_of_waits(instants: str) -> None:
    trace = timeline(f"device 0 stream 0 |{instants}\ndevice 1 stream 0 |{instants}")
    report = analyze(trace.replace(end_ns=trace.start_ns))
    assert [one.rule for one in report.findings[1:]] == ["collectives"]


def test_one_device_that_waits_is_told_as_one() -> None:
    report = analyze(timeline("device 0 stream 0 |N0NNNN\ndevice 1 stream 0 |..N0NN"))
    [waits] = [one for one in report.findings if one.rule == "collective_waits"]
    assert waits.title.startswith("one device waited 2.00 us for others in collectives, ")


def test_a_window_without_collectives_says_nothing_of_them() -> None:
    report = analyze(timeline(STRAGGLER), window=(40 * US, 48 * US))
    assert {one.rule for one in report.findings} & {"collectives", "collective_waits", "straggler"} == set()


def test_small_waits_are_not_worth_a_word() -> None:
    trace = timeline(
        f"""
        device 0 stream 0 |N0N.N0NN.N0NN.{"K0" + "K" * 300}
        device 1 stream 0 |.N0..N0N..N0N.{"K0" + "K" * 300}
        """
    )
    assert {one.rule for one in analyze(trace).findings} & {"straggler", "collective_waits"} == set()


def test_another_clock_gives_no_waits_and_says_so() -> None:
    report = analyze(
        timeline(
            """
            device 0 stream 0 |N0NNNN.N0NNNN................
            device 1 stream 0 |...............N0NNNN.N0NNNN.
            """
        )
    )
    for device in (0, 1):
        waited = report.measurement("collectives/waited", device=device)
        assert waited.value is None
        assert "another clock" in str(waited.reason)
        assert us(report, "time", device) == 12


def test_a_clock_that_is_early_bounds_the_waits_of_all_devices() -> None:
    """Device 0 starts 2 us before its launch: device 1 came by as much less late, each of three times."""
    report = analyze(
        timeline(
            """
            host 1                      |....L1L2L3.............................
            process 2 host 2            |L4L5L6.................................
            device 0 stream 0           |..N1NNNNNNNNNN.N2NNNNNNNNN.N3NNNNNNNN..
            process 2 device 1 stream 0 |.......N4NNNNN.......N5NNN......N6NNN..
            """
        )
    )
    waited = report.measurement("collectives/waited", device=0)
    awaited = report.measurement("collectives/awaited", device=1)
    for one in (waited, awaited):
        assert (one.value, one.low, one.high) == (16 * US, 10 * US, 10 * US)
    assert report.measurement("collectives/time", device=1).low is None


def test_the_ranks_of_two_files_on_one_clock_are_matched() -> None:
    report = analyze(
        timeline(
            """
            part 0 process 10 device 0 stream 0 |N0NNNN..N0NNNN
            part 1 process 11 device 1 stream 0 |...N0N.....N0N
            """
        )
    )
    assert [us(report, "waited", d) for d in (0, 1)] == [6, 0]


def test_a_rank_alone_has_its_exposed_time_and_a_reason() -> None:
    report = analyze(
        timeline(
            """
            device 0 stream 0 |K0KKK.....
            device 0 stream 1 |..N0NNNN..
            """
        )
    )
    assert report.value("collectives/exposed") == 3 * US  # [5, 8) of [2, 8)
    assert report.measurement("collectives/waited").reason == "no other device of the trace runs collectives"


def test_a_lost_record_leaves_the_others_matched() -> None:
    report = analyze(
        timeline(
            """
            device 0 stream 0 |N0NNN.N0NNN.N0NNN.N0NNN
            device 1 stream 0 |..N0N...N0N.........N0N
            """
        )
    )
    assert [report.value("collectives/matched", device=d) for d in (0, 1)] == [3, 3]
    assert [report.value("collectives/count", device=d) for d in (0, 1)] == [4, 3]
    assert us(report, "waited", 0) == 6


def test_a_root_that_ended_before_the_last_one_came_did_not_wait() -> None:
    report = analyze(
        timeline(
            """
            device 0 stream 0 |N0........N0NNNN..N0NNNN
            device 1 stream 0 |...N0NN......N0N.....N0N
            device 2 stream 0 |.....N0.....N0NN....N0NN
            """
        )
    )
    assert [us(report, "waited", d) for d in (0, 1, 2)] == [0 + 3 + 3, 2, 1 + 1]


def test_two_pairs_of_devices_do_not_wait_for_each_other() -> None:
    report = analyze(
        timeline(
            """
            device 0 stream 0 |N0NN...........N0NN.....
            device 1 stream 0 |.N0N............N0N.....
            device 2 stream 0 |.......N0NNN.........N0N
            device 3 stream 0 |..........N0..........N0
            """
        )
    )
    assert [report.value("collectives/matched", device=d) for d in range(4)] == [2, 2, 2, 2]
    assert [us(report, "waited", d) for d in range(4)] == [2, 0, 3 + 1, 0]


def test_pairs_of_devices_whose_captures_began_one_after_the_other_are_all_matched() -> None:
    """Four pairs, and no two streams of a pair with as many ops."""
    rows = [
        (device, 100 * at + 20 * pair + (6 if device % 2 == 0 else 12), 100 * at + 20 * pair + 15)
        for pair in range(4)
        for device in (2 * pair, 2 * pair + 1)
        for at in range(device % 2, 10)
    ]
    device, start, end = (np.array(column) for column in zip(*rows, strict=True))
    columns = {"kind": np.full(len(rows), Kind.KERNEL), "name": np.zeros(len(rows)), "device": device}
    columns |= {"stream": np.zeros(len(rows)), "start_ns": start * US, "end_ns": end * US, "process": device}
    report = analyze(Trace.from_columns(columns, names=("ncclDevKernel_AllReduce",), source=Source()))
    assert [report.value("collectives/matched", device=d) for d in range(8)] == [9] * 8
    assert [us(report, "waited", d) for d in range(8)] == [9 * 6, 0] * 4


def test_a_window_clips_time_and_waits() -> None:
    report = analyze(timeline(STRAGGLER), window=(4 * US, 14 * US))
    assert us(report, "time", 0) == 6 + 2
    assert us(report, "waited", 0) == 3 + 2
    assert report.value("collectives/count", device=0) == 2


def test_a_trace_without_collectives_has_each_tag_once_null_with_a_reason() -> None:
    report = analyze(timeline("stream 0 |K0KK"))
    found = [one for one in report.measurements if one.tag.startswith("collectives/")]
    assert [one.tag for one in found] == list(COLLECTIVE_TAGS)
    assert {(one.value, one.reason) for one in found} == {
        (None, "no device operation is a collective by its name")
    }
    assert not report.tables["collectives"].rows


def test_the_table_has_the_numbers_of_the_measures() -> None:
    report = analyze(timeline(STRAGGLER))
    rows = records(report.tables["collectives"])
    assert [row["device"] for row in rows] == [0, 1, 2]
    for row in rows:
        for name, cell in row.items():
            if name != "device":
                tag = f"collectives/{name.replace('_', '/')}"
                assert cell == report.value(tag, device=int(row["device"] or 0)), name
    assert list(report.tables["collectives"].to_pandas()["last"]) == [0, 3, 0]


TRACES = st.builds(collective_trace, st.integers(0, 1 << 30))


OPS = st.tuples(
    st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 60), st.integers(-1, 20)
)


def scattered(ops: list[tuple[int, int, int, int, int]]) -> Trace:
    """Ops that no machine ran: on one stream at once, without a length, some ending before they start."""
    name, device, stream, start, length = (np.array(column) for column in zip(*ops, strict=True))
    columns = {"name": name, "device": device, "stream": stream, "process": device // 2, "part": device // 2}
    columns |= {
        "start_ns": start * US,
        "end_ns": (start + length) * US,
        "kind": np.full(len(ops), Kind.KERNEL),
    }
    return Trace.from_columns(columns, names=("ncclKernel_A", "ncclKernel_B", "kernel"), source=Source())


@settings(deadline=None, max_examples=100)
@given(st.one_of(TRACES, st.builds(scattered, st.lists(OPS, min_size=1, max_size=30))))
def test_parts_are_never_more_than_the_whole(trace: Trace) -> None:
    rows = records(analyze(trace).tables["collectives"])
    for row in rows:
        numbers = {name: int(cell or 0) for name, cell in row.items()}
        assert 0 <= numbers["last"] <= numbers["matched"] <= numbers["count"]
        assert 0 <= numbers["waited_exposed"] <= numbers["waited"] <= numbers["time"]
        assert numbers["waited_exposed"] <= numbers["exposed"] <= numbers["time"]
    exposed, awaited = (sum(int(row[name] or 0) for row in rows) for name in ("waited_exposed", "awaited"))
    assert exposed == awaited


@settings(deadline=None, max_examples=40)
@given(TRACES, st.integers(-(1 << 50), 1 << 50))
def test_a_shift_of_the_clock_changes_nothing(trace: Trace, shift: int) -> None:
    columns = columns_of(trace)
    moved = {name: columns[name] + shift for name in ("start_ns", "end_ns")}
    later = Trace.from_columns(columns | moved, names=trace.names, source=trace.source)
    assert analyze(later).tables["collectives"].rows == analyze(trace).tables["collectives"].rows


@settings(deadline=None, max_examples=40)
@given(TRACES)
def test_other_measures_do_not_ask_which_kernels_are_collectives(trace: Trace) -> None:
    names = tuple(name.replace("nccl", "other") for name in trace.names)
    one, other = (
        {(m.tag, tuple(m.scope.items())): m.value for m in analyze(each).measurements}
        for each in (trace, trace.replace(names=names))
    )
    assert {k: v for k, v in one.items() if not k[0].startswith("collectives/")} == {
        k: v for k, v in other.items() if not k[0].startswith("collectives/")
    }


def test_the_ops_of_thousands_of_devices_are_matched() -> None:
    devices, collectives = 3_000, 40
    start = np.arange(collectives)[None, :] * 1_000 + np.arange(devices)[:, None] % 7
    size = start.size
    columns = {
        "kind": np.full(size, Kind.KERNEL),
        "name": np.zeros(size, np.int32),
        "device": np.repeat(np.arange(devices), collectives),
        "stream": np.zeros(size, np.int64),
        "start_ns": start.ravel(),
        "end_ns": np.tile(np.arange(collectives) * 1_000 + 100, devices),
        "process": np.repeat(np.arange(devices), collectives),
    }
    trace = Trace.from_columns(columns, names=("ncclDevKernel_AllReduce",), source=Source())
    rows = records(analyze(trace).tables["collectives"])
    assert {(row["matched"], row["waited"]) for row in rows} == {
        (collectives, collectives * (6 - residue)) for residue in range(7)
    }


@NEEDS_SAMPLES
def test_the_slow_rank_of_a_real_run_is_named() -> None:
    report = analyze(load(SAMPLE))
    rows = records(report.tables["collectives"])
    assert [(row["device"], row["count"], row["last"]) for row in rows] == [
        (2, 21, 0),
        (3, 21, 0),
        (4, 21, 0),
        (5, 21, 21),
    ]
    assert [row["time"] for row in rows] == [64_471_378, 46_984_875, 49_845_198, 3_591_089]
    assert [row["exposed"] for row in rows] == [40_158_059, 36_561_001, 39_009_961, 3_198_986]
    [finding] = [one for one in report.findings if one.rule == "straggler"]
    assert finding.title.startswith("device 5 started last in 21 of 21 collectives: 3 devices waited 109 ms")
    assert [row["launching"] for row in rows] == [106_664_096, 126_818_328, 125_603_377, 129_497_786]
    assert [row["gain"] for row in rows] == [0, 0, 0, 3_454_709]  # not the 109 ms: the others are slow, too
