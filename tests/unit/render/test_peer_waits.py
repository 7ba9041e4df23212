"""Waits in collectives among the costs: their rank, share, words and advice, from a trace and its JSON."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from overlap_lab.analyze import analyze, report_and_context
from overlap_lab.render.cost_words import share_words, title_of
from overlap_lab.render.costs import Cost, Costs, costs_of
from overlap_lab.render.headline import cost_words, headline
from overlap_lab.render.html import PageSection, report_page
from overlap_lab.render.json import reports_from_json, reports_to_json
from overlap_lab.render.peer_waits import PEER_RULES, PeerWaits, advice_for_peers
from overlap_lab.render.text import report_text
from overlap_lab.trace import Trace
from tests.timeline import timeline

LATE = """
    host 1                      |L1L2L3.................................
    process 2 host 2            |L4L5L6.................................
    process 3 host 3            |.........L7L........L8L........L9L.....
    device 0 stream 0           |..N1NNNNNNNNNN.N2NNNNNNNNN.N3NNNNNNNN..
    process 2 device 1 stream 0 |..N4NNNNNNNNNN.N5NNNNNNNNN.N6NNNNNNNN..
    process 3 device 2 stream 0 |...........N7NN.......N8NN........N9N..
    """
TURNS = """
    host 1                      |L1L2L3L4.....................
    process 2 host 2            |L5L6L7L8.....................
    device 0 stream 0           |...N1NNNNN....N2N.N3NNNNN.N4N
    process 2 device 1 stream 0 |.......N5N..N6NNN.....N7N.N8N
    """


def costs_in(trace: Trace) -> tuple[Costs, Cost]:
    report, context = report_and_context(trace)
    costs = costs_of(report, context)
    assert costs.peers is not None
    return costs, costs.peers


def test_waits_for_a_straggler_are_a_cost_with_their_rank_and_share() -> None:
    costs, peers = costs_in(timeline(LATE))
    assert peers.device_ns == 2 * (9 + 7 + 7) * 1_000
    assert peers.idle_ns == 0
    assert costs.found[0] is peers
    words = cost_words(peers, costs)
    assert words == (
        "2 devices wait for device 2 in collectives: 15.3 us on average (47.9 %), counted as busy; were its "
        "host (22.0 us of launching) as fast as the next slowest (9.00 us), at most 14.0 us (43.8 %) would "
        "be gained"
    )
    assert peers.devices == ((0, 23_000), (1, 23_000))
    assert peers.longest_ns == 9_000


def test_idle_costs_still_sum_to_the_idle_time() -> None:
    costs, peers = costs_in(timeline(LATE))
    assert sum(one.idle_ns for one in costs.found) == costs.idle_ns
    assert costs.lost_ns == costs.idle_ns + peers.device_ns <= costs.window_ns


def test_a_straggler_with_a_late_host_leads_to_its_host() -> None:
    _, peers = costs_in(timeline(LATE))
    assert peers.advice is not None
    assert peers.advice.name == "straggler_with_a_late_host"


def test_the_only_device_that_waits_is_named_where_the_trace_is_there() -> None:
    peers = PeerWaits(1, 100, waiting=1)
    assert peers.title == "another device waits for device 1 in collectives"
    assert replace(peers, by_device=((0, 100),)).title == "device 0 waits for device 1 in collectives"


def test_ranks_whose_files_number_one_device_share_its_busy_time() -> None:
    """Two processes that each see their device as number 0."""
    trace = timeline(
        """
        part 0 process 1 device 0 stream 0 |N0NNNN.N0NNNN
        part 1 process 2 device 0 stream 0 |...N0N....N0N
        """
    )
    costs, peers = costs_in(trace)
    assert title_of(peers) == "device 0 waits for others in collectives"
    assert share_words(peers, costs) == "46.2 % of the window, counted as busy"
    assert replace(peers.peers, by_device=()).title == "one device waits for others in collectives"


def test_devices_that_take_turns_are_told_without_a_name() -> None:
    costs, peers = costs_in(timeline(TURNS))
    assert cost_words(peers, costs).startswith("2 devices wait for others in collectives: ")
    assert peers.advice is not None
    assert peers.advice.name == "turns"


@pytest.mark.parametrize(
    ("peers", "name"),
    [
        (PeerWaits(1, 100, waiting=2, late_ns=13), "straggler_with_a_late_host"),
        (PeerWaits(1, 100, waiting=2, late_ns=12, work_ns=13), "straggler_with_more_work"),
        (PeerWaits(1, 100, waiting=2, late_ns=12, work_ns=12), "straggler"),
        (PeerWaits(None, 100, waiting=2, late_ns=99, work_ns=99), "turns"),
        (PeerWaits(1, 100, waiting=2, late_ns=99, gain_ns=12), "straggler_by_a_hair"),
        (PeerWaits(1, 100, waiting=2, late_ns=99, gain_ns=13), "straggler_with_a_late_host"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_rule_speaks_where_it_applies_and_nowhere_else(peers: PeerWaits, name: str) -> None:
    assert advice_for_peers(peers).name == name
    others = [rule for rule in PEER_RULES if rule.name not in (name, "straggler")]
    assert not any(rule.applies(peers) for rule in others)


def test_a_trace_without_waits_in_collectives_has_no_such_cost() -> None:
    report, context = report_and_context(timeline("host 1   |L.LSSS\nstream 0 |.K0.KK".replace("K0", "KK")))
    assert costs_of(report, context).peers is None
    assert "collective" not in report_text(report)


def test_a_report_read_back_tells_the_same() -> None:
    report = analyze(timeline(LATE))
    [again] = reports_from_json(reports_to_json([report]), where="here")
    costs, read = costs_of(report, None), costs_of(again, None)
    assert read.peers == costs.peers is not None
    assert costs.peers is not None
    assert cost_words(costs.peers, costs) == cost_words(*_first(read))


def _first(costs: Costs) -> tuple[Cost, Costs]:
    assert costs.peers is not None
    return costs.peers, costs


def test_the_first_lines_tell_of_them_also_where_something_costs_more() -> None:
    report, context = report_and_context(timeline(LATE))
    costs = costs_of(report, context)
    assert costs.peers is not None
    more = replace(costs.found[1], idle_ns=costs.peers.device_ns + 1)
    told = headline(report, replace(costs, found=(more, *costs.found))).sentences
    assert sum("wait for device 2 in collectives" in sentence for sentence in told) == 1
    told = headline(report, costs).sentences
    assert sum("wait for device 2 in collectives" in sentence for sentence in told) == 1


def test_the_page_lists_them_and_keeps_a_kernels_name_text() -> None:
    trace = timeline(LATE)
    names = tuple(name.replace("Reduce", "Reduce_<script>alert(1)</script>") for name in trace.names)
    trace = trace.replace(names=names)
    report, context = report_and_context(trace)
    page = report_page([PageSection("a", trace, report, context)], title="a")
    assert '<tr data-cause="collectives">' in page
    assert "2 devices wait for device 2 in collectives" in page
    assert "device 2 started last in 3 of 3" in page
    assert 'data-rule="straggler_with_a_late_host"' in page
    assert "<script>alert" not in page


BY_A_HAIR = """
    process 1 host 1            |L1.........L2.........L3...........
    process 2 host 2            |..L4..........L5..........L6.......
    process 1 device 0 stream 0 |..N1NN.......N2NNN......N3NNNNN....
    process 2 device 1 stream 0 |....N4..........N5..........N6N....
    """


def test_where_all_hosts_are_slow_fewer_launches_come_first_and_it_says_why() -> None:
    report, context = report_and_context(timeline(BY_A_HAIR))
    costs = costs_of(report, context)
    said = headline(report, costs)
    assert costs.peers is not None
    assert costs.peers.advice is not None
    assert costs.peers.advice.name == "straggler_by_a_hair"
    assert said.first is not costs.peers
    assert said.odd is None
    gained = "at most 2.00 us (7.1 %) would be gained: all hosts are slow."
    assert any(one.endswith(gained) for one in said.sentences)


@pytest.mark.parametrize(
    ("gain_ns", "first"), [(20_000, "Most to gain: 2 devices wait"), (1_000, "Costliest: ")]
)
def test_where_most_is_gained_from_the_straggler_that_leads(gain_ns: int, first: str) -> None:
    report, context = report_and_context(timeline(LATE))
    costs = costs_of(report, context)
    assert costs.peers is not None
    assert costs.peers.peers is not None
    peers = replace(costs.peers, peers=replace(costs.peers.peers, gain_ns=gain_ns))
    more = replace(costs.found[1], idle_ns=costs.peers.device_ns + 1)
    said = headline(report, replace(costs, found=(more, peers)))
    assert said.sentences[1].startswith(first)
    assert (said.first is peers) == (gain_ns == 20_000)


def test_the_parts_of_the_window_add_up() -> None:
    report, context = report_and_context(timeline(LATE))
    costs = costs_of(report, context)
    said = headline(report, costs).sentences[0]
    shares = [float(one) for one in re.findall(r"([0-9.]+) %", said)]
    assert len(shares) == 3
    assert sum(shares) == pytest.approx(100, abs=0.15)


def test_the_bars_name_the_waits_apart_within_busy() -> None:
    trace = timeline(LATE)
    page = report_page([PageSection("a", trace, analyze(trace))], title="a")
    assert "working: 10.0 us, 28.6 % of its 35.0 us window" in page
    assert "waiting in collectives: 23.0 us, 65.7 % of its 35.0 us window" in page
    assert page.count("waiting in collectives: ") == 2
    assert "Collectives" in page


def test_the_terminal_warns_of_a_straggler() -> None:
    text = report_text(analyze(timeline(LATE)), width=200)
    assert "warning: device 2 started last in 3 of 3 collectives: 2 devices waited 46.0 us for it" in text
