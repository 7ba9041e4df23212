"""Repeated Kineto and rocprofv3 JSON: N copies hold N times what one holds, with ids of their own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from overlap_lab import load
from scripts.bench.own_kineto import DIALECTS, write_kineto
from scripts.bench.own_tables import write_rocprof_json
from scripts.bench.repeated_json import kineto_copies, members, repeat_kineto, repeat_rocprof, rocprof_copies
from scripts.bench.repeated_text import Unrepeatable
from scripts.bench.verified import numbers_of, verify_kineto

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples"
LARGEST_BYTES = 500_000
Event = dict[str, Any]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_copies_of_every_dialect_hold_multiples(dialect: str, tmp_path: Path) -> None:
    write_kineto(DIALECTS[dialect], tmp_path / "capture.json")
    verify_kineto(tmp_path / "capture.json", tmp_path)
    assert numbers_of(tmp_path / "capture.json")["kernels"] == 192


@pytest.mark.skipif(not SAMPLES.exists(), reason="no samples beside the project")
def test_copies_of_real_captures_hold_multiples(tmp_path: Path) -> None:
    captures = [path for path in SAMPLES.glob("kineto_*/*") if path.stat().st_size < LARGEST_BYTES]
    assert captures
    for capture in captures:
        verify_kineto(capture, tmp_path)


def repeated(capture: dict[str, Any] | str, tmp_path: Path, copies: int = 3) -> dict[str, Any]:
    text = capture if isinstance(capture, str) else json.dumps(capture)
    (tmp_path / "capture.json").write_text(text)
    repeat_kineto(tmp_path / "capture.json", tmp_path / "repeated.json", copies)
    found: dict[str, Any] = json.loads((tmp_path / "repeated.json").read_text())
    return found


def kernel(**changes: Any) -> Event:
    return {"ph": "X", "name": "k", "cat": "kernel", "ts": 10.25, "dur": 4, "args": {}} | changes


def test_what_follows_the_list_of_events_stays(tmp_path: Path) -> None:
    around = {"before": [1, {"traceEvents": [2]}], "traceEvents": [kernel()], "after": [[3], "]"]}
    found = repeated(around, tmp_path)
    assert len(found.pop("traceEvents")) == 3
    assert found == {"before": [1, {"traceEvents": [2]}], "after": [[3], "]"]}


def test_times_move_by_whole_microseconds_past_the_last_end(tmp_path: Path) -> None:
    found = repeated({"traceEvents": [kernel(), kernel(ts=12.5, dur=90.125)]}, tmp_path)
    starts = [event["ts"] for event in found["traceEvents"]]
    assert starts[0::2] == [10.25, 10.25 + 1093, 10.25 + 2 * 1093]
    assert starts[1::2] == [12.5, 12.5 + 1093, 12.5 + 2 * 1093]


def test_quoted_times_move_too(tmp_path: Path) -> None:
    found = repeated({"traceEvents": [kernel(ts="10.250", dur="4")]}, tmp_path)
    assert [event["ts"] for event in found["traceEvents"]] == ["10.250", "1014.250", "2018.250"]


def test_the_time_of_metadata_makes_no_gap(tmp_path: Path) -> None:
    events = [{"ph": "M", "name": "process_name", "ts": 0}, kernel(ts=4 * 10**12)]
    found = repeated({"traceEvents": events}, tmp_path)
    assert found["traceEvents"][3]["ts"] - found["traceEvents"][1]["ts"] == 1004


def test_flows_frames_and_ids_point_into_their_own_copy(tmp_path: Path) -> None:
    write_kineto(DIALECTS["rocm"], tmp_path / "capture.json")
    repeat_kineto(tmp_path / "capture.json", tmp_path / "repeated.json", 3)
    events: list[Event] = json.loads((tmp_path / "repeated.json").read_text())["traceEvents"]
    arrows = Counter(event["id"] for event in events if event["ph"] in "sf")
    assert len(arrows) == 3 * 192
    assert set(arrows.values()) == {2}
    kernels = {event["args"]["correlation"] for event in events if event.get("cat") == "kernel"}
    assert kernels == set(arrows)
    frames = [event["args"] for event in events if event.get("cat") == "python_function"]
    assert len({frame["Python id"] for frame in frames}) == 3 * 192
    assert all(frame["Python id"] == frame["Python parent id"] + 1 for frame in frames)


def test_names_and_other_arguments_stay(tmp_path: Path) -> None:
    odd = kernel(name='50 %d of "ts": 5', args={"stream": 7, "Input Dims": [[4096]], "correlation": 9})
    found = repeated({"traceEvents": [odd]}, tmp_path)["traceEvents"]
    assert {event["name"] for event in found} == {odd["name"]}
    assert [event["args"] for event in found] == [odd["args"] | {"correlation": n} for n in (9, 19, 29)]


@pytest.mark.parametrize("none", [0, -1, 2**32 - 1, 2**64 - 1])
def test_ids_that_mean_none_stay(none: int, tmp_path: Path) -> None:
    found = repeated({"traceEvents": [kernel(args={"correlation": none, "External id": 5})]}, tmp_path)
    assert [event["args"]["correlation"] for event in found["traceEvents"]] == [none] * 3
    assert [event["args"]["External id"] for event in found["traceEvents"]] == [5, 11, 17]


def test_times_with_exponents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unrepeatable, match="exponent"):
        repeated('{"traceEvents": [{"ph": "X", "name": "k", "ts": 1.5e3, "dur": 2}]}', tmp_path)


def test_a_file_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unrepeatable, match="no traceEvents"):
        repeated({"events": []}, tmp_path)


def test_the_number_of_copies_comes_closest_to_the_size(tmp_path: Path) -> None:
    write_kineto(DIALECTS["cuda"], tmp_path / "capture.json")
    size = (tmp_path / "capture.json").stat().st_size
    copies = [kineto_copies(tmp_path / "capture.json", round(times * size)) for times in (0.1, 1.4, 2.6)]
    assert copies == [1, 1, 3]


def test_members_are_found_without_being_misled_by_strings() -> None:
    text = ' { "a" : "}", "b": [1, {"c": "]"}] ,"d":{}}'
    found = [(key, text[start:end]) for key, start, end, _ in members(text, 1)]
    assert found == [("a", '"}"'), ("b", '[1, {"c": "]"}]'), ("d", "{}")]


def test_rocprof_records_are_repeated_and_their_tables_are_not(tmp_path: Path) -> None:
    capture, path = tmp_path / "capture.json", tmp_path / "repeated.json"
    write_rocprof_json(capture, 100)
    repeat_rocprof(capture, path, 4)
    one, four = (json.loads(file.read_text())["rocprofiler-sdk-tool"][0] for file in (capture, path))
    assert four["kernel_symbols"] == one["kernel_symbols"]
    kernels = four["buffer_records"]["kernel_dispatch"]
    assert len(kernels) == 200
    assert len({each["correlation_id"]["internal"] for each in kernels}) == 200
    assert numbers_of(path) == {name: 4 * number for name, number in numbers_of(capture).items()}


def test_rocprof_files_come_close_to_a_size(tmp_path: Path) -> None:
    capture, path = tmp_path / "capture.json", tmp_path / "repeated.json"
    write_rocprof_json(capture, 100)
    repeat_rocprof(capture, path, rocprof_copies(capture, 1_000_000))
    assert path.stat().st_size == pytest.approx(1_000_000, rel=0.05)
    assert len(load(path)) > 1000
