"""What covers the idle time before late launches: a letter is 100 us, so that two are a long gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.metrics import late
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.late import LONG_GAP_NS, LateGaps, late_gaps
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, Cause, Kind
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

LETTER_NS = 100_000


def _drawn(drawing: str, **names: str) -> Trace:
    trace = timeline(drawing, LETTER_NS)
    return trace.replace(names=tuple(names.get(name, name) for name in trace.names))


def _late(trace: Trace, *landmarks: str) -> list[LateGaps]:
    report, context = report_and_context(trace)
    found = late_gaps(context, landmarks)
    idle = sum(int(one.value or 0) for one in report.by_tag(f"device/idle/{Cause.HOST_LATE}") if one.scope)
    assert sum(one.idle_ns for one in found) == idle
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


def test_threads_are_sorted_together_and_each_gap_has_the_op_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sort for each thread reads all rows for each: 7.5 s for 40,000 threads."""
    sorted_sizes: list[int] = []
    real = late.order

    def counted(*columns, descending=0):
        sorted_sizes.append(columns[0].size)
        return real(*columns, descending=descending)

    monkeypatch.setattr(late, "order", counted)
    sorts = {}
    for threads in (2, 12):
        _, context = report_and_context(_in_turns(threads))
        sorted_sizes.clear()
        found = late_gaps(context)
        sorts[threads] = len(sorted_sizes)
        expected = {(f"work of {'abcdefghijkl'[at]}", 1, 5 * LETTER_NS) for at in range(1, threads)}
        assert {(one.name, one.gaps, one.idle_ns) for one in found} == expected
    assert sorts[2] == sorts[12]


def _in_turns(threads: int) -> Trace:
    """Each thread works for 5 letters, then launches; each op takes 3 letters."""
    lines = [f"stream 0         |{'......KK' * threads}"]
    for at in range(threads):
        before, after = "........" * at, "........" * (threads - 1 - at)
        lines += [f"host   {at + 1:<10}|{before}OOOOOL..{after}"]
    trace = timeline("\n".join(lines), LETTER_NS)
    ranges = np.flatnonzero(trace.kind == Kind.RANGE)
    name = trace.name.copy()
    name[ranges] = len(trace.names) + trace.thread[ranges] - 1
    return trace.replace(name=name, names=(*trace.names, *(f"work of {who}" for who in "abcdefghijkl")))


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


def _made(seed: int) -> Trace:
    """Two threads that launch late, each onto a device of its own, under rows that nest at random."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, int]] = []
    for thread in (1, 2):
        at = int(random.integers(0, 50_000))
        for number in range(30):
            call = {"start_ns": at, "end_ns": at + 5_000, "kind": Kind.API, "api": Api.LAUNCH, "name": 0}
            rows.append({**call, "thread": thread, "correlation": 100 * thread + number})
            start, length = at + 8_000, int(random.integers(5_000, 40_000))
            op = {
                "start_ns": start,
                "end_ns": start + length,
                "kind": Kind.KERNEL,
                "api": Api.NONE,
                "name": 1,
            }
            rows.append({**op, "thread": ABSENT, "correlation": 100 * thread + number, "device": thread})
            at = start + length + int(random.choice([20_000, 90_000, 400_000]))
        _nest(rows, random, thread, 0, at, 0)
    columns = {key: [row.get(key, {"device": ABSENT_DEVICE}.get(key, 0)) for row in rows] for key in _KEYS}
    columns["process"] = [1] * len(rows)
    columns["stream"] = [0 if row["kind"] == Kind.KERNEL else ABSENT for row in rows]
    names = ("hipLaunchKernel", "kernel", *(f"level {'abcdef'[depth]}" for depth in range(6)))
    return Trace.from_columns(columns, names=names, source=Source(vendor="amd"))


_KEYS = ("start_ns", "end_ns", "kind", "api", "name", "thread", "correlation", "device")


def _nest(
    rows: list[dict[str, int]], random: np.random.Generator, thread: int, low: int, high: int, depth: int
) -> None:
    """Rows inside of [low, high), each with rows inside of it."""
    if depth == 6 or high - low < 2_000:
        return
    cuts = sorted({low, high, *(int(cut) for cut in random.integers(low, high, 3))})
    for start, end in itertools.pairwise(cuts):
        if random.random() < 0.7:
            kind = (Kind.RANGE, Kind.CPU_OP, Kind.PYTHON)[depth % 3]
            row = {"start_ns": start, "end_ns": end, "kind": kind, "api": Api.NONE, "name": 2 + depth}
            rows.append({**row, "thread": thread})
            _nest(rows, random, thread, start + 1, end - 1, depth + 1)


def _covers(trace: Trace, thread: int, start: int, end: int) -> tuple[str | None, int]:
    """By looking at every row: the innermost that covers half of a gap, and how much it covers."""
    best: tuple[str | None, int] = (None, 0)
    for row in range(len(trace)):
        if trace.kind[row] in (Kind.RANGE, Kind.CPU_OP, Kind.PYTHON) and trace.thread[row] == thread:
            covered = min(int(trace.end_ns[row]), end) - max(int(trace.start_ns[row]), start)
            if covered > 0 and 2 * covered >= end - start:
                best = (trace.name_of(row), covered)  # rows stand by start, the longer first: inwards
    return best


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_of_a_look_at_every_row(seed: int) -> None:
    trace = _made(seed)
    context = report_and_context(trace)[1]
    wanted: dict[tuple[int, str | None, bool], list[int]] = {}
    for device in (1, 2):
        segments = context.idle[device]
        late = segments.cause == CAUSES.index(Cause.HOST_LATE)
        for start, end in zip(segments.start[late].tolist(), segments.end[late].tolist(), strict=True):
            name, covered = _covers(trace, device, start, end)  # a device is fed by the thread of its number
            sums = wanted.setdefault((device, name, end - start >= LONG_GAP_NS), [0, 0, 0])
            for at, more in enumerate((1, end - start, covered)):
                sums[at] += more
    found = {
        (one.device, one.name, one.is_long): [one.gaps, one.idle_ns, one.covered_ns]
        for one in late_gaps(context)
    }
    assert len(wanted) > 4
    assert found == wanted
