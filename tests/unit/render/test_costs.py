"""One list over all causes: it sums to the idle time, and its words say of what each cost is a share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.intervals import Intervals
from overlap_lab.loaders import load
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.recovery import recoveries
from overlap_lab.render.cost_words import (
    and_more,
    calls_words,
    kind_of,
    longest_words,
    ranges_words,
    share_words,
    spread_words,
    title_of,
    where_words,
    why_empty,
)
from overlap_lab.render.costs import Costs, costs_of
from overlap_lab.render.headline import headline
from overlap_lab.render.html_costs import spot_of
from overlap_lab.render.lines import Style
from overlap_lab.render.text import report_text
from overlap_lab.schema import Cause, CopyKind, Kind, Reason
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.render.made_report import made_report

CASES = Path(__file__).parents[2] / "cases" / "data"
TRACES = Path(__file__).parents[3] / "traces"
LOADER = CASES / "25_dataloader_or_sync" / "trace.json"
ITEM_LOOP = CASES / "01_item_sync_loop" / "trace.json"
TWO_DEVICES = timeline(
    """
    host   1           |LL.SSSSSSS..L.SSSSS.
    host   2           |LL.SSS......L.SSSSS.
    device 0 stream 0  |..KKKKKKK....KKKKK..
    device 1 stream 0  |..KKK........KKKKK..
    """.replace("LL", "L.")
)


def _costs(trace: Trace) -> Costs:
    return costs_of(*report_and_context(trace))


@pytest.mark.parametrize(
    "trace", [load(LOADER), load(ITEM_LOOP), TWO_DEVICES], ids=["loader", "item loop", "two devices"]
)
def test_the_costs_sum_to_the_idle_time_and_stand_in_order(trace: Trace) -> None:
    costs = _costs(trace)
    assert costs.idle_ns > 0
    assert sum(one.idle_ns for one in costs.found) == costs.idle_ns
    idle = [one.idle_ns for one in costs.found]
    assert idle == sorted(idle, reverse=True)
    assert all(one.idle_ns == sum(ns for _, ns in one.devices) for one in costs.found if one.devices)


def test_without_a_context_each_cause_is_one_cost() -> None:
    report, context = report_and_context(load(LOADER))
    bare, full = costs_of(report, None), costs_of(report, context)
    assert [(one.cause, one.idle_ns) for one in bare.found] == [
        (Cause.HOST_LATE, 440_000),
        (Cause.DRAIN, 35_000),
        (Cause.LAUNCH, 10_000),
    ]
    assert title_of(bare.found[0]) == "the host launched late"  # what it was in, only the trace says
    assert bare.idle_ns == full.idle_ns == 485_000


def test_several_groups_of_late_launches_are_one_cost_without_a_context() -> None:
    trace = timeline(
        """
        host   1 |L.........L......L....
        host   1 |..IIIIII....OOOO......
        stream 0 |.KK.........KK......KK
        """,
        letter_ns=100_000,
    )
    report, context = report_and_context(trace)
    late = [one.idle_ns for one in costs_of(report, context).found if one.cause is Cause.HOST_LATE]
    assert late == [700_000, 300_000]
    [bare] = [one for one in costs_of(report, None).found if one.cause is Cause.HOST_LATE]
    assert bare.idle_ns == 1_000_000


def test_a_late_loader_leads_the_list_with_its_name_and_its_rule() -> None:
    costs = _costs(load(LOADER))
    first = costs.found[0]
    assert first.cause is Cause.HOST_LATE
    assert title_of(first) == "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    assert spread_words(first, costs) == "one gap of 440 us; the host was in it for 435 us"
    assert first.advice is not None
    assert first.advice.name == "loader_too_slow"


def test_the_headline_names_the_costliest_and_then_what_waits_cost() -> None:
    report, context = report_and_context(load(LOADER))
    said = headline(report, costs_of(report, context))
    assert said.sentences == (
        "Device 0 synthetic device stood idle for 485 us, 32.6 % of its 1.49 ms window.",
        "Costliest: the host launched late while it was in "
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__: "
        "440 us, 29.6 % of the window.",
        "Waits cost only 35.0 us, 2.4 % of the window, and blocked the host for 401 us with work still to "
        "launch, all of it in cudaStreamSynchronize: 1 call.",
    )
    assert said.style is Style.BAD


def test_short_gaps_name_the_ops_that_hold_most_of_them_in_the_first_line() -> None:
    trace = timeline(
        """
        host   1 |L....L....L....L....L.
        host   1 |.IIII..III..III..III..
        stream 0 |.K....K....K....K....K
        """,
        letter_ns=10_000,
    )
    ops = np.flatnonzero(trace.kind == Kind.CPU_OP)
    name = trace.name.copy()
    name[ops] = len(trace.names) + np.arange(ops.size)
    trace = trace.replace(name=name, names=(*trace.names, *(f"aten::{one}" for one in "abcd")))
    report, context = report_and_context(trace)
    costliest = headline(report, costs_of(report, context)).sentences[1]
    assert costliest.startswith(
        "Costliest: the host launched late in aten::a, aten::b and others (4 short gaps between launches): "
    )


def test_waits_that_cost_no_device_time_are_said_to_block_the_host_only() -> None:
    trace = timeline(
        """
        host   1           |L.L............SSSS.
        host   1 stream 1  |...TTTTT............
        stream 0           |.KKKKKKKKKKKKKKKKK..
        stream 1           |...KKKK.............
        """,
        letter_ns=10_000,
    )
    report, context = report_and_context(trace)
    said = headline(report, costs_of(report, context))
    assert "blocked the host for" in said.sentences[-1]
    assert said.style is Style.GOOD


def test_without_a_device_the_verdict_stands_and_warns() -> None:
    trace = timeline(
        """
        host   1 |KK.SSS
        """
    )
    report, context = report_and_context(trace)
    said = headline(report, costs_of(report, context))
    assert said.sentences == (report.verdict,)
    assert said.style is Style.WARNING


def test_several_devices_are_told_by_what_each_has_on_average_and_where_the_most_is() -> None:
    costs = _costs(TWO_DEVICES)
    assert costs.devices == 2
    [wait] = costs.found  # 4 us on device 0, 8 us on device 1, in windows of 16 us
    assert share_words(wait, costs) == "6.00 us of each device's 16.0 us (37.5 %), 100.0 % of their idle"
    said = headline(report_and_context(TWO_DEVICES)[0], costs).sentences
    idle = "6.00 us of their 16.0 us on average, 37.5 % (device 1: 50.0 %, the other: 25.0 %)"
    assert said[0] == f"2 devices stood idle for {idle}."
    assert said[1].endswith(": 6.00 us of each device's 16.0 us (37.5 %), most on device 1: 8.00 us.")
    assert said[2].startswith("Device 1 stands out: ran empty after a wait 8.00 us (4.00 us on the other).")
    blocked = "These waits blocked the host for 5.00 us per device (on 2 threads in all)"
    assert said[3] == f"{blocked} with work still to launch."


def test_what_follows_a_wait_is_told_part_by_part() -> None:
    costs = _costs(load(ITEM_LOOP))
    [wait] = [one.wait for one in costs.found if one.wait is not None]
    assert wait.parts is not None
    assert sum(wait.parts) == wait.idle_ns == 196_000
    assert why_empty(wait).startswith("196 us idle = ")
    assert (wait.waits, wait.final) == (2, 1)


def test_counts_longest_and_places_are_said_of_a_wait() -> None:
    costs = _costs(load(ITEM_LOOP))
    [cost] = [one for one in costs.found if one.wait is not None]
    assert spread_words(cost, costs) == (
        "2 waits, the longest 400 us; 1 more at the end; costliest 98.0 us idle"
    )
    assert where_words(cost) == "aten::_local_scalar_dense"
    assert (title_of(cost), kind_of(cost)) == ("cudaStreamSynchronize", "stream sync")


def test_every_range_is_named_or_counted() -> None:
    assert and_more(["step 3"]) == "step 3"
    assert and_more(["step 3", "step 4", "step 5"]) == "step 3, step 4 and step 5"
    assert and_more(["step 3", "step 4", "step 5", "step 6"]) == "step 3, step 4 and 2 more"
    assert not and_more([])


def test_a_report_made_elsewhere_has_a_headline_without_a_context() -> None:
    report = made_report()
    said = headline(report, costs_of(report, None))
    assert said.sentences[0] == "Device 0 MI300X stood idle for 100 us, 20.0 % of its 500 us window."


def test_without_host_records_the_idle_time_has_no_causes_and_no_costs() -> None:
    trace = timeline(
        """
        stream 0 |.K0KKK....K0K
        """
    )
    report, context = report_and_context(trace)
    costs = costs_of(report, context)
    assert (costs.idle_ns, costs.found) == (4_000, ())
    said = headline(report, costs)
    assert said.style is Style.WARNING
    assert said.sentences[0].startswith("no host records")
    assert "stood idle for 4.00 us" in said.sentences[1]


def test_a_device_that_never_idles_was_busy_for_its_window() -> None:
    drawing = """
        host   1 |Ll....
        stream 0 |.KKKkk
        """
    report, context = report_and_context(timeline(drawing))
    costs = costs_of(report, context)
    assert headline(report, costs).sentences == (
        "Device 0 was busy for all of its 5.00 us window.",
        "No call waited for the device with work still to launch.",
    )


def test_a_call_that_keeps_a_launch_waiting_is_named() -> None:
    drawing = """
        host   1 |L..L..L..L..L..L.....LLLLLLLLLLLLLLLLLLLLLLLLLL
        stream 0 |.KK.KK.KK.KK.KK.KK..........................KKK
        """
    report, context = report_and_context(timeline(drawing, letter_ns=20_000))
    [inside] = [one for one in costs_of(report, context).found if one.cause is Cause.IN_CALL]
    assert [name for name, _ in inside.names] == ["hipLaunchKernel"]
    assert sum(ns for _, ns in inside.names) == inside.idle_ns > 0


def test_a_window_that_begins_before_the_first_op_names_the_call_that_keeps_it_waiting() -> None:
    drawing = """
        host   1 |.LLLLLLLLLLLLLLLLLLLLLLLLLLL.L..L..L..L..
        stream 0 |.........................KKKK.KK.KK.KK.KK
    """
    report, context = report_and_context(timeline(drawing, letter_ns=20_000), window=(0, 800_000))
    [inside] = [one for one in costs_of(report, context).found if one.cause is Cause.IN_CALL]
    assert inside.names == (("hipLaunchKernel", inside.idle_ns),)
    assert inside.idle_ns > 0


def test_waits_in_a_window_keep_their_stack_and_advice_and_earlier_ones_are_one_cost() -> None:
    trace = load(ITEM_LOOP)
    zero = int(trace.start_ns[0])
    report, context = report_and_context(trace, window=(zero + 474_000, zero + 948_000))
    costs = costs_of(report, context)
    assert costs.idle_ns == sum(one.idle_ns for one in costs.found) == 72_000
    [wait] = [one for one in costs.found if one.wait is not None]
    assert wait.wait is not None
    assert wait.wait.stack == ("aten::item", "aten::_local_scalar_dense")
    assert wait.advice is not None
    assert wait.advice.name == "sync_that_drains"  # one wait in the window is no loop


def test_idle_time_behind_a_wait_before_the_window_is_a_cost_without_advice() -> None:
    drawing = """
        host   1 |L.SSSSS....L.SSSSS...L..
        stream 0 |.KKKKKK.....KKKKKK....KK
    """
    report, context = report_and_context(timeline(drawing), window=(9_000, 24_000))
    for costs in (costs_of(report, context), costs_of(report, None)):
        found = {title_of(one): one.idle_ns for one in costs.found}
        assert found == {"hipDeviceSynchronize": 4_000, "waits outside of the window": 3_000}
        [outside] = [one for one in costs.found if one.wait is None]
        assert outside.advice is None
    [outside] = [one for one in costs_of(report, context).found if one.wait is None]
    assert (outside.gaps, outside.longest_ns, outside.spot) == (1, 3_000, (9_000, 12_000))


def test_a_window_with_idle_time_behind_earlier_waits_only_says_so() -> None:
    drawing = """
        host   1 |L.SSSSS....L...
        stream 0 |.KKKKKK.....KKK
    """
    report, context = report_and_context(timeline(drawing), window=(9_000, 15_000))
    said = headline(report, costs_of(report, context)).sentences[-1]
    assert said == "Waits outside of the window cost 3.00 us, 50.0 % of the window."


def test_a_framework_copy_and_its_synchronize_are_one_place() -> None:
    drawing = """
        host   1 |L.C1CCC.T0TTTTT.L....L.C2CCC.T0TTTTT.L...S0SS
        host   1 |..IIIIIIIIIIIII........IIIIIIIIIIIII.........
        stream 0 |.KKU1UUUUUUUU....K....KKU2UUUUUUUU.....K.....
        """
    trace = timeline(drawing, letter_ns=10_000)
    trace = trace.replace(names=tuple("aten::copy_" if one == "aten::op" else one for one in trace.names))
    waits = [one.wait for one in _costs(trace).found if one.wait is not None]
    [copy] = [wait for wait in waits if wait.op == "aten::copy_"]
    assert copy.calls == ("hipMemcpyAsync", "hipStreamSynchronize")
    assert copy.reason == Reason.PAGEABLE_COPY
    assert copy.copy is CopyKind.HOST_TO_DEVICE


def test_a_framework_op_that_copies_both_ways_keeps_its_places_apart() -> None:
    drawing = """
        host   1 |L.C1CCC.T0TTTTT.L....L.C2CCC.T0TTTTT.L...S0SS
        host   1 |..IIIIIIIIIIIII........IIIIIIIIIIIII.........
        stream 0 |.KKU1UUUUUUUU....K....KKD2DDDDDDDD.....K.....
        """
    trace = timeline(drawing, letter_ns=10_000)
    trace = trace.replace(names=tuple("aten::copy_" if one == "aten::op" else one for one in trace.names))
    waits = [one.wait for one in _costs(trace).found if one.wait is not None and one.wait.op]
    assert sorted(wait.calls for wait in waits) == [
        ("hipMemcpyAsync",),
        ("hipMemcpyAsync",),
        ("hipStreamSynchronize",),
    ]


def test_the_device_that_idles_unlike_the_others_is_named() -> None:
    lines = [
        f"""
    host   {number}           |L.{"." * late}L....
    device {number} stream 0  |.KK{"." * late}KKK.
    """
        for number, late in ((1, 1), (2, 1), (3, 9))
    ]
    trace = timeline("".join(lines))
    report, context = report_and_context(trace)
    first = headline(report, costs_of(report, context)).sentences[0]
    assert first.startswith("3 devices stood idle for 3.67 us of their 8.67 us on average, 42.3 % ")
    assert "(device 3: 64.3 %, the others: 16.7 %)" in first


def test_a_cost_of_many_short_gaps_leads_to_the_stretch_where_they_lie_closest() -> None:
    """The host is late by 1 us of every 10 us 40 times, then by 2 us of every 5 us five times."""
    host = "L" + "." * 9 + ".L........" * 40 + "..L.." * 5
    device = ".KKKKKKKKK" + "...KKKKKKK" * 40 + "...KK" * 5
    costs = _costs(timeline(f"\nhost 1   |{host}\nstream 0 |{device}\n"))
    late = next(one for one in costs.found if one.cause is Cause.HOST_LATE)
    assert (late.gaps, late.idle_ns, late.longest_ns) == (45, 50_000, 2_000)
    assert late.stretch is not None
    assert late.stretch.idle_ns == 4_000  # two of the last gaps fit into 2 % of 434 us
    assert late.stretch.end_ns - late.stretch.start_ns == 8_680
    assert late.stretch.start_ns >= 408_000
    assert longest_words(late) == "densest stretch (4.00 us in 8.68 us)"
    assert spot_of(late, 0) == f"#t={late.stretch.start_ns}:{late.stretch.end_ns}"


def test_a_stretch_with_room_for_one_gap_only_is_not_shown() -> None:
    """The host is late 29 times by 3 us; 2 % of about 300 us are 6 us."""
    host, device = "L" + "." * 9 + "...L......" * 29, ".KKKKKKKKK" + "....KKKKKK" * 29
    [late] = [
        one
        for one in _costs(timeline(f"\nhost 1   |{host}\nstream 0 |{device}\n")).found
        if one.cause is Cause.HOST_LATE
    ]
    assert (late.gaps, late.idle_ns, late.longest_ns) == (29, 87_000, 3_000)
    assert late.stretch is None
    assert longest_words(late) == "longest gap (3.00 us)"


def test_a_cost_of_few_gaps_leads_to_its_longest() -> None:
    [late] = [one for one in _costs(load(LOADER)).found if one.cause is Cause.HOST_LATE]
    assert late.stretch is None
    assert longest_words(late) == "longest gap (440 us)"


def test_gaps_before_the_lead_is_back_are_laid_on_the_waits_and_not_added_to_them() -> None:
    report, context = report_and_context(load(TRACES / "h200_fmha_bwd_sync_kineto.json.gz"))
    costs = costs_of(report, context)
    said = headline(report, costs)
    assert costs.waits_ns == 258_946
    assert costs.regaining_ns == 202_497
    assert said.sentences[-1] == (
        "While the host regained its lead after waits, the device idled up to another 202 us, "
        "3.7 % of the window (host late and launch on its way)."
    )
    rules = {one.advice.name for one in costs.found if one.advice is not None}
    assert {"lead_lost_to_waits", "launches_after_waits"} <= rules
    assert not {"short_gaps", "launches_one_by_one"} & rules


def test_where_gaps_after_waits_cost_most_the_waits_are_tried_first() -> None:
    trace = timeline(
        """
        host   1 |LlSSSSSSSSSSS..L..........LlLl.......................SSSS
        stream 0 |.KKKKKKKKKKKk...KK.........KkkkkkKKKKKKKKKKkkkkkkkkkkkkkk
        """
    )
    report, context = report_and_context(trace)
    costs = costs_of(report, context)
    assert costs.found[0].advice is not None
    assert costs.found[0].advice.name == "lead_lost_to_waits"
    first = headline(report, costs).first
    assert first is not None
    assert first.wait is not None


def test_recoveries_are_sought_once_for_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million waits that takes longer than all other costs together."""
    report, context = report_and_context(TWO_DEVICES)
    sought: list[int] = []

    def counted(context: Context, device: int) -> Intervals:
        sought.append(device)
        return recoveries(context, device)

    for module in ("overlap_lab.render.costs", "overlap_lab.metrics.recovery"):
        monkeypatch.setattr(f"{module}.recoveries", counted)
    costs_of(report, context)
    assert sought == list(context.devices)


