"""Values around the events that are longer than the events: read in bounded time, no rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from overlap_lab.loaders.long_header import LONGEST_HEADER, shortened
from overlap_lab.schema import Fault
from overlap_lab.trace import Trace
from tests.unit.loaders.chrome import call, device_op, load_text

EVENTS = [call("cudaLaunchKernel", 0), device_op("kernel", "k", 10)]
DEVICE = {"id": 0, "name": "a device"}
STRAY = json.dumps(call("cudaLaunchKernel", 5))
STRAYS = ",\n".join([STRAY] * (LONGEST_HEADER // len(STRAY) + 1))
LONG = f'"deviceProperties": [{json.dumps(DEVICE)}, {STRAYS}]'
LAST = '"traceName": "last"'


def before(text: str) -> str:
    return f'{{"schemaVersion": 1, {text}, {LAST}, "traceEvents": {json.dumps(EVENTS)}}}'


def behind(text: str) -> str:
    return f'{{"schemaVersion": 1, "traceEvents": {json.dumps(EVENTS)}, {text}, {LAST}}}'


def note_of(trace: Trace) -> bool:
    return any("of other values than events" in note for note in trace.source.notes)


@pytest.mark.parametrize("around", [before, behind])
def test_events_that_stand_in_another_list_are_no_rows(tmp_path: Path, around: Callable[[str], str]) -> None:
    trace = load_text(tmp_path, around(LONG))
    assert (len(trace), trace.source.devices, trace.source.faults) == (2, {0: "a device"}, {})
    assert note_of(trace)


@pytest.mark.parametrize("around", [before, behind])
def test_repairs_in_what_is_left_out_are_counted(tmp_path: Path, around: Callable[[str], str]) -> None:
    trace = load_text(tmp_path, around(LONG.replace("]", ', {"a": 1, "a": NaN}]')))
    assert (len(trace), trace.source.faults) == (2, {Fault.ROWS_REPAIRED: 1})


def test_a_cut_in_a_long_value_is_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, behind(LONG)[:-100])
    assert (len(trace), trace.source.faults) == (2, {Fault.TRUNCATED: 1})


def test_a_long_value_that_is_broken_leaves_the_plain_keys(tmp_path: Path) -> None:
    text = behind(f'"baseTimeNanoseconds": 2000, {LONG.replace(STRAY, "{]", 1)}')
    trace = load_text(tmp_path, text)
    assert (len(trace), trace.source.faults) == (2, {Fault.TRUNCATED: 1})
    assert trace.start_ns[0] == load_text(tmp_path, behind('"baseTimeNanoseconds": 2000')).start_ns[0]


def test_the_longest_values_go_first() -> None:
    members = {"short": "s", "object": {"a": "x" * LONGEST_HEADER}, "list": [1, "x" * LONGEST_HEADER, 2]}
    found = shortened(bytearray(json.dumps(members).encode()))
    assert found is not None
    assert json.loads(found[0]) == {"short": "s", "object": None, "list": [1]}


def test_text_that_is_long_in_another_way_is_left_alone() -> None:
    many = {f"key {n}": n for n in range(LONGEST_HEADER // 12)}
    assert shortened(bytearray(json.dumps(many).encode())) is None
    assert shortened(bytearray(b"[1]")) is None
