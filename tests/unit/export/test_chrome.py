"""Chrome files: what was recorded loads again as it was, what was measured is beside it."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from overlap_lab.analyze import analyze
from overlap_lab.errors import UsageError
from overlap_lab.export import export_trace
from overlap_lab.loaders import find_inputs, load
from overlap_lab.schema import ABSENT, COLUMNS, Api, Fault, Kind
from overlap_lab.trace import Source, Trace, columns_of
from tests.reference.random_traces import random_trace
from tests.reference_readers.same import check_same
from tests.timeline import HOST, timeline

ROOT = Path(__file__).parents[3]
CASES = sorted((ROOT / "tests/cases/data").glob("[0-9]*"))
OWN = sorted((ROOT / "traces").glob("*.db"))
SAMPLES = ROOT.parent / "shared" / "samples"
DRAIN = """
host 1            |L....SSSSSS....L.
device 0 stream 7 |.KKKKKKKKK......KKKKKK
"""


def events_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["traceEvents"]  # type: ignore[no-any-return]


def well_named(trace: Trace) -> Trace:
    """The trace with the runtime's own names for its calls, which a file's reader goes by."""
    word = {api: name for _, api, name in HOST.values()}
    names = tuple(word.get(Api(number), f"kind {number}") for number in range(max(Api) + 1))
    return trace.replace(names=names, name=trace.api.astype(np.int32))


def leaves_a_process_out(trace: Trace) -> bool:
    """Whether an op of one of several processes has no id: Kineto's dialect cannot say whose it is."""
    alone = trace.is_device & (trace.correlation == 0)
    return bool(alone.any()) and np.unique(trace.process[trace.is_host_call]).size > 1


def same_numbers(trace: Trace, again: Trace) -> None:
    one, other = analyze(trace), analyze(again)
    assert one.measurements == other.measurements
    assert {name: table for name, table in one.tables.items() if name != "quality"} == {
        name: table for name, table in other.tables.items() if name != "quality"
    }


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_every_case_loads_again_with_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    tried = 0
    for found in find_inputs(folder):
        try:
            trace = load(found)
        except Exception:  # noqa: BLE001 -- what is refused has tests of its own
            continue
        tried += 1
        same_numbers(trace, load(export_trace(trace, tmp_path / f"{tried}.json", to="chrome")))
    assert tried


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_own_captures_load_again_with_calls_streams_and_source(path: Path, tmp_path: Path) -> None:
    trace = load(path)
    again = load(export_trace(trace, tmp_path / "again.json.gz", to="chrome"))
    same_numbers(trace, again)
    assert (trace.stream[trace.is_host_call] != ABSENT).any()
    for name in set(COLUMNS) - {"name", "thread", "part"}:
        np.testing.assert_array_equal(columns_of(trace)[name], columns_of(again)[name], name)
    for name in ("vendor", "format", "clock", "devices", "null_streams", "nonblocking_streams", "metadata"):
        assert getattr(again.source, name) == getattr(trace.source, name)
    assert f"Exported by overlap_lab from {path}." in again.source.notes


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the captures of ../shared are not here")
@pytest.mark.parametrize(
    "name",
    [
        "kineto_nvidia/hta_cuda_event_sync.json.gz",
        "kineto_amd/hta_mi250_minitoy_train_ROCm6_2.json.gz",
        "rocpd_db/hgliu_batched_gemm_28_results.db",
        "nsys_sqlite/nsys-ai_mock.sqlite",
    ],
)
def test_real_captures_load_again_with_the_same_numbers(name: str, tmp_path: Path) -> None:
    trace = load(SAMPLES / name)
    same_numbers(trace, load(export_trace(trace, tmp_path / "again.json", to="chrome")))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 10_000))