def test_idle_time_behind_waits_is_told_once_where_no_clock_says_its_cause() -> None:
    """The first op starts before its launch and ends after the wait for it returned: no shift is right."""
    report, context = report_and_context(
        timeline(
            """
            host   1 |...L1SSS....L2...L3SSSS
            stream 0 |..K1KKKKKKK...K2...K3K.
            """
        )
    )
    for costs in (costs_of(report, context), costs_of(report, None)):
        assert costs.by_cause[Cause.UNKNOWN] == costs.idle_ns == 6_000
        told = [(one.cause, one.idle_ns) for one in costs.found if one.idle_ns]
        assert sorted(told) == [(Cause.DRAIN, 3_000), (Cause.UNKNOWN, 3_000)]


def test_idle_time_behind_host_functions_says_where_how_often_and_how_long() -> None:
    report, context = report_and_context(load(TRACES / "h200_fmha_bwd_async_kineto.json.gz"))
    costs = costs_of(report, context)
    assert headline(report, costs).sentences[1] == (
        "Costliest: behind a host function in backward layer 0 to 2 (5 gaps, the longest 245 us, the others "
        "about 68.7 us): 519 us, 9.6 % of the window."
    )
    assert (
        where_words(costs.found[0])
        == "backward layer 0 245 us, backward layer 1 138 us and backward layer 2 136 us"
    )


