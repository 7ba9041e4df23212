"""What is wrong with a trace is counted; what is certain is repaired."""

from __future__ import annotations

from overlap_lab.analyze import analyze
from overlap_lab.schema import Fault
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline
from tests.unit.test_link import kernel, launch, rows

US = 1_000


def faults(trace: Trace) -> dict[str, int]:
    return {
        m.tag.removeprefix("quality/"): int(m.value or 0)
        for m in analyze(trace).measurements
        if m.tag.startswith("quality/") and m.value
    }


def test_a_sound_trace_has_no_fault() -> None:
    trace = timeline(
        """
        host   1 |L.SSSS
        stream 0 |..KKK.
        """
    )
    assert faults(trace) == {}


def test_ops_without_a_call_and_calls_without_an_op_are_counted() -> None:
    trace = timeline(
        """
        host   1 |L1L2H3C4Z5M6
        stream 0 |....K0K..K1K
        """
    )
    expected = {"unlinked_ops": 1, "launches_without_op": 3, "copies_without_record": 1}
    assert faults(trace) == expected


def test_a_launch_inside_a_capture_lacks_no_op() -> None:
    trace = timeline(
        """
        host   1 |B1L2V3G4
        stream 0 |.........K4K
        """
    )
    assert faults(trace) == {"graph_ops": 1}


def test_an_id_used_twice_is_one_reused_id() -> None:
    trace = rows(launch(0, 5), kernel(10, 5), launch(300, 5), kernel(310, 5))
    assert faults(trace)["id_reused"] == 1


def test_an_op_before_its_launch_is_inverted() -> None:
    trace = rows(kernel(10, 5), launch(20, 5))
    assert faults(trace)["inverted"] == 1


def test_a_row_that_ends_before_it_starts_has_no_length() -> None:
    trace = rows(launch(0, 5), kernel(10, 5, end_ns=4), launch(20, 6), kernel(30, 6))
    assert faults(trace)["negative_duration"] == 1
    assert analyze(trace).value("device/busy") == 10


def overlapping(over_us: int) -> Trace:
    first = kernel(10 * US, 1, end_ns=100 * US + over_us * US, stream=0)
    return rows(launch(0, 1), launch(US, 2), first, kernel(100 * US, 2, end_ns=400 * US, stream=0))


def test_an_overlap_of_one_microsecond_is_jitter() -> None:
    assert faults(overlapping(1)) == {}


def test_an_overlap_of_fifty_microseconds_is_counted_and_kept() -> None:
    assert faults(overlapping(50)) == {"stream_overlap": 1}


def test_an_overlap_over_fifty_microseconds_is_clipped() -> None:
    assert faults(overlapping(51)) == {"clipped": 1}


def test_a_sync_proves_an_earlier_end_than_the_next_op() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSS...L...
        stream 0 |..KKKKKKKKKKKK
        stream 0 |...........K..
        """,
        letter_ns=100 * US,
    )
    assert faults(trace) == {"clipped": 1}
    assert analyze(trace).value("device/busy") == 600 * US


def test_an_op_without_a_successor_ends_at_the_sync_that_proves_it() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSS.......
        stream 0 |..KKKKKKKKKKKK
        """,
        letter_ns=100 * US,
    )
    assert faults(trace) == {"clipped": 1}
    assert analyze(trace).value("device/busy") == 500 * US


def test_a_sync_that_returned_before_the_op_started_proves_nothing() -> None:
    trace = timeline(
        """
        host   1 |LLLLLL.........
        host   2 |.S..SSSS.......
        stream 0 |.....KKKKKKKKKK
        """,
        letter_ns=100 * US,
    )
    assert faults(trace) == {"clipped": 1}
    assert analyze(trace).value("device/busy") == 300 * US


def test_a_sync_that_may_be_of_another_device_proves_no_end() -> None:
    trace = timeline(
        """
        host   1          |L1L2SSS.......
        device 0 stream 0 |..K1K.........
        device 1 stream 0 |....K2KKKKKKKK
        """,
        letter_ns=100 * US,
    )
    assert faults(trace) == {}


def test_other_streams_and_other_processes_never_overlap_an_op() -> None:
    trace = rows(
        launch(0, 1),
        launch(1, 2),
        launch(2, 3, process=2),
        kernel(10, 1, end_ns=900 * US, stream=0),
        kernel(20, 2, end_ns=30, stream=1),
        kernel(20, 3, end_ns=30, stream=0, process=2),
    )
    assert faults(trace) == {}


def test_faults_that_a_loader_counted_are_kept() -> None:
    source = Source(faults={Fault.ROWS_REPAIRED: 3, Fault.TRUNCATED: 1})
    trace = rows(launch(0, 1), kernel(10, 1, stream=0), source=source)
    assert faults(trace) == {"rows_repaired": 3, "truncated": 1}


def test_a_faulty_clock_gets_an_allowed_shift_and_bounds() -> None:
    trace = timeline(
        """
        host   1 |..L1L2SSSSSSSSS
        stream 0 |.K1KKK2KKKKKKK.
        """
    )
    report = analyze(trace)
    assert report.source["clock_shift_ns"] == {"0": {"low": 1_000, "high": 1_000}}
    lead = report.measurement("run_ahead/max")
    assert (lead.low, lead.high) == (2_000, 2_000)
    assert report.measurement("device/busy").low is None
