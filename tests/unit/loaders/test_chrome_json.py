"""Damaged Chrome JSON: the same rows where it can be mended, counted in any case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlap_lab.errors import BrokenTrace, OverlapLabError
from overlap_lab.loaders import load
from overlap_lab.loaders.kineto import read_kineto
from overlap_lab.schema import COLUMNS, Fault
from overlap_lab.trace import Trace, columns_of
from tests.unit.loaders.chrome import call, device_op, document, load_text

EVENTS = [
    call("cudaLaunchKernel", "0.000"),
    device_op("kernel", "k(float*, int)", "10.125"),
    call("cudaDeviceSynchronize", "12.000", "100", correlation=2),
]
PLAIN = document(EVENTS, baseTimeNanoseconds=1_700_000_000_000_000_000)


def same_rows(left: Trace, right: Trace) -> bool:
    names = [[trace.name_of(row) for row in range(len(trace))] for trace in (left, right)]
    return names[0] == names[1] and all(
        np.array_equal(columns_of(left)[column], columns_of(right)[column])
        for column in COLUMNS
        if column != "name"
    )


@pytest.fixture
def intact(tmp_path: Path) -> Trace:
    return load_text(tmp_path, PLAIN, "intact.json")


def inserted(text: str) -> Callable[[str], str]:
    """Damage that puts `text` among the kernel's arguments."""
    return lambda plain: plain.replace('"device": 0', text + '"device": 0')


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda text: text.replace("}]}", "},]}"), Fault.ROWS_REPAIRED),
        (inserted('"device": NaN, '), Fault.ROWS_REPAIRED),
        (inserted('"occupancy": Infinity, '), Fault.ROWS_REPAIRED),
        (inserted('"occupancy": -nan, '), Fault.ROWS_REPAIRED),
        (inserted('"path": "C:\\Users\\new", '), Fault.ROWS_REPAIRED),
        (inserted('"text": "a\x01\tb", '), Fault.ROWS_REPAIRED),
        (inserted('"text": "say "yes" now", '), Fault.ROWS_REPAIRED),
        (inserted('"device": 3, '), Fault.ROWS_REPAIRED),
        (lambda text: text.replace('"correlation": 1}', '"correlation": 1,}', 1), Fault.ROWS_REPAIRED),
        (lambda text: text.removesuffix("]}"), Fault.TRUNCATED),
        (lambda text: text.removesuffix("}"), Fault.TRUNCATED),
    ],
)
def test_mended_text_gives_the_same_rows(
    tmp_path: Path, intact: Trace, damage: Callable[[str], str], fault: Fault
) -> None:
    text = damage(PLAIN)
    assert text != PLAIN
    trace = load_text(tmp_path, text)
    assert same_rows(trace, intact)
    assert trace.source.faults == {fault: 1}
    assert trace.source.notes


def test_a_byte_order_mark_is_no_fault(tmp_path: Path, intact: Trace) -> None:
    trace = load_text(tmp_path, b"\xef\xbb\xbf" + PLAIN.encode())
    assert same_rows(trace, intact)
    assert not trace.source.faults


def test_utf_16_is_read(tmp_path: Path, intact: Trace) -> None:
    path = tmp_path / "wide.json"
    path.write_bytes(PLAIN.encode("utf-16"))
    assert same_rows(read_kineto(path), intact)


def test_quotes_in_a_name_are_kept(tmp_path: Path) -> None:
    name = '{"device": "cpu", "dtype": "float32"}(12): run'
    trace = load_text(tmp_path, PLAIN.replace("k(float*, int)", name))
    assert name in trace.names
    assert trace.source.faults == {Fault.ROWS_REPAIRED: 1}


def test_bytes_that_are_not_utf_8_are_replaced_and_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, PLAIN.encode().replace(b"k(float", b"k\xff\xfe(float"))
    assert "k\ufffd\ufffd(float*, int)" in trace.names
    assert trace.source.faults == {Fault.ROWS_REPAIRED: 1}


def test_an_event_beyond_repair_is_skipped_with_its_place(tmp_path: Path) -> None:
    whole = json.dumps(EVENTS[1])
    trace = load_text(tmp_path, PLAIN.replace(whole, whole.replace('"pid": 0', '"pid" 0')))
    assert len(trace) == 2
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 1}
    assert any("line 1, offset" in note for note in trace.source.notes)