def test_ranges_that_count_on_are_one_and_others_are_named() -> None:
    assert ranges_words(["layer 0", "layer 2", "layer 1"]) == "layer 0 to 2"
    assert ranges_words(["layer 0", "layer 2", "layer 3"]) == "layer 0, layer 2 and layer 3"
    assert ranges_words(["layer 0", "layer 1"]) == "layer 0 and layer 1"
    assert ranges_words(["fwd 0", "bwd 1", "bwd 2"]) == "fwd 0, bwd 1 and bwd 2"
    assert ranges_words(["a 1 of 3", "a 2 of 3", "a 3 of 3"]) == "a 1 of 3, a 2 of 3 and a 3 of 3"
    assert ranges_words(["forward"]) == "forward"
    assert not ranges_words([])


def test_an_op_behind_a_host_function_without_a_range_is_named_by_its_framework_op() -> None:
    trace = timeline(
        """
        host   1 |LH.L....SSSSSSSS
        host   1 |...II...........
        stream 0 |.KKK....KKKKKKK.
        """
    )
    [cost] = [one for one in _costs(trace).found if one.cause is Cause.HOST_FUNCTION]
    assert cost.names == (("aten::op", cost.idle_ns),)
    assert (
        headline(*(report_and_context(trace)[0], _costs(trace)))
        .sentences[1]
        .startswith("Costliest: behind a host function in aten::op: ")
    )


