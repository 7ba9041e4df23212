"""Every idle gap has its causes, and they sum to it."""

from __future__ import annotations

from overlap_lab.analyze import analyze
from overlap_lab.report import Report
from overlap_lab.trace import Trace
from tests.timeline import timeline

US = 1_000


def causes(report: Report) -> dict[str, int]:
    """Idle time by cause in microseconds, zeros left out."""
    return {
        m.tag.removeprefix("device/idle/"): int(m.value or 0) // US
        for m in report.measurements
        if m.tag.startswith("device/idle/") and not m.scope and m.value
    }


def idle(drawing: str) -> dict[str, int]:
    return causes(analyze(timeline(drawing)))


def test_busy_is_a_union_and_gaps_lie_between_ops() -> None:
    report = analyze(
        timeline(
            """
            host   1 |L1L2L3.............
            stream 0 |..K1KKKKK..........
            stream 1 |.....K2KKKK....K3KK
            """
        )
    )
    values = [report.value(f"device/{tag}") for tag in ("busy", "window", "idle", "gaps")]
    assert values == [13 * US, 17 * US, 4 * US, 1]


def test_a_call_that_starts_after_the_gap_opened_is_late_then_launching() -> None:
    drawing = """
        host   1 |L......L.....
        stream 0 |.KK.......KKK
        """
    assert idle(drawing) == {"host_late": 4, "launch": 3}


def test_a_call_that_starts_exactly_when_the_gap_opens_is_launching() -> None:
    drawing = """
        host   1 |L..L.....
        stream 0 |.KK...KKK
        """
    assert idle(drawing) == {"launch": 3}


def test_a_launch_time_beyond_its_cap_is_in_the_call_then_dependency() -> None:
    quick_host, quick_ops = "L.." * 4, ".K." * 4
    drawing = f"""
        host   1 |{quick_host}{"L" * 120}{"." * 8}
        stream 0 |{quick_ops}{"." * 127}K
        """
    found = idle(drawing)
    assert (found["in_call"], found["dependency"]) == (20, 7)
    assert found["launch"] == 3 * 1 + 100


def test_an_op_enqueued_before_the_gap_waits_for_a_dependency() -> None:
    drawing = """
        host   1 |LlL......
        stream 0 |.KK.kk.KK
        """
    assert idle(drawing) == {"dependency": 2}


def with_host_function(host_function: str) -> str:
    return f"""
        host   1 |L1{host_function}L2.......
        stream 0 |..K1KK...K2K
        """


def test_a_gap_behind_a_host_function_is_its_doing() -> None:
    assert idle(with_host_function("H3")) == {"host_function": 3}
    assert idle(with_host_function("..")) == {"dependency": 3}


def test_a_host_function_on_another_stream_is_not_the_cause() -> None:
    drawing = """
        host 1 stream 0 |L1..L2.......
        host 1 stream 7 |..H3.........
        stream 0        |..K1KK...K2K
        """.replace("K2K\n", "K2KK\n")
    assert idle(drawing) == {"dependency": 3}


def test_a_drain_owns_its_whole_gap() -> None:
    drawing = """
        host   1 |L.SSSSS..L....
        stream 0 |..KKKK......KK
        """
    assert idle(drawing) == {"drain": 6}


def test_a_gap_beside_a_launch_that_lost_its_op_is_unknown() -> None:
    drawing = """
        host   1 |L1.......L5.......L2..
        stream 0 |..K1..............K2KK
        """.replace("L2..", "L2..").replace("K2KK", "..K2")
    assert idle(drawing) == {"unknown": 16}


def test_an_op_without_a_call_counts_as_enqueued_at_its_own_start() -> None:
    drawing = """
        host   1 |L1.......
        stream 0 |..K1..K0K
        """
    assert idle(drawing) == {"host_late": 2}


def windowed(trace: Trace, first: int, last: int) -> tuple[list[float | None], dict[str, int]]:
    report = analyze(trace, window=(first * US, last * US))
    return [report.value(f"device/{tag}") for tag in ("busy", "window", "idle")], causes(report)


def test_a_window_clips_at_its_edges_and_keeps_the_causes() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSS..L....
        stream 0 |..KKKK......KK
        """
    )
    assert windowed(trace, 4, 8) == ([2 * US, 4 * US, 2 * US], {"drain": 2})


def test_a_window_beyond_the_ops_is_idle_before_and_after_them() -> None:
    trace = timeline(
        """
        host   1 |...L......
        stream 0 |......KK..
        """
    )
    assert windowed(trace, 0, 10) == ([2 * US, 10 * US, 8 * US], {"host_late": 5, "launch": 3})