def test_items_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, PLAIN.replace('"traceEvents": [', '"traceEvents": [7, '))
    assert trace.source.faults == {Fault.ROWS_SKIPPED: 1}


def test_deep_nesting_ends_in_a_counted_skip(tmp_path: Path) -> None:
    trace = load_text(tmp_path, inserted(f'"deep": {"[" * 100_000}, ')(PLAIN))
    assert trace.source.faults[Fault.ROWS_SKIPPED] >= 1


def test_a_file_that_is_cut_before_the_first_event_is_an_error(tmp_path: Path) -> None:
    at = PLAIN.index('"traceEvents"') + len('"traceEvents": [{"ph"')
    with pytest.raises(BrokenTrace, match=f"truncated at offset {at}"):
        load_text(tmp_path, PLAIN[:at])


def test_an_object_among_the_arguments_of_a_damaged_file_is_kept_whole(tmp_path: Path) -> None:
    nested = inserted('"stack": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}], ')(PLAIN)
    trace = load_text(tmp_path, nested.removesuffix("]}"))
    assert (len(trace), trace.source.faults) == (3, {Fault.TRUNCATED: 1})


def test_a_header_with_control_characters_keeps_its_numbers(tmp_path: Path, intact: Trace) -> None:
    text = PLAIN.replace('"schemaVersion"', '"name": "a\x01", "path": "C:\\q"x", "schemaVersion"')
    assert same_rows(load_text(tmp_path, text), intact)


def test_many_broken_events_take_time_in_proportion(tmp_path: Path) -> None:
    events = ",\n".join(json.dumps(call('say "hi"', n)).replace('\\"', '"') for n in range(5000))
    trace = load_text(tmp_path, f'{{"traceEvents": [{events}]}}')
    assert trace.source.faults == {Fault.ROWS_REPAIRED: 5000}


def test_nothing_but_broken_events_says_how_many(tmp_path: Path) -> None:
    broken = json.dumps(EVENTS[0]).replace('"pid": 100', '"pid" 100')
    with pytest.raises(BrokenTrace, match="2 could not be read"):
        load_text(tmp_path, f'{{"traceEvents": [{broken},\n{broken}]}}')


@pytest.mark.parametrize("text", [PLAIN, json.dumps(EVENTS), json.dumps(json.loads(PLAIN), indent=1)])
def test_a_cut_at_any_byte_is_counted_or_refused(tmp_path: Path, intact: Trace, text: str) -> None:
    for at in range(len(text)):
        try:
            trace = load_text(tmp_path, text[:at])
        except OverlapLabError:
            continue
        assert trace.source.faults
        assert len(trace) <= len(intact)


event = st.builds(
    call,
    st.sampled_from(["hipLaunchKernel", "hipMemcpy", 'odd "name" \\ here', "π"]),
    st.integers(0, 10**9),
    st.integers(0, 10**6),
    correlation=st.integers(0, 2**64 - 1),
)
spelling = st.sampled_from(["decimal", "padded", "string", "short string"])


def spelled(ns: int, how: str) -> str:
    """A time in us; between @ marks, whose quotes fall off, where it is to be a number."""
    text = f"{ns // 1000}.{ns % 1000:03}"
    if how == "short string":
        return text.rstrip("0").rstrip(".")
    return {"decimal": f"@{text}@", "padded": f"@{text}000@", "string": text}[how]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(event, min_size=1, max_size=12), spelling, st.booleans())
def test_every_spelling_gives_identical_columns(
    tmp_path: Path, events: list[Any], how: str, bare: bool
) -> None:
    written = [{**e, "ts": spelled(e["ts"], how), "dur": spelled(e["dur"], how)} for e in events]
    text = json.dumps(written if bare else {"schemaVersion": 1, "traceEvents": written})
    trace = load_text(tmp_path, text.replace('"@', "").replace('@"', ""))
    rows = sorted((e["ts"], -e["dur"]) for e in events)
    assert trace.start_ns.tolist() == [start for start, _ in rows]
    assert (trace.end_ns - trace.start_ns).tolist() == [-length for _, length in rows]
    assert sorted(trace.correlation.tolist()) == sorted(e["args"]["correlation"] for e in events)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.data())
def test_random_damage_raises_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(PLAIN.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path / "damaged.json"
    path.write_bytes(bytes(raw))
    try:
        trace = load(path)
    except OverlapLabError:
        return
    assert len(trace) >= 1