def test_calls_that_did_not_all_empty_the_device_say_how_many_did() -> None:
    wait = next(one.wait for one in _costs(load(ITEM_LOOP)).found if one.wait is not None)
    assert calls_words(wait) == "2 calls"
    assert calls_words(replace(wait, drains=1)) == "2 calls (1 left a device empty)"
    assert calls_words(replace(wait, drains=0)) == "2 calls"
    assert calls_words(replace(wait, count=2, drains=1)) == "1 call"


STEPPED = timeline(
    """
    host   1 |OOOOOOOOOOooooooooooOOOOOOOOOO
    host   1 |L.........L.........L.........
    stream 0 |.KKKKKK....KKKKKKK...KKKKKKKKK
    """
)


def test_steps_of_one_device_are_told_by_their_median() -> None:
    names = tuple("ProfilerStep#1" if name == "range" else name for name in STEPPED.names)
    report, context = report_and_context(STEPPED.replace(names=names), steps=True)
    costs = costs_of(report, context)
    told = "3 steps, in the median 10.0 us long and 3.00 us idle (30.0 %)."
    assert told in headline(report, costs).sentences
    assert told not in headline(replace(report, tables={}), costs).sentences
    one = replace(report.tables["steps"], rows=report.tables["steps"].rows[:1])
    single = headline(replace(report, tables={**report.tables, "steps": one}), costs)
    assert not [words for words in single.sentences if "step" in words]


