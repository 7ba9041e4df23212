"""What an allowance takes out of a budget: by anything around the call, in any range around it."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.compare.allowances import names_frame
from overlap_lab.compare.budget import Budget, parse_allowance, parse_rule
from overlap_lab.compare.check import check
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import framed

FRAMES = ("/runs/train.py(20): main", "/runs/fmha.py(11): step", "/v/site-packages/torch/_ops.py(7): f")
OPS = ("aten::item", "aten::_local_scalar_dense")
RANGES = ("epoch 1", "logging")


def renamed(trace: Trace, kind: Kind, names: tuple[str, ...]) -> Trace:
    """The rows of a kind called so, in order of start."""
    rows, name = np.flatnonzero(trace.kind == kind), trace.name.copy()
    name[rows] = len(trace.names) + np.arange(rows.size)
    return trace.replace(names=(*trace.names, *names[: rows.size]), name=name)


def nested() -> Trace:
    """One drain, inside of two ranges, three frames and two framework ops; the next launch is outside."""
    trace = timeline(
        """
        host   1 |OOOOOOOOOOOOOOOOOOOO....
        host   1 |.OOOOOOOOOOOOOOOOOO.....
        host   1 |..KKKKKKKKKKKKKKKK......
        host   1 |...KKKKKKKKKKKKKK.......
        host   1 |....KKKKKKKKKKKK........
        host   1 |.....IIIIIIIIII.........
        host   1 |......IIIIIIII..........
        host   1 |L......SSSSSS........L..
        stream 0 |.KKKKKKKKKKKK.........KK
        """
    )
    return framed(renamed(renamed(trace, Kind.RANGE, RANGES), Kind.CPU_OP, OPS), *FRAMES)


def passed(trace: Trace, wait: str) -> int:
    """How many waits it lets pass."""
    [passed] = check(
        trace, Budget((parse_rule("drain/count = 0"),), (parse_allowance(wait, "it is the point"),))
    ).allowed
    return passed.waits


@pytest.mark.parametrize(
    "wait",
    [
        "hipDeviceSynchronize",
        "hipDevice*",
        "aten::item",
        "aten::_local_scalar_dense",
        "*fmha.py*",
        "fmha.py:11",
        "runs/fmha.py:11",
        "/runs/fmha.py:11",
        "fmha.py",
        "step",
        "/runs/fmha.py(11): step",
        "main",
        "train.py:*",
        'hipDeviceSynchronize in "logging"',
        'hipDeviceSynchronize in "epoch 1"',
        'aten::item in "epoch *"',
        'step in range "logging"',
    ],
)
def test_whatever_is_around_the_call_names_it(wait: str) -> None:
    assert passed(nested(), wait) == 1


@pytest.mark.parametrize(
    "wait",
    [
        "hipMemcpy",
        "aten::add",
        "fmha.py:12",
        "ha.py:11",
        "ste",
        "logging",
        'hipDeviceSynchronize in "elsewhere"',
        'hipMemcpy in "logging"',
        'hipDeviceSynchronize in "epoch"',
    ],
)
def test_nothing_else_does(wait: str) -> None:
    assert passed(nested(), wait) == 0


def test_a_range_covers_the_calls_of_all_threads_of_its_process_that_begin_in_it() -> None:
    drawing = """
        host {} process {} |OOOOOOOOOOOOOO..........
        host 1 process 1 |L.SSSSSSS....L.SSSSSSS..L.
        stream 0 process 1 |.KKKKKKKK.....KKKKKKKK...K
    """
    lines = [line.split("|") for line in drawing.strip().splitlines()]

    def drawn(thread: int, process: int) -> Trace:
        return timeline("\n".join(f"{a.strip().format(thread, process):<24}|{b}" for a, b in lines))

    assert passed(drawn(1, 1), 'hipDevice* in "range"') == 1
    assert passed(drawn(2, 1), 'hipDevice* in "range"') == 1
    assert passed(drawn(2, 2), 'hipDevice* in "range"') == 0
    assert passed(drawn(1, 1), "hipDevice*") == 2


def test_a_frame_that_leads_to_no_file_is_named_as_it_is_spelt() -> None:
    name = "<built-in method item of Tensor object at 0x7f00>"
    assert names_frame("*method item of*", name)
    assert not names_frame("item", name)
