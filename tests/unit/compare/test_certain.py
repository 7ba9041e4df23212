"""Drawn traces whose budgets are broken by waits that a busy machine may be all there is to."""

from __future__ import annotations

import pytest

from overlap_lab.compare.budget import Budget, parse_allowance, parse_rule
from overlap_lab.compare.check import check
from overlap_lab.compare.checked import Checked, Outcome
from overlap_lab.render.check_words import allowed_words
from overlap_lab.schema import Memory
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import framed, stepped


def held(trace: Trace, rule: str = "drain/count = 0", *, fewest: int = 1) -> Checked:
    [one] = check(trace, Budget((parse_rule(rule),)), fewest=fewest).checked
    return one


def slow_memset(letter_ns: int = 2_000, source: Source | None = None) -> Trace:
    """A memset of 17 letters; the kernel before it and its own op end before it returns."""
    return timeline(
        """
        host   1 |L.ZZZZZZZZZZZZZZZZZ...L
        stream 0 |.KKKKKKKKKKKKKKKKZ.....KK
        """,
        letter_ns,
        source=source,
    )


def slow_free(letters: int, letter_ns: int, source: Source | None = None) -> Trace:
    """A free that returns when the kernel before it ends."""
    return timeline(
        f"host   1 |L.{'F' * letters}...L\nstream 0 |.{'K' * (letters + 1)}....KK", letter_ns, source=source
    )


def test_a_slow_memset_of_34_us_leaves_a_count_of_drains_undecided_and_is_named() -> None:
    one = held(slow_memset())
    assert (one.outcome, one.value) == (Outcome.UNDECIDED, 1)
    assert one.reason == "a busy machine may be all that breaks it: hipMemsetAsync lasted 34.0 us"
    [culprit] = one.culprits
    assert (culprit.call, culprit.drains) == ("hipMemsetAsync", 1)


def test_a_synchronize_breaks_the_same_count_however_short_it_is() -> None:
    trace = timeline(
        """
        host   1 |L.SS..L
        stream 0 |.KKK...KK
        """
    )
    assert held(trace).outcome is Outcome.VIOLATED


def test_a_certain_drain_beside_an_unsure_one_violates() -> None:
    trace = timeline(
        """
        host   1 |L.ZZZZZZZZZZZZZZZZZ...L.SS...L
        stream 0 |.KKKKKKKKKKKKKKKKZ.....KKK....KK
        """,
        2_000,
    )
    one = held(trace)
    assert (one.outcome, one.value) == (Outcome.VIOLATED, 2)
    assert held(trace, "drain/count <= 1").outcome is Outcome.UNDECIDED


def test_a_call_of_twenty_floors_is_no_accident() -> None:
    assert held(slow_free(20, 20_000)).outcome is Outcome.VIOLATED
    assert held(slow_free(19, 20_000)).outcome is Outcome.UNDECIDED


def test_two_calls_of_five_floors_are_no_accident() -> None:
    one = "L.FFFFFFFFFF...", ".KKKKKKKKKKK..."
    trace = timeline(f"host   1 |{one[0] * 2}L\nstream 0 |{one[1] * 2}.KK", 10_000)
    assert held(trace).outcome is Outcome.VIOLATED
    assert held(slow_free(10, 10_000)).outcome is Outcome.UNDECIDED


def test_where_most_calls_so_long_did_not_wait_none_is_certain() -> None:
    """Three frees of 400 us return in the middle of a kernel, as without a core, and one at its end."""
    one = "LFFFFFFFFFFFFFFFFFFFF....", ".KKKKKKKKKKKKKKKKKKKKKKKK"
    end = "LFFFFFFFFFFFFFFFFFFFF...L", ".KKKKKKKKKKKKKKKKKKKK...."
    trace = timeline(f"host   1 |{one[0] * 3}{end[0]}\nstream 0 |{one[1] * 3}{end[1]}.KK", 20_000)
    assert held(trace).value == 1
    assert held(trace).outcome is Outcome.UNDECIDED


def test_a_copy_to_pageable_memory_inside_its_call_is_certain() -> None:
    drawing = """
        host   1 |L1.C2CCCCCCCCCCC...L3
        stream 0 |.K1KKKKD2DDDD........K3K
        """
    assert held(timeline(drawing, 2_000, memory={2: Memory.PAGEABLE})).outcome is Outcome.VIOLATED
    assert held(timeline(drawing, 2_000)).outcome is Outcome.UNDECIDED


