from __future__ import annotations

import doctest

import pytest

from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, CopyKind, Kind, Memory
from tests import timeline as module
from tests.timeline import DrawingError, timeline


def test_the_docstring_example_runs() -> None:
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 0


def test_one_letter_is_one_microsecond_and_a_run_is_one_event() -> None:
    trace = timeline(
        """
        host   1 |LL.SSSSSSo    L launch   S sync   o range   K kernel
        stream 0 |..KKKKKKK.    one letter = one microsecond
        """
    )
    assert trace.kind.tolist() == [Kind.API, Kind.KERNEL, Kind.API, Kind.RANGE]
    assert trace.api.tolist() == [Api.LAUNCH, Api.NONE, Api.DEVICE_SYNC, Api.NONE]
    assert trace.start_ns.tolist() == [0, 2_000, 3_000, 9_000]
    assert trace.end_ns.tolist() == [2_000, 9_000, 9_000, 10_000]
    assert trace.thread.tolist() == [1, ABSENT, 1, 1]
    assert trace.stream.tolist() == [ABSENT, 0, ABSENT, ABSENT]
    assert trace.device.tolist() == [ABSENT_DEVICE, 0, ABSENT_DEVICE, ABSENT_DEVICE]


def test_case_separates_neighbours_of_one_kind() -> None:
    trace = timeline(
        """
        host   1 |LllL...
        stream 0 |.KkkKKK
        """
    )
    launches = trace.where(trace.is_host_call)
    assert launches.end_ns.tolist() == [1_000, 3_000, 4_000]
    assert trace.where(trace.is_device).start_ns.tolist() == [1_000, 2_000, 4_000]


def test_digits_separate_neighbours_and_link_across() -> None:
    trace = timeline(
        """
        host   1 |L1L2......
        stream 0 |..K2K1KKK.
        """
    )
    assert trace.correlation.tolist() == [1, 2, 2, 1]
    assert trace.end_ns.tolist() == [2_000, 4_000, 4_000, 9_000]


def test_calls_and_ops_without_digits_pair_in_order_of_their_kind() -> None:
    trace = timeline(
        """
        host   1 |CL.....
        host   2 |..L....
        stream 0 |...DKK.
        stream 1 |..K....
        """
    )
    ids = {
        (kind, start): c for kind, start, c in zip(trace.kind, trace.start_ns, trace.correlation, strict=True)
    }
    assert ids[Kind.MEMCPY, 3_000] == ids[Kind.API, 0]
    assert ids[Kind.KERNEL, 2_000] == ids[Kind.API, 1_000]
    assert ids[Kind.KERNEL, 4_000] == ids[Kind.API, 2_000]


def test_zero_links_nothing_and_a_call_may_have_no_op() -> None:
    trace = timeline(
        """
        host   1 |L0L7....
        stream 0 |....K0K.
        """
    )
    assert trace.correlation.tolist() == [0, 7, 0]


def test_one_graph_launch_owns_many_ops() -> None:
    trace = timeline(
        """
        host   1 |G1......
        stream 0 |..K1K1C1
        """
    )
    assert trace.graph.tolist() == [ABSENT, 1, 1, 1]
    assert trace.correlation.tolist() == [1, 1, 1, 1]


def test_places_name_process_device_and_part() -> None:
    trace = timeline(
        """
        process 7 host 4 stream 2            |LL...
        process 7 device 3 stream 2 part 1   |..KKK
        """
    )
    assert trace.process.tolist() == [7, 7]
    assert trace.device.tolist() == [ABSENT_DEVICE, 3]
    assert trace.stream.tolist() == [2, 2]
    assert trace.part.tolist() == [0, 1]


def test_two_lines_of_one_thread_nest() -> None:
    trace = timeline(
        """
        host 1 |OOOOOO
        host 1 |.AAAA.
        host 1 |..A...
        """
    )
    assert trace.depth.tolist() == [0, 0, 1]


def test_sync_rows_name_the_waiting_call_and_the_recorded_event() -> None:
    trace = timeline(
        """
        host   1 |R1E2EEEEE
        stream 3 |..E21EEE.
        """
    )
    [row] = [i for i in range(len(trace)) if trace.kind[i] == Kind.SYNC]
    assert (trace.correlation[row], trace.wait_correlation[row], trace.stream[row]) == (2, 1, 3)


def test_copies_have_a_direction_and_a_memory() -> None:
    trace = timeline(
        """
        host   1 |C1C2C3..
        stream 0 |..D1U2X3
        """,
        memory={1: Memory.PAGEABLE, 2: Memory.PINNED},
    )
    copies = trace.where(trace.is_device)
    assert copies.copy_kind.tolist() == [
        CopyKind.DEVICE_TO_HOST,
        CopyKind.HOST_TO_DEVICE,
        CopyKind.DEVICE_TO_DEVICE,
    ]
    assert copies.memory.tolist() == [Memory.PAGEABLE, Memory.PINNED, Memory.UNKNOWN]


@pytest.mark.parametrize(
    ("drawing", "complaint"),
    [
        ("host 1  LL", "no bar"),
        ("host 1 |LL\nstream 0  |KK", "one column"),
        ("lane 1 |LL", "no place"),
        ("host |LL", "no place"),
        ("host a |LL", "a word where a number"),
        ("device 1 |KK", "neither"),
        ("host 1 |L?", "starts no event"),
        ("host 1 |1LL", "starts no event"),
        ("host 1 |L12", "no host event"),
        ("stream 1 |L1", "no device event"),
        ("host 1 |LL", "1 calls without a digit and 0 kernel"),
        ("stream 1 |KK", "0 calls without a digit and 1 kernel"),
        ("host 1 |G.", "graph launch needs a digit"),
        ("stream 1 |S.", "sync row needs the digit"),
    ],
)
def test_a_bad_drawing_raises(drawing: str, complaint: str) -> None:
    with pytest.raises(DrawingError, match=complaint):
        timeline(drawing)
