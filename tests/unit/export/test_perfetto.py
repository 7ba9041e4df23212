"""Perfetto files, read back by the same protocol buffers."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from overlap_lab.errors import MissingDependency
from overlap_lab.export import export_trace
from overlap_lab.loaders import load
from overlap_lab.trace import Source, Trace
from tests.timeline import timeline

pb = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
)

ROOT = Path(__file__).parents[3]
DRAIN = """
host 1            |L....SSSSSS....L.
device 0 stream 7 |.KKKKKKKKK......KKKKKK
"""
Slice = tuple[str, int, int]


class Picture:
    """What a viewer shows: names of tracks, slices, counters and arrows."""

    def __init__(self, path: Path) -> None:
        self.tracks: dict[int, Any] = {}
        self.slices: dict[str, list[Slice]] = defaultdict(list)
        self.counters: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.flows: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self.correlations: dict[int, list[str]] = defaultdict(list)
        stacks: dict[int, list[tuple[str, int]]] = defaultdict(list)
        trace = pb.Trace()
        trace.ParseFromString(path.read_bytes())
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
                continue
            event = packet.track_event
            track = self.tracks[event.track_uuid].name  # described before it is used
            if event.type == event.TYPE_COUNTER:
                self.counters[track].append((packet.timestamp, event.counter_value))
            elif event.type == event.TYPE_SLICE_BEGIN:
                stacks[event.track_uuid].append((event.name, packet.timestamp))
                if event.correlation_id:
                    self.correlations[event.correlation_id].append(event.name)
            if event.type != event.TYPE_COUNTER:
                name = stacks[event.track_uuid][-1][0]
                self.flows.update({number: [(packet.timestamp, name)] for number in event.flow_ids})
                for number in event.terminating_flow_ids:
                    self.flows[number].append((packet.timestamp, name))
            if event.type == event.TYPE_SLICE_END:
                name, begin = stacks[event.track_uuid].pop()
                self.slices[track].append((name, begin, packet.timestamp))
        assert not any(stacks.values())


def test_events_and_what_was_measured_are_on_tracks(tmp_path: Path) -> None:
    picture = Picture(export_trace(timeline(DRAIN, 100), tmp_path / "t.pftrace", to="perfetto"))
    ops = next(slices for track, slices in picture.slices.items() if track.endswith("ops"))
    assert ops == [("kernel", 100, 1000), ("kernel", 1600, 2200)]
    calls = next(slices for track, slices in picture.slices.items() if track.endswith("calls"))
    assert [(begin, end) for _, begin, end in calls] == [(0, 100), (500, 1100), (1500, 1600)]
    drains = next(slices for track, slices in picture.slices.items() if track.endswith("drains"))
    assert set(drains) == {
        ("drain after hipDeviceSynchronize", 1000, 1600),
        ("return", 1000, 1100),
        ("refill", 1100, 1500),
        ("launch", 1500, 1600),
    }
    idle = next(slices for track, slices in picture.slices.items() if track.endswith("idle by cause"))
    assert idle == [("idle: drain", 1000, 1600)]
    depth = next(values for track, values in picture.counters.items() if track.endswith("queue depth"))
    assert depth == [(100, 1), (1000, 0), (1600, 1), (2200, 0)]
    assert list(picture.flows.values()) == [[(100, "kernel"), (1000, "return latency")]]
    linked = sorted(sorted(names) for names in picture.correlations.values())
    assert linked == [["hipDeviceSynchronize"], *[["hipLaunchKernel", "kernel"]] * 2]


@pytest.mark.parametrize(
    ("host", "lands"),
    [
        ("L.SSSSSS", (6000, "return latency")),  # the wait returns later than the op ends
        ("L.SSSS..", (6000, "hipDeviceSynchronize (device_sync)")),  # at the same time
        ("L.....SS", None),  # for nothing
    ],
)
def test_an_arrow_leads_on_in_time_from_the_op_to_the_return(
    host: str, lands: tuple[int, str] | None, tmp_path: Path
) -> None:
    trace = timeline(f"host   1 |{host}\nstream 0 |...KKK..")
    picture = Picture(export_trace(trace, tmp_path / "t.pftrace", to="perfetto"))
    assert list(picture.flows.values()) == ([[(3000, "kernel"), lands]] if lands else [])


@pytest.mark.parametrize("path", sorted((ROOT / "traces").glob("*_sync*")), ids=lambda path: path.name)
def test_packets_keep_the_rules_of_the_format(path: Path, tmp_path: Path) -> None:
    trace = pb.Trace()
    trace.ParseFromString(export_trace(load(path), tmp_path / "t.pftrace", to="perfetto").read_bytes())
    first, *others = trace.packet
    assert first.first_packet_on_sequence
    assert first.sequence_flags == first.SEQ_INCREMENTAL_STATE_CLEARED
    assert not any(one.sequence_flags or one.first_packet_on_sequence for one in others)
    assert {one.trusted_packet_sequence_id for one in trace.packet} == {first.trusted_packet_sequence_id}
    described: set[int] = set()
    latest: dict[int, int] = {}
    leaves: dict[int, int] = {}
    lands: dict[int, int] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in described
            assert not track.HasField("parent_uuid") or track.parent_uuid in described
            described.add(track.uuid)
            continue
        event = packet.track_event
        assert event.track_uuid in described
        assert packet.timestamp >= latest.get(event.track_uuid, 0)
        latest[event.track_uuid] = packet.timestamp
        assert event.type != event.TYPE_SLICE_BEGIN or event.name  # in full: nothing is interned
        for found, numbers in ((leaves, event.flow_ids), (lands, event.terminating_flow_ids)):
            assert not found.keys() & set(numbers)
            found.update(dict.fromkeys(numbers, packet.timestamp))
    assert leaves.keys() == lands.keys() != set()
    assert all(leaves[number] < lands[number] for number in leaves)


def test_overlapping_ops_are_on_lanes(tmp_path: Path) -> None:
    trace = timeline("""