def test_a_synchronous_copy_from_device_to_device_may_not_have_waited() -> None:
    trace = timeline(
        """
        host   1 |L1.M2MMMMMMMMMMMMM...L3
        stream 0 |.K1KKKKX2XXXX.........K3K
        """,
        2_000,
    )
    assert held(trace).value == 1
    assert held(trace).outcome is Outcome.UNDECIDED


HOST = Source(vendor="host")


def test_on_the_host_target_length_proves_nothing_but_the_stack_of_a_wait_does() -> None:
    """Its ops run on the host's cores, so that a thread may get one just when an op ends."""
    assert held(slow_free(20, 500_000, HOST)).outcome is Outcome.UNDECIDED
    told = timeline(
        """
        host   1 |L.ZZZZZZZZZZZZZZZZZ...L
        host   1 |..KKKKKKKKKKKKKKKKK....
        stream 0 |.KKKKKKKKKKKKKKKKZ.....KK
        """,
        2_000,
        source=HOST,
    )
    assert held(framed(told, "train.py(88): step")).outcome is Outcome.VIOLATED


def passed(letter_ns: int) -> Trace:
    """A wait for stream 0 whose host comes back 27 letters late; stream 1 had 6 letters of work left."""
    return timeline(
        """
        host 1          |Ll...............................L.
        host 1 stream 0 |..TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT..
        stream 0        |.KKKKK............................K
        stream 1        |..KKKKKKKKKK.......................
        """,
        letter_ns,
    )


def test_a_device_that_ran_dry_while_the_host_came_back_is_undecided() -> None:
    one = held(passed(5_000))
    assert (one.outcome, one.value) == (Outcome.UNDECIDED, 1)
    assert one.reason == (
        "a busy machine may be all that breaks it: hipStreamSynchronize came back 135 us late"
    )


def test_a_device_with_too_little_work_left_for_any_host_is_drained() -> None:
    assert held(passed(1_000)).outcome is Outcome.VIOLATED


def test_a_wait_that_drains_in_passing_is_a_wait_all_the_same() -> None:
    assert held(passed(5_000), "host/blocked < 50us").outcome is Outcome.VIOLATED


def test_times_are_not_broken_by_chance_alone_either() -> None:
    one = "L.ZZZZZZZZZZZZZZZZZ...", ".KKKKKKKKKKKKKKKKZ...."
    trace = timeline(f"host   1 |{one[0] * 6}L\nstream 0 |{one[1] * 6}.KK", 2_000)
    found = held(trace, "host/blocked per wait < 25us", fewest=5)
    assert (found.outcome, found.observations) == (Outcome.UNDECIDED, 6)
    assert found.reason.endswith("6 x hipMemsetAsync lasted up to 34.0 us")


def test_a_rule_that_only_chance_keeps_is_undecided() -> None:
    one = held(slow_memset(), "drain/count >= 1")
    assert one.outcome is Outcome.UNDECIDED
    assert one.reason.startswith("a busy machine may be all that keeps it: hipMemsetAsync")


@pytest.mark.parametrize("rule", ['drain/count = 0 in range "range"', "drain/count per step = 0"])
def test_steps_and_ranges_are_judged_alike(rule: str) -> None:
    one = "OOOOOOOOOOOOOOOOOOOOOO", "L.ZZZZZZZZZZZZZZZZZ...", ".KKKKKKKKKKKKKKKKZ...."
    lines = [f"{one[0]}oooooo", f"{one[1]}L", f"{one[2]}.KK"]
    drawn = "\n".join(
        f"{place}|{line}" for place, line in zip(("host   1 ", "host   1 ", "stream 0 "), lines, strict=True)
    )
    trace = timeline(drawn, 2_000) if "range" in rule else stepped(drawn)
    if "step" in rule:
        trace = trace.replace(start_ns=trace.start_ns * 2, end_ns=trace.end_ns * 2)
    assert held(trace, rule).outcome is Outcome.UNDECIDED


