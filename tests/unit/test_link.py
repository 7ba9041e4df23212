"""Which enqueue call owns which device op."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlap_lab.link import link, owned_ops
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, Api, Kind
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

ABSENT_VALUES = {"process": ABSENT_PROCESS, "device": ABSENT_DEVICE, "stream": ABSENT, "thread": ABSENT}


def rows(*events: dict[str, Any], source: Source | None = None) -> Trace:
    names = sorted({name for event in events for name in event})
    columns = {
        name: np.array([event.get(name, ABSENT_VALUES.get(name, 0)) for event in events], COLUMNS[name])
        for name in names
    }
    return Trace.from_columns(columns, names=(), source=source or Source())


def launch(start: int, correlation: int, **more: int) -> dict[str, int]:
    event = {"kind": Kind.API, "api": Api.LAUNCH, "start_ns": start, "end_ns": start + 5, "process": 1}
    return {**event, "thread": 1, "correlation": correlation, **more}


def kernel(start: int, correlation: int, **more: int) -> dict[str, int]:
    event = {"kind": Kind.KERNEL, "start_ns": start, "end_ns": start + 10, "process": 1}
    return {**event, "correlation": correlation, **more}


def call_starts(trace: Trace) -> list[int | None]:
    links = link(trace)
    return [int(start) if linked else None for start, linked in zip(links.enqueue, links.linked, strict=True)]


def test_one_graph_launch_owns_many_ops() -> None:
    trace = timeline(
        """
        host   1 |G1
        stream 0 |..K1K.K1K.K1K
        """
    )
    assert call_starts(trace) == [0, 0, 0]


def test_an_id_used_twice_pairs_in_time_order() -> None:
    trace = rows(launch(0, 5), kernel(10, 5), launch(300, 5), kernel(310, 5))
    assert call_starts(trace) == [0, 300]


def test_a_call_that_starts_with_the_op_is_not_before_it() -> None:
    trace = rows(launch(0, 5), launch(20, 5), kernel(20, 5))
    assert call_starts(trace) == [0]


def test_an_op_before_its_only_call_is_still_linked() -> None:
    assert call_starts(rows(kernel(10, 5), launch(20, 5))) == [20]


def test_id_zero_and_the_largest_id_link_nothing() -> None:
    trace = rows(launch(0, 0), kernel(10, 0), launch(20, 2**64 - 1), kernel(30, 2**64 - 1))
    assert call_starts(trace) == [None, None]


def test_ids_beyond_32_bits_stay_apart() -> None:
    trace = rows(launch(0, 5), launch(20, 2**32 + 5), kernel(30, 2**32 + 5))
    assert call_starts(trace) == [20]


def test_equal_ids_of_two_processes_or_parts_stay_apart() -> None:
    trace = rows(
        launch(0, 5), launch(1, 5, process=2), launch(2, 5, part=1), kernel(10, 5), kernel(11, 5, process=2)
    )
    assert call_starts(trace) == [0, 1]


def test_an_op_without_a_process_links_inside_its_part() -> None:
    trace = rows(launch(0, 5, process=7), kernel(10, 5, process=ABSENT_PROCESS))
    assert call_starts(trace) == [0]
    assert link(trace).process.tolist() == [7]


def test_calls_inside_a_capture_own_nothing() -> None:
    trace = timeline(
        """
        host   1 |B1L2V3L4
        stream 0 |.........K2KK.K4K
        """
    )
    assert call_starts(trace) == [None, 6_000]


def test_a_host_function_owns_no_op() -> None:
    trace = timeline(
        """
        host   1 |H1.
        stream 0 |...K1
        """
    )
    assert call_starts(trace) == [None]


def test_an_outer_call_owns_the_ops_of_the_call_in_it() -> None:
    trace = timeline(
        """
        host   1 |M1MMMMM
        host   1 |.C2CC..
        stream 0 |...D2D.
        """
    )
    links = link(trace)
    [outer] = [call for call, row in enumerate(links.host.tolist()) if trace.name_of(row) == "hipMemcpy"]
    which, op = owned_ops(links, np.array([outer]))
    assert (which.tolist(), op.tolist()) == ([0], [0])