host 1            |L.L.
device 0 stream 1 |.KKKK
device 0 stream 2 |...KKK
""")
    trace = trace.replace(stream=trace.stream.copy())
    trace.stream[trace.is_device] = 7
    picture = Picture(export_trace(trace, tmp_path / "t.pftrace", to="perfetto"))
    assert picture.slices["stream 7: ops"] == [("kernel", 1000, 5000)]
    assert picture.slices["stream 7: ops, lane 2"] == [("kernel", 3000, 6000)]


@pytest.mark.parametrize("path", sorted((ROOT / "traces").glob("*.db")), ids=lambda path: path.name)
def test_every_row_of_own_captures_is_there_once_with_its_times(path: Path, tmp_path: Path) -> None:
    trace = load(path)
    picture = Picture(export_trace(trace, tmp_path / "t.pftrace", to="perfetto"))
    recorded = ("calls", "ops", "ranges", "Python", "framework ops", "profiler", "waited for")
    shown = sorted(
        one
        for track, slices in picture.slices.items()
        if track.partition(", lane")[0].endswith(recorded)
        for one in slices
    )
    rows = range(len(trace))
    assert shown == sorted((trace.name_of(r), int(trace.start_ns[r]), int(trace.end_ns[r])) for r in rows)


def test_an_empty_trace_and_odd_names_are_written(tmp_path: Path) -> None:
    empty = Trace.from_columns({}, names=(), source=Source())
    assert Picture(export_trace(empty, tmp_path / "e.pftrace", to="perfetto")).slices == {}
    trace = timeline(DRAIN)
    trace = trace.replace(names=tuple(f"{name}\ud83d" for name in trace.names))
    picture = Picture(export_trace(trace, tmp_path / "t.pftrace", to="perfetto"))
    assert any(name.endswith("?") for slices in picture.slices.values() for name, _, _ in slices)


def test_without_the_package_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(MissingDependency, match=r"overlap_lab\[perfetto\]"):
        export_trace(timeline(DRAIN), tmp_path / "t.pftrace", to="perfetto")
    assert not list(tmp_path.iterdir())