def test_random_traces_load_again_with_the_same_numbers(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    trace = well_named(random_trace(seed))
    assume(not leaves_a_process_out(trace))
    path = tmp_path_factory.mktemp("chrome") / "again.json"
    same_numbers(trace, load(export_trace(trace, path, to="chrome")))


def test_waits_drains_causes_and_counters_are_beside_the_events(tmp_path: Path) -> None:
    path = export_trace(timeline(DRAIN), tmp_path / "t.json", to="chrome")
    measured = [event for event in events_of(path) if event.get("cat") == "overlap_lab"]
    spans = [(e["name"], e["ts"], e["dur"]) for e in measured if e["ph"] == "X"]
    assert ("hipDeviceSynchronize (device_sync)", 5, 6) in spans
    assert [span for span in spans if span[0] in ("return", "refill", "launch")] == [
        ("return", 10, 1),
        ("refill", 11, 4),
        ("launch", 15, 1),
    ]
    assert ("drain after hipDeviceSynchronize", 10, 6) in spans
    assert ("idle: drain", 10, 6) in spans
    depth = [(e["ts"], e["args"]["count"]) for e in measured if e["ph"] == "C" and "depth" in e["name"]]
    assert depth == [(1, 1), (10, 0), (16, 1), (22, 0)]
    work = [(e["ts"], e["args"]["ns"]) for e in measured if e["ph"] == "C" and "work" in e["name"]]
    assert work == [(1, 9000), (10, 0), (16, 6000), (22, 0)]
    assert ("return latency", 10, 1) in spans
    flows = [(e["ph"], e["pid"], e["ts"]) for e in measured if e["ph"] in "sf"]
    assert flows == [("s", 0, 9.999), ("f", -1, 10)]


def test_overlapping_ops_have_lanes_of_their_own_and_keep_their_stream(tmp_path: Path) -> None:
    trace = timeline("""
host 1            |L.L.L.
device 0 stream 1 |.KKKK..
device 0 stream 2 |...KK..
device 0 stream 3 |.....KK
""")
    trace = trace.replace(stream=np.where(trace.is_device, 7, trace.stream))
    path = export_trace(trace, tmp_path / "t.json", to="chrome")
    kernels = [event for event in events_of(path) if event.get("cat") == "kernel"]
    assert [kernel["args"]["stream"] for kernel in kernels] == [7, 7, 7]
    assert kernels[0]["tid"] == kernels[2]["tid"] != kernels[1]["tid"]
    named = [e["args"]["name"] for e in events_of(path) if e["ph"] == "M" and "lane" in e["args"]["name"]]
    assert named == ["stream 7: ops, lane 2"]
    np.testing.assert_array_equal(load(path).stream, trace.stream)


def test_a_row_that_crosses_another_of_its_thread_has_a_lane_and_keeps_its_thread(tmp_path: Path) -> None:
    trace = timeline("""
host 1            |OOOO....LlL
host 1            |..OOOOO....
device 0 stream 7 |........KkK
""")
    path = export_trace(trace, tmp_path / "t.json", to="chrome")
    shown = [event["tid"] for event in events_of(path) if event.get("cat") == "user_annotation"]
    assert shown[0] == 1
    assert shown[1] >= 1 << 30
    again = load(path)
    np.testing.assert_array_equal(again.thread, trace.thread)
    np.testing.assert_array_equal(again.depth, trace.depth)
    same_numbers(trace, again)


def test_as_many_lanes_as_rows_keep_their_thread(tmp_path: Path) -> None:
    """Looking through all lanes for each row, or through all rows for each lane, would take minutes."""
    rows, times = 20_000, np.arange(20_000) * 1_000
    columns = {"start_ns": times, "end_ns": times + rows * 1_000, "kind": np.full(rows, Kind.CPU_OP)}
    same = {"name": np.zeros(rows, np.int32), "process": np.ones(rows, np.int32)}
    threads = {"thread": 7 + np.arange(rows) % 2}
    trace = Trace.from_columns(columns | same | threads, names=("op",), source=Source())
    path = export_trace(trace, tmp_path / "t.json", to="chrome")
    assert len({event["tid"] for event in events_of(path) if event["ph"] == "X"}) == rows
    np.testing.assert_array_equal(load(path).thread, trace.thread)


BAD_LANES: list[tuple[object, int]] = [
    (7, 1),
    (None, 1),
    ([1], 1),
    ({}, 0),
    ({"a": 1, "": 1, "1.5": 1, "-1": 1, str(10**30): 1}, 5),
    ({"1": None, "2": [], "3": 3.5, "4": "x", "5": True, "6": 10**30, "1073741824": 1}, 6),
]


@pytest.mark.parametrize(("lanes", "bad"), BAD_LANES)
def test_lanes_that_nobody_wrote_so_change_nothing_and_are_counted(
    lanes: object, bad: int, tmp_path: Path
) -> None:
    trace = timeline(DRAIN)
    path = export_trace(trace, tmp_path / "t.json", to="chrome")
    text = json.loads(path.read_text())
    path.write_text(json.dumps(text | {"overlap_lab_threads": lanes}))
    again = load(path)
    np.testing.assert_array_equal(again.thread, trace.thread)
    np.testing.assert_array_equal(again.start_ns, trace.start_ns)
    assert again.source.faults.get(Fault.ROWS_REPAIRED, 0) == bad
    assert any(
        f"overlap_lab_threads does not say of {bad} lanes" in one for one in again.source.notes
    ) == bool(bad)


def test_the_plain_reader_reads_an_export_alike(tmp_path: Path) -> None:
    for path in OWN:
        trace = load(path).replace(source=Source())
        written = export_trace(trace, tmp_path / f"{path.stem}.json", to="chrome")
        text = json.loads(written.read_text())
        del text["overlap_lab_trace"], text["overlap_lab_found"], text["overlap_lab_threads"]
        written.write_text(json.dumps(text))
        assert isinstance(check_same(written), Trace)


def test_parts_that_share_ids_and_processes_stay_apart(tmp_path: Path) -> None:
    trace = timeline(DRAIN)
    two = {name: np.concatenate([column, column]) for name, column in columns_of(trace).items()}
    two["part"] = np.repeat([0, 1], len(trace)).astype(np.int32)
    two["device"][len(trace) :] = np.where(two["device"][len(trace) :] < 0, two["device"][len(trace) :], 5)
    both = Trace.from_columns(two, names=trace.names, source=trace.source)
    again = load(export_trace(both, tmp_path / "t.json", to="chrome"))
    found, expected = analyze(again), analyze(both)
    for tag in ("drain/count", "device/idle/drain", "quality/unlinked_ops"):
        assert [m.value for m in found.by_tag(tag)] == [m.value for m in expected.by_tag(tag)]
    assert "2 parts in one file: correlation ids were numbered anew." in again.source.notes
    assert any("share their number" in note for note in again.source.notes)


def test_faults_and_odd_names_survive(tmp_path: Path) -> None:
    trace = timeline(DRAIN)
    source = replace(trace.source, faults={Fault.ROWS_SKIPPED: 3}, notes=("Three were lost.",))
    trace = trace.replace(
        names=tuple(f'{name}</script>"\\\n\u2028\U0001f600' for name in trace.names), source=source
    )
    again = load(export_trace(trace, tmp_path / "t.json", to="chrome"))
    assert sorted(again.names) == sorted(trace.names)
    assert again.source.faults == {Fault.ROWS_SKIPPED: 3}
    assert again.source.notes[0] == "Three were lost."


def test_an_export_whose_origin_is_damaged_says_so(tmp_path: Path) -> None:
    path = export_trace(timeline(DRAIN), tmp_path / "t.json", to="chrome")
    text = json.loads(path.read_text())
    text["overlap_lab_trace"] = {"format": 5}
    path.write_text(json.dumps(text))
    assert any("Where this export came from cannot be read" in note for note in load(path).source.notes)


def test_gz_is_by_name_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    trace = timeline(DRAIN)
    one, two = (export_trace(trace, tmp_path / f"{n}.json.gz", to="chrome").read_bytes() for n in (1, 2))
    assert one == two
    plain = export_trace(trace, tmp_path / "t.json", to="chrome").read_bytes()
    assert gzip.decompress(one) == plain


def test_an_empty_trace_is_written(tmp_path: Path) -> None:
    path = export_trace(Trace.from_columns({}, names=(), source=Source()), tmp_path / "t.json", to="chrome")
    assert [event["ph"] for event in events_of(path)] == ["M"]


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = export_trace(timeline(DRAIN), tmp_path / "t.json", to="chrome")
    with pytest.raises(UsageError, match="exists already"):
        export_trace(timeline(DRAIN), path, to="chrome")
    export_trace(timeline(DRAIN), path, to="chrome", force=True)
    with pytest.raises(UsageError, match="is a folder"):
        export_trace(timeline(DRAIN), tmp_path, to="chrome")
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        export_trace(timeline(DRAIN), tmp_path / "no" / "t.json", to="chrome")
    with pytest.raises(UsageError, match="there is no 'otf2'"):
        export_trace(timeline(DRAIN), tmp_path / "t.otf2", to="otf2")