def test_of_several_series_of_steps_the_one_with_most_time_is_told() -> None:
    names = tuple("ProfilerStep#1" if name == "range" else name for name in STEPPED.names)
    report, context = report_and_context(STEPPED.replace(names=names), steps=True)
    steps = report.tables["steps"]
    at = [column.name for column in steps.columns].index("window")
    short = [(f"phase #{number}", *row[1:at], 1, *row[at + 1 :]) for number, row in enumerate(steps.rows * 2)]
    both = replace(report, tables={**report.tables, "steps": replace(steps, rows=(*short, *steps.rows))})
    assert any(one.startswith("3 steps, ") for one in headline(both, costs_of(report, context)).sentences)


def test_what_a_line_mends_is_told_after_the_costliest() -> None:
    trace = timeline(
        """
        host   1 |L.........L......L....
        host   1 |..OOOOOO....IIII......
        stream 0 |.KK.........KK......KK
        """,
        letter_ns=100_000,
    )
    words = {
        "range": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "aten::op": "Optimizer.zero_grad#SGD.zero_grad",
    }
    trace = trace.replace(names=tuple(words.get(name, name) for name in trace.names))
    report, context = report_and_context(trace)
    costs = costs_of(report, context)
    said = headline(report, costs)
    assert [
        one.advice.name for one in (said.first, said.then) if one is not None and one.advice is not None
    ] == [
        "loader_without_workers",
        "zero_grad",
    ]
    shown = report_text(report, costs=costs)
    assert "then: Gradients are zeroed one by one." in shown.replace("\n  ", " ")
    assert headline(report, replace(costs, devices=2)).then is None


def test_the_text_says_what_waits_may_cost_besides() -> None:
    report, context = report_and_context(load(TRACES / "h200_fmha_bwd_sync_kineto.json.gz"))
    shown = report_text(report, costs=costs_of(report, context), width=200)
    assert "While the host regained its lead after waits, the device idled up to another 202 us" in shown
