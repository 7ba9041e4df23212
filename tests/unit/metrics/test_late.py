"""What covers the idle time before late launches: a letter is 100 us, so that two are a long gap."""

from __future__ import annotations

from overlap_lab.analyze import report_and_context
from overlap_lab.metrics.late import LateGaps, late_gaps
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace
from tests.timeline import timeline

LETTER_NS = 100_000


def _drawn(drawing: str, **names: str) -> Trace:
    trace = timeline(drawing, LETTER_NS)
    return trace.replace(names=tuple(names.get(name, name) for name in trace.names))


def _late(trace: Trace, *landmarks: str) -> list[LateGaps]:
    report, context = report_and_context(trace)
    found = late_gaps(context, landmarks)
    late = sum(int(one.value or 0) for one in report.by_tag(f"device/idle/{Cause.HOST_LATE}") if one.scope)
    assert sum(one.idle_ns for one in found) == late
    return found


def test_the_innermost_row_that_covers_half_of_a_gap_names_it() -> None:
    [gap] = _late(
        _drawn(
            """
            host   1 |L.........L...
            host   1 |OOOOOOOOOOOOOO
            host   1 |...IIIII......
            stream 0 |.KK.........KK
            """
        )
    )
    assert (gap.name, gap.around) == ("aten::op", ("range", "aten::op"))
    assert (gap.gaps, gap.idle_ns, gap.covered_ns) == (1, 7 * LETTER_NS, 5 * LETTER_NS)
    assert (gap.start_ns, gap.end_ns) == (3 * LETTER_NS, 10 * LETTER_NS)
    assert gap.is_long


def test_a_row_that_covers_less_leaves_the_gap_to_what_is_around_it() -> None:
    [gap] = _late(
        _drawn(
            """
            host   1 |L.........L...
            host   1 |OOOOOOOOOOOOOO
            host   1 |...III........
            stream 0 |.KK.........KK
            """
        )
    )
    assert (gap.name, gap.covered_ns) == ("range", 7 * LETTER_NS)


def test_a_landmark_names_what_runs_inside_of_it() -> None:
    drawing = """
        host   1 |L.........L...
        host   1 |.OOOOOOOO.....
        host   1 |...IIIIII.....
        stream 0 |.KK.........KK
        """
    [plain] = _late(_drawn(drawing, range="enumerate(DataLoader)"))
    [marked] = _late(_drawn(drawing, range="enumerate(DataLoader)"), "DataLoader")
    assert (plain.name, plain.is_landmark) == ("aten::op", False)
    assert (marked.name, marked.is_landmark) == ("enumerate(DataLoader)", True)


def test_only_the_launching_thread_counts() -> None:
    [gap] = _late(
        _drawn(
            """
            host   1 |L.........L...
            host   2 |IIIIIIIIIIIIII
            stream 0 |.KK.........KK
            """
        )
    )
    assert (gap.name, gap.around, gap.covered_ns) == (None, (), 0)


def test_gaps_of_the_same_name_but_for_its_number_are_one_group() -> None:
    trace = _drawn(
        """
        host   1 |L......L........L..
        host   1 |...III...IIIIIII...
        stream 0 |.KK.....K.......KKK
        """
    )
    numbered = trace.names.index("aten::op")
    names = [*trace.names, "step 4"]
    code = trace.name.copy()
    ops = [at for at in range(len(trace)) if code[at] == numbered]
    code[ops[1]] = len(names) - 1
    names[numbered] = "step 3"
    [group] = _late(trace.replace(name=code, names=tuple(names)))
    assert (group.name, group.gaps) == ("step *", 2)
    assert group.end_ns - group.start_ns == 7 * LETTER_NS


def test_short_gaps_are_told_apart_from_long_ones() -> None:
    found = _late(
        _drawn(
            """
            host   1 |L..L.........L..
            host   1 |IIIIIIIIIIIIIIII
            stream 0 |.K..K.........KK
            """
        )
    )
    assert sorted((one.is_long, one.gaps) for one in found) == [(False, 1), (True, 1)]


def test_a_device_that_is_never_late_has_no_groups() -> None:
    drawing = """
        host   1 |Ll....
        stream 0 |.KKKkk
        """
    assert _late(timeline(drawing)) == []
