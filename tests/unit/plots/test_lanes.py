from __future__ import annotations

from overlap_lab.plots.lanes import Spans, device_lanes, host_lanes, merge_short, origin_ns
from tests.timeline import timeline


def test_each_thread_and_each_stream_has_its_lane_and_stream_zero_is_one() -> None:
    trace = timeline(
        """
        host   1 |L.....
        host   2 |.L..Z.
        stream 0 |..KK..
        stream 5 |...K.Z
        """
    )
    assert [lane.label for lane in host_lanes(trace)] == ["thread 1", "thread 2"]
    lanes = device_lanes(trace, 0)
    assert [lane.label for lane in lanes] == ["device 0 stream 0", "device 0 stream 5"]
    assert [[entry for entry, _ in lane.parts] for lane in lanes] == [["kernel"], ["kernel", "memset"]]


def test_times_count_from_the_first_record_as_in_the_tables() -> None:
    trace = timeline(
        """
        host   1 |..OOOO.
        host   1 |...L...
        stream 0 |....K..
        """
    )
    assert origin_ns(trace) == 2_000
    [(_, calls)] = host_lanes(trace)[0].parts
    assert calls.start_ns.tolist() == [1_000]


def test_few_bars_are_left_alone() -> None:
    spans = Spans.of([0, 1], [1, 2], ["a", "b"])
    assert merge_short(spans, pixel_ns=100, most=2) is spans


def test_short_bars_of_one_pixel_become_one_named_after_the_longest_and_keep_their_sum() -> None:
    spans = Spans.of([0, 4, 50], [2, 8, 51], ["a", "b", "c"])
    merged = merge_short(spans, pixel_ns=10, most=1)
    assert merged.start_ns.tolist() == [0, 50]
    assert merged.end_ns.tolist() == [8, 51]
    assert merged.covered_ns.tolist() == [6, 1]
    assert merged.names == ("b", "c")
    assert merged.events.tolist() == [2, 1]


def test_short_bars_of_different_pixels_stay_apart() -> None:
    spans = Spans.of([8, 10], [9, 11], ["a", "b"])
    assert len(merge_short(spans, pixel_ns=10, most=1)) == 2


def test_a_bar_that_can_be_seen_is_never_merged() -> None:
    spans = Spans.of([0, 10, 11, 12], [10, 11, 12, 13], ["long", "x", "y", "z"])
    merged = merge_short(spans, pixel_ns=10, most=1)
    assert merged.names == ("long", "x")
    assert merged.events.sum() == 4
