"""Where a change comes from, as people read it: drawn steps with Python stacks around their waits."""

from __future__ import annotations

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.compare import compare
from overlap_lab.render.compare_markdown import comparison_to_markdown
from overlap_lab.trace import Trace
from tests.unit.compare.stepped import framed, stepped

STACK = (
    "runs/train.py(12): main",
    "runs/train.py(88): step",
    "torch/_tensor.py(40): wrapped",
    "<built-in method item of Tensor object at 0x7f00>",
)


def steps(count: int, *, late_us: int, drained_us: int) -> Trace:
    """Steps of two kernels: the second is launched late, then aten::item waits for it and drains the device.

    A step with 10 and 18 us, one letter a us: launch 1, kernel 30, late 10, launch 1, kernel 40, drained 18.
    """
    head = "L" + "." * 30 + "." * late_us + "L"
    waits, op = "." + "S" * 39, "." + "I" * 39
    lines = {
        "host   1 |": ["Oo"[n % 2] * (len(head) + 40 + drained_us) for n in range(count)],
        "host   1 | ": [head + waits + "." * drained_us] * count,
        "host   1 |  ": ["." * len(head) + op + "." * drained_us] * count,
        "stream 0 |": ["." + "K" * 30 + "." * (late_us + 1) + "K" * 40 + "." * drained_us] * count,
    }
    frames = ["." * len(head) + ".k" + "k" * 38 + "." * drained_us for _ in range(count)]
    drawn = [head.rstrip() + "".join(parts) for head, parts in lines.items()]
    drawn += ["host   1 |" + "".join(frames)] * len(STACK)
    trace = stepped("\n".join(drawn), name="ProfilerStep#{}")
    named = trace.replace(names=tuple("aten::item" if name == "aten::op" else name for name in trace.names))
    return framed(named, *STACK)


@pytest.fixture(scope="module")
def sides() -> tuple[Trace, Trace]:
    return steps(12, late_us=10, drained_us=18), steps(12, late_us=13, drained_us=27)


def test_a_slower_step_says_which_line_drains_and_what_else_is_late(sides: tuple[Trace, Trace]) -> None:
    said = str(compare(*sides))
    assert (
        "WORSE: 12.0 % slower per step than the baseline: medians 100 us -> 112 us (12 steps against 12)\n"
        in said
    )
    assert (
        "  +9.0 % drain after aten::item at train.py:88, +3.0 % host late (of the baseline's window)\n"
        in said
    )


def test_markdown_says_the_same(sides: tuple[Trace, Trace]) -> None:
    said = comparison_to_markdown(compare(*sides))
    assert (
        "- +9.0 % drain after aten::item at train.py:88, +3.0 % host late (of the baseline's window)\n"
        in said.replace("\\", "")
    )


def test_reports_of_whole_runs_name_the_line_as_well(sides: tuple[Trace, Trace]) -> None:
    said = str(compare(*(analyze(side) for side in sides)))
    assert "drain after aten::item at train.py:88" in said
    assert "built-in" not in said


def test_the_tables_of_a_report_name_the_line_of_the_users_own_file(sides: tuple[Trace, Trace]) -> None:
    report = analyze(sides[0])
    assert set(report.tables["waits"].to_pandas()["frame"]) == {"runs/train.py(88): step"}
    assert set(report.tables["drains"].to_pandas()["frame"]) == {"runs/train.py(88): step"}
