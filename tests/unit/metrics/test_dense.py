"""The stretch of time that holds most of some spans."""

from __future__ import annotations

import numpy as np

from overlap_lab.metrics.dense import Spans, Stretch, densest_stretch, no_spans


def _spans(*pairs: tuple[int, int]) -> Spans:
    start, end = np.array(pairs, np.int64).T
    return start, end


def test_the_stretch_with_most_spans_is_found_where_they_lie_closest() -> None:
    spans = _spans((0, 2), (20, 22), (23, 25), (26, 28), (50, 55))
    assert densest_stretch(spans, 8) == Stretch(20, 28, 6)


def test_a_part_of_a_span_counts_as_far_as_it_lies_inside() -> None:
    assert densest_stretch(_spans((10, 12), (14, 30)), 10) == Stretch(14, 24, 10)
    assert densest_stretch(_spans((10, 18), (20, 22)), 9) == Stretch(9, 18, 8)


def test_spans_may_come_in_any_order() -> None:
    assert densest_stretch(_spans((40, 43), (5, 6), (45, 47)), 7) == Stretch(40, 47, 5)


def test_without_spans_there_is_no_stretch() -> None:
    assert densest_stretch(no_spans(), 10) is None


def test_no_other_stretch_holds_more() -> None:
    random = np.random.default_rng(4)
    for length in (1, 3, 10, 40):
        edges = np.unique(random.integers(0, 200, 24))
        start, end = edges[:-1:2], edges[1::2]
        start = start[: end.size]
        is_idle = np.zeros(400, np.int64)
        for first, last in zip(start.tolist(), end.tolist(), strict=True):
            is_idle[first:last] = 1
        found = densest_stretch((start, end), length)
        assert found is not None
        assert found.idle_ns == max(is_idle[at : at + length].sum() for at in range(300))
        assert found.idle_ns == is_idle[max(found.start_ns, 0) : found.end_ns].sum()


def test_of_very_many_spans_the_dense_part_is_found() -> None:
    """100,000 spans of 1 ns every 10 ns, but for 10,000 of them, which come every 2 ns."""
    start = np.concatenate((np.arange(0, 900_000, 10), np.arange(900_000, 920_000, 2)))
    found = densest_stretch((start, start + 1), 10_000)
    assert found is not None
    assert found.start_ns >= 899_990
    assert found.idle_ns == 5_000