def synchronized(before: str, ops: str) -> Trace:
    """A launch, a synchronize and a launch again."""
    return timeline(f"host   1 |{before}\nstream 0 |{ops}")


def test_a_synchronize_that_came_when_its_work_was_done_may_drain_on_another_day() -> None:
    one = held(synchronized("L......S..L..", ".KKKK......KK"))
    assert (one.outcome, one.value) == (Outcome.UNDECIDED, 0)
    assert one.reason == (
        "a busy machine may be all that keeps it: hipDeviceSynchronize came when the work was done"
    )
    assert held(synchronized("L......S..L..", ".KKKK......KK"), "drain/count <= 1").outcome is Outcome.FINE


@pytest.mark.parametrize(
    ("host", "ops", "why"),
    [
        ("L......S......", ".KKKK.........", "nothing follows: it is the last wait"),
        ("S..L....L.....", "....KKKK.KK...", "nothing was enqueued before it"),
        ("L.Ss..L", ".KK....K", "a wait drained the device, and the next call had nothing new"),
    ],
)
def test_a_synchronize_with_nothing_to_drain_leaves_a_count_alone(host: str, ops: str, why: str) -> None:
    one = held(synchronized(host, ops), "drain/count <= 1")
    assert one.outcome is Outcome.FINE, why
    if "wait drained" not in why:
        assert held(synchronized(host, ops)).outcome is Outcome.FINE, why


def test_an_allowed_synchronize_may_come_late() -> None:
    trace = synchronized("L......S..L..", ".KKKK......KK")
    allowed = tuple(parse_allowance(name, "once a day") for name in ("hipFree", "hipDevice*", "hip*"))
    found = check(trace, Budget((parse_rule("drain/count = 0"),), allowed))
    assert found.outcome is Outcome.FINE
    assert [(one.waits, one.late) for one in found.allowed] == [(0, 0), (0, 1), (0, 0)]
    assert list(allowed_words(found))[1] == "hipDevice*: once a day: 0 waits, 0 ns; 1 late synchronize"


LATE = """
    host   1 |OOOOOOOOOOOOO
    host   1 |.o....oo.o...
    host   1 |L......S..L..
    stream 0 |.KKKK......KK
"""


@pytest.mark.parametrize(
    ("allowed", "outcome"),
    [
        ('hipDevice* in "range 0"', Outcome.FINE),
        ('hipDevice* in "range 2"', Outcome.FINE),
        ('hipDevice* in "range 3"', Outcome.UNDECIDED),
        ('hipFree in "range 0"', Outcome.UNDECIDED),
    ],
)
def test_a_late_synchronize_is_allowed_in_any_range_around_it(allowed: str, outcome: Outcome) -> None:
    trace = stepped(LATE, name="range {}")
    budget = Budget((parse_rule("drain/count = 0"),), (parse_allowance(allowed, "once a day"),))
    assert check(trace, budget).outcome is outcome


def test_a_late_synchronize_is_allowed_by_a_frame_around_it() -> None:
    trace = framed(
        timeline("host   1 |......KKK....\nhost   1 |L......S..L..\nstream 0 |.KKKK......KK"), "a.py(7): f"
    )
    for allowed, outcome in (("a.py:7", Outcome.FINE), ("a.py:8", Outcome.UNDECIDED)):
        budget = Budget((parse_rule("drain/count = 0"),), (parse_allowance(allowed, "once a day"),))
        assert check(trace, budget).outcome is outcome


def test_an_allowed_wait_has_waited_all_the_same() -> None:
    """It drained the device, so that the synchronize after it had nothing to wait for."""
    budget = Budget((parse_rule("drain/count = 0"),), (parse_allowance("hipDevice*", "once a day"),))
    assert check(synchronized("L.ST..L", ".KK....K"), budget).outcome is Outcome.FINE


@pytest.mark.parametrize(("stream", "outcome"), [(0, Outcome.UNDECIDED), (1, Outcome.FINE)])
def test_only_what_was_enqueued_on_its_own_stream_could_have_held_it_up(
    stream: int, outcome: Outcome
) -> None:
    trace = timeline(
        f"""
        host 1          |L.........L..
        host 1 stream {stream} |.......T.....
        stream 0        |.KKKK......KK
        """
    )
    assert held(trace).outcome is outcome
