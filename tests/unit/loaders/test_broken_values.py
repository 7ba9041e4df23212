"""What is wrong with a run is counted alike in every format that it can be written in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders import load
from overlap_lab.report import Report
from tests.unit.loaders.five_formats import WRITERS, Call, Kernel, Row, write

US = 1_000
LAST = 2**64 - 1


def launch(at_us: int, link: int) -> Call:
    return Call("LaunchKernel", at_us * US, (at_us + 5) * US, link)


def wait(start_us: int, end_us: int, link: int = 3) -> Call:
    return Call("DeviceSynchronize", start_us * US, end_us * US, link)


def kernel(start_us: int, end_us: int, link: int, *, name: str = "k(int)", stream: int | None = 7) -> Kernel:
    return Kernel(start_us * US, end_us * US, link, name, stream)


CALLS = (launch(0, 1), launch(6, 2), wait(12, 300))
FIRST = kernel(10, 40, 1)
SOUND = (*CALLS, FIRST, kernel(40, 90, 2))
HOSTILE = "'; DROP TABLE x; --\" <script>alert(1)</script> & \\ %s {0} \x1b[2J \u202e λ"

# What is wrong: rows, device/busy in us, faults.
BROKEN: dict[str, tuple[tuple[Row, ...], int | None, dict[str, int]]] = {
    "nothing": (SOUND, 80, {}),
    "rows out of order": (SOUND[::-1], 80, {}),
    "a negative duration": ((*CALLS, FIRST, kernel(40, 30, 2)), 30, {"negative_duration": 1}),
    "a zero duration": ((*CALLS, FIRST, kernel(40, 40, 2)), 30, {"zero_duration": 1}),
    "an end of 0": ((*CALLS, FIRST, kernel(40, 0, 2)), 30, {"negative_duration": 1}),
    "id 0": (
        (launch(0, 0), *CALLS[1:], kernel(10, 40, 0), kernel(40, 90, 2)),
        80,
        {"unlinked_ops": 1, "launches_without_op": 1},
    ),
    "the largest id": (
        (launch(0, LAST), *CALLS[1:], kernel(10, 40, LAST), kernel(40, 90, 2)),
        80,
        {"unlinked_ops": 1, "launches_without_op": 1},
    ),
    "an id used twice": (
        (launch(0, 1), launch(50, 1), wait(62, 150), FIRST, kernel(60, 90, 1)),
        60,
        {"id_reused": 1},
    ),
    "no stream": ((*CALLS, FIRST, kernel(40, 90, 2, stream=None)), 80, {"no_stream": 1}),
    "a lost op": ((*CALLS, FIRST), 30, {"launches_without_op": 1}),
    "a lost call": ((launch(0, 1), wait(12, 300), FIRST, kernel(40, 90, 2)), 80, {"unlinked_ops": 1}),
    "ops of a stream that overlap": (
        (*CALLS, kernel(10, 110, 1), kernel(90, 200, 2)),
        190,
        {"stream_overlap": 1},
    ),
    "ops of a stream that overlap by far": (
        (*CALLS, kernel(10, 150, 1), kernel(90, 200, 2)),
        190,
        {"clipped": 1},
    ),
    "an op before its launch": ((launch(20, 1), wait(30, 100), FIRST), 30, {"inverted": 1}),
    "no device": (CALLS, None, {"launches_without_op": 2, "no_device_records": 1}),
    "no host": ((FIRST, kernel(40, 90, 2)), 80, {"unlinked_ops": 2, "no_host_records": 1}),
}


@pytest.fixture(params=WRITERS)
def format_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def faults(report: Report) -> dict[str, int]:
    found = [each for each in report.measurements if each.tag.startswith("quality/") and each.value]
    return {each.tag.removeprefix("quality/"): int(each.value or 0) for each in found}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=list(BROKEN))
def test_what_is_wrong_is_counted(
    format_name: str, broken: tuple[tuple[Row, ...], int | None, dict[str, int]], tmp_path: Path
) -> None:
    rows, busy_us, expected = broken
    trace = load(write(format_name, tmp_path, rows))
    report = analyze(trace)
    assert trace.source.format == format_name
    assert report.value("device/busy") == (None if busy_us is None else busy_us * US)
    assert faults(report) == expected


@pytest.mark.parametrize("format_name", ["kineto", "rocprofv3-csv", "rocprofv3-json"])
@pytest.mark.parametrize(("start", "end"), [(40 * US, LAST), (LAST - 5 * US, 40 * US)], ids=["end", "start"])
def test_a_time_that_wrapped_around_in_text_costs_its_row(
    format_name: str, start: int, end: int, tmp_path: Path
) -> None:
    report = analyze(load(write(format_name, tmp_path, (*CALLS, FIRST, Kernel(start, end, 2)))))
    assert report.value("device/busy") == 30 * US
    assert faults(report) == {"rows_skipped": 1, "launches_without_op": 1}


@pytest.mark.parametrize("format_name", ["rocpd", "nsys"])
def test_a_time_that_wrapped_around_in_a_database_lies_before_zero(format_name: str, tmp_path: Path) -> None:
    late = analyze(load(write(format_name, tmp_path, (*CALLS, FIRST, Kernel(40 * US, LAST, 2)))))
    assert (late.value("device/busy"), faults(late)) == (30 * US, {"negative_duration": 1})
    (tmp_path / "early").mkdir()
    rows = (*CALLS, FIRST, Kernel(LAST - 5 * US + 1, 20 * US, 2))
    early = analyze(load(write(format_name, tmp_path / "early", rows)))
    assert (early.value("device/busy"), faults(early)) == (45 * US, {"inverted": 1, "stream_overlap": 1})


def test_an_early_device_clock_gets_the_interval_that_restores_causality(
    format_name: str, tmp_path: Path
) -> None:
    """The kernel starts 10 us before its launch, and its wait returns 60 us after its end."""
    rows = (launch(20, 1), wait(30, 100), FIRST)
    report = analyze(load(write(format_name, tmp_path, rows)))
    assert report.source["clock_shift_ns"] == {"4": {"low": 10 * US, "high": 60 * US}}
    lead = report.measurement("run_ahead/max")
    assert (lead.low, lead.high) == (0, 50 * US)
    blocked = report.measurement("host/blocked/device_bound")
    assert (blocked.low, blocked.high) == (20 * US, 70 * US)
    assert report.measurement("device/busy").low is None


def test_a_file_without_events_is_one_line(format_name: str, tmp_path: Path) -> None:
    with pytest.raises(BrokenTrace, match=r"no .*events") as caught:
        load(write(format_name, tmp_path, ()))
    assert "\n" not in str(caught.value)


def test_a_hostile_name_is_only_a_name(format_name: str, tmp_path: Path) -> None:
    trace = load(write(format_name, tmp_path, (*CALLS, FIRST, kernel(40, 90, 2, name=HOSTILE))))
    assert HOSTILE in trace.names
    assert len(trace) == len(SOUND)


def test_a_name_of_a_megabyte_and_thousands_of_names_are_kept(format_name: str, tmp_path: Path) -> None:
    names = ["x" * 1_000_000, *(f"kernel {n}" for n in range(20_000))]
    rows = [kernel(10 * n, 10 * n + 5, 0, name=name) for n, name in enumerate(names)]
    trace = load(write(format_name, tmp_path, rows))
    assert set(names) <= set(trace.names)
    assert len(trace) == len(names)


@pytest.mark.parametrize("format_name", ["kineto", "rocprofv3-csv", "rocprofv3-json"])
def test_a_packed_name_that_is_longer_than_many_pieces_is_kept(format_name: str, tmp_path: Path) -> None:
    name = "x" * 3_000_000
    path = write(format_name, tmp_path, (*CALLS, FIRST, kernel(40, 90, 2, name=name)))
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    path.unlink()
    trace = load(packed)
    assert name in trace.names
