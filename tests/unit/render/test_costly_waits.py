from __future__ import annotations

from pathlib import Path

import numpy as np

from overlap_lab.analyze import report_and_context
from overlap_lab.loaders import load
from overlap_lab.render.costly_waits import costly_waits
from overlap_lab.render.costs import costs_of
from overlap_lab.render.rule_book import advice_for_wait
from overlap_lab.schema import Api, CopyKind, Kind
from overlap_lab.trace import Trace
from tests.timeline import timeline

ITEM_LOOP = Path(__file__).parents[2] / "cases" / "data" / "01_item_sync_loop" / "trace.json"


def _waits(trace: Trace):
    return costly_waits(*report_and_context(trace))


def test_item_in_a_loop_is_one_place_with_its_cost_stack_and_rule() -> None:
    [one] = _waits(load(ITEM_LOOP))
    assert (one.count, one.final, one.drains, one.idle_ns) == (3, 1, 2, 196_000)
    assert one.stack == ("aten::item", "aten::_local_scalar_dense")
    assert advice_for_wait(one).name == "item_in_a_loop"


def test_a_blocking_copy_knows_its_direction() -> None:
    trace = timeline(
        """
        host   1 |L.MMMMMMM..L.SSSSS.
        stream 0 |..KKKK.D....KKKKK..
        """
    )
    [copy] = [one for one in _waits(trace) if one.call == "hipMemcpy"]
    assert copy.copy is CopyKind.DEVICE_TO_HOST
    assert (copy.start_ns, copy.end_ns) == (2_000, 12_000)  # to the end of the idle time behind it
    assert (copy.costliest_ns, copy.parts) == (4_000, (1_000, 2_000, 1_000))


def test_the_costliest_in_idle_time_comes_first() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSSSSSS...........L..TTT...L.SSSS
        stream 0 |.KKKKKKKKKK............KK.......KKKK.
        """
    )
    found = _waits(trace)
    assert [one.idle_ns for one in found] == sorted((one.idle_ns for one in found), reverse=True)


def test_without_a_context_the_numbers_are_the_same() -> None:
    report, context = report_and_context(load(ITEM_LOOP))
    [bare], [full] = costly_waits(report, None), costly_waits(report, context)
    assert (bare.call, bare.count, bare.blocked_ns) == (full.call, full.count, full.blocked_ns)
    assert bare.stack == ()


def test_reading_back_and_sending_are_two_places_of_one_call() -> None:
    trace = timeline(
        """
        host   1 |L.MMMMMMM..L.MMMMMMM..L.SSSSS.
        stream 0 |..KKKK.D....KKKK..U.....KKKK..
        """
    )
    found = [one for one in _waits(trace) if one.call == "hipMemcpy"]
    assert {one.copy for one in found} == {CopyKind.DEVICE_TO_HOST, CopyKind.HOST_TO_DEVICE}


def test_a_copy_in_a_window_knows_its_direction_beside_waits_outside_of_it() -> None:
    trace = timeline(
        """
        host   1 |L.SSSSS..L.MMMMMMM..L.SSSSS.
        stream 0 |.KKKKKK...KKKK..D.....KKKK..
        """
    )
    report, context = report_and_context(trace, window=(9_500, 19_000))
    [copy] = costly_waits(report, context)
    assert copy.copy is CopyKind.DEVICE_TO_HOST


def test_from_place_51_on_nothing_is_looked_up_and_there_is_no_advice() -> None:
    step = "L.MMM.."
    trace = timeline(
        f"""
        host   1 |{step * 60}L.SS
        stream 0 |{".KK.D.." * 60}.KKK
        """
    )
    calls = np.flatnonzero(trace.api == Api.MEMCPY)
    name = trace.name.copy()
    name[calls] = len(trace.names) + np.arange(60)
    trace = trace.replace(name=name, names=(*trace.names, *(f"copy{at:02}" for at in range(60))))
    trace = trace.replace(bytes=np.where(trace.kind == Kind.MEMCPY, 8, trace.bytes))
    report, context = report_and_context(trace)
    found = [one for one in costs_of(report, context).found if one.wait is not None]
    assert [one.wait is not None and one.wait.is_looked_up for one in found] == [True] * 50 + [False] * 10
    assert {one.advice and one.advice.name for one in found[:50]} == {"small_copy_to_host"}
    assert {one.advice for one in found[50:]} == {None}
