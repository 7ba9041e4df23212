from __future__ import annotations

from pathlib import Path

from overlap_lab.analyze import report_and_context
from overlap_lab.loaders import load
from overlap_lab.render.costly_waits import costly_waits
from overlap_lab.render.rule_book import advice_for_wait
from overlap_lab.schema import CopyKind
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
