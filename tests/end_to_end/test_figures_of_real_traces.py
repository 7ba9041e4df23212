"""Every figure and the report of the demo, of cases and of real captures: they draw what the JSON says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from overlap_lab import compare, load, plots
from overlap_lab.schema import Cause
from overlap_lab.trace import Trace
from scripts.chromium import CHROMIUM, Tab, chromium
from tests.end_to_end.contrast import CONTRASTS
from tests.reference.command import ROOT, Document, in_process, json_of, value

CASES = ROOT / "tests" / "cases" / "data"
SAMPLES = ROOT.parent / "shared" / "samples"
NS_PER_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
OURS = {
    "demo": ROOT / "traces/fmha_bwd_sync.db",
    "case 01": CASES / "01_item_sync_loop/trace.json",
    "case 02 sync": CASES / "02_fmha_bwd_sync_vs_async/sync",
    "case 02 async": CASES / "02_fmha_bwd_sync_vs_async/async",
    "case 12": CASES / "12_graph_one_launch_many_kernels/trace.json",
    "case 25": CASES / "25_dataloader_or_sync/trace.json",
}
REAL = {
    "MI250": SAMPLES / "kineto_amd/hta_mi250_minitoy_train_ROCm6_2.json.gz",
    "MI300": SAMPLES / "kineto_amd/tracelens_mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "rocpd": SAMPLES / "rocpd_db/hgliu_batched_gemm_28_results.db",
    "H100": SAMPLES / "kineto_nvidia/tracelens_h100_gaunernst_bert-small-uncased__1016001.json.gz",
    "several streams": SAMPLES / "kineto_nvidia/hta_cuda_event_sync_multi_stream.json.gz",
}
MOST_PLACES = 20
"""Of more places that wait, the costliest are drawn."""
no_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no real captures beside the repository")
TRACES = [
    *(pytest.param(path, id=name) for name, path in OURS.items()),
    *(pytest.param(path, id=name, marks=no_samples) for name, path in REAL.items()),
]
each_trace = pytest.mark.parametrize("path", TRACES)


@cache
def trace_of(path: Path) -> Trace:
    return load(path)


@cache
def said_of(path: Path) -> Document:
    return json_of(path)


def rows_of(said: Document, name: str) -> list[dict[str, Any]]:
    table = said["tables"].get(name, {"columns": [], "rows": []})
    heads = [column["name"] for column in table["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in table["rows"]]


def total(said: Document, tag: str) -> int:
    """A measure of the devices, all of them together."""
    return sum(
        int(one["value"] or 0)
        for one in said["measurements"]
        if one["tag"] == tag and one["scope"].keys() == {"device"}
    )


def unit_of(axis: Any) -> int:
    """ns in the unit at the end of an axis' title or at its start: `queued work, us`, `us after ...`."""
    words = axis.title.text.replace(",", " ").split()
    [unit] = [word for word in words if word in NS_PER_UNIT]
    return NS_PER_UNIT[unit]


def drawn(figure: go.Figure, name: str) -> list[Any]:
    return [one for one in figure.data if one.name == name]


def summed(figure: go.Figure, name: str, along: str, ns: int) -> int:
    return sum(round(float(value) * ns) for one in drawn(figure, name) for value in one[along])


def words_of(figure: go.Figure) -> str:
    return " ".join(str(note.text) for note in figure.layout.annotations)


def is_empty(figure: go.Figure) -> bool:
    """Nothing is drawn, and the figure says why."""
    if figure.data:
        return False
    assert words_of(figure)
    return True


@each_trace
def test_blocked_draws_what_the_waits_cost(path: Path) -> None:
    figure, said = plots.blocked(trace_of(path)), said_of(path)
    parts = ("device_bound", "until the device was done"), ("return_latency", "after that, until the return")
    costs = _by_place(said, [part for part, _ in parts])
    if is_empty(figure):
        assert value(said, "host/blocked") in (0, None)
        return
    ns = unit_of(figure.layout.xaxis)
    for at, (_, entry) in enumerate(parts):
        assert summed(figure, entry, "x", ns) == sum(cost[at] for cost in costs[:MOST_PLACES])
    hidden = len(costs) - MOST_PLACES
    assert (f"{hidden} more places, " in words_of(figure)) is (hidden > 0)


def _by_place(said: Document, parts: list[str]) -> list[list[int]]:
    """The parts of what the waits of each place cost, the costliest place first."""
    costs: dict[tuple[str, ...], list[int]] = {}
    for wait in rows_of(said, "waits"):
        place = tuple(str(wait[name]) for name in ("call", "reason", "op", "range"))
        cost = costs.setdefault(place, [0] * len(parts))
        for at, part in enumerate(parts):
            cost[at] += int(wait[part] or 0)
    return sorted(costs.values(), key=lambda cost: -sum(cost))


@each_trace
def test_drains_draws_every_drain_by_its_parts(path: Path) -> None:
    figure, said = plots.drains(trace_of(path)), said_of(path)
    if is_empty(figure):
        assert total(said, "drain/count") == 0
        return
    ns = unit_of(figure.layout.yaxis)
    assert len(figure.data[0].x) == total(said, "drain/count")
    for part in ("return", "refill", "launch"):
        assert summed(figure, part, "y", ns) == total(said, f"drain/idle/{part}")


@each_trace
def test_idle_by_cause_draws_the_window(path: Path) -> None:
    figure, said = plots.idle_by_cause(trace_of(path)), said_of(path)
    ns = unit_of(figure.layout.xaxis)
    assert summed(figure, "busy", "x", ns) == total(said, "device/busy")
    if drawn(figure, "idle"):  # without host records there are no causes
        assert summed(figure, "idle", "x", ns) == total(said, "device/idle")
        return
    for cause in Cause:
        assert summed(figure, f"idle: {cause.replace('_', ' ')}", "x", ns) == total(
            said, f"device/idle/{cause}"
        )


@each_trace
def test_steps_draws_the_table_of_steps(path: Path) -> None:
    code, out, err = in_process("analyze", path, "--steps", "--json", "-")
    assert code == 0, err
    steps = rows_of(json.loads(out), "steps")
    figure = plots.steps(trace_of(path))
    if is_empty(figure):
        assert not steps
        return
    ns = unit_of(figure.layout.yaxis)
    for part in ("busy", "idle"):
        assert summed(figure, part, "y", ns) == sum(int(step[part]) for step in steps)


@each_trace
@pytest.mark.parametrize(
    ("kind", "tag"), [("run_ahead", "queue/work_max"), ("queue_depth", "queue/depth_max")]
)
def test_the_highest_point_over_time_is_the_queue_at_its_fullest(path: Path, kind: str, tag: str) -> None:
    figure, said = getattr(plots, kind)(trace_of(path)), said_of(path)
    if is_empty(figure):
        assert {m["value"] for m in said["measurements"] if m["tag"] == tag} <= {None, 0}
        return
    ns = unit_of(figure.layout.yaxis) if kind == "run_ahead" else 1
    lines = [one for one in figure.data if one.name.startswith("device")]
    assert sum(round(float(np.max(line.y)) * ns) for line in lines) == total(said, tag)


@each_trace
def test_launch_latency_reaches_from_the_shortest_to_the_longest_run_ahead(path: Path) -> None:
    figure, said = plots.launch_latency(trace_of(path)), said_of(path)
    lines = [one for one in figure.data if one.name.endswith("ops")]
    measured = [m for m in said["measurements"] if m["scope"].keys() == {"device"} and m["value"] is not None]
    for line in lines:
        device = int(line.name.split()[1].rstrip(",")) if line.name.startswith("device ") else None
        mine = {m["tag"]: m["value"] for m in measured if device in (None, m["scope"]["device"])}
        assert round(line.x[0] * 1_000) == max(mine["run_ahead/min"], 1)
        assert round(line.x[-1] * 1_000) == mine["run_ahead/max"]
    assert len(lines) == len([m for m in measured if m["tag"] == "run_ahead/max"])
    if not lines:
        assert is_empty(figure)


@each_trace
def test_the_timeline_draws_idle_and_waits_as_long_as_they_are(path: Path) -> None:
    figure, said = plots.timeline(trace_of(path)), said_of(path)
    ns = unit_of(figure.layout.xaxis)
    waits = rows_of(said, "waits")
    for entry, is_final in (("blocked", False), ("blocked, final wait", True)):
        cost = sum(
            int(wait["end"]) - int(wait["start"]) for wait in waits if bool(wait["terminal"]) is is_final
        )
        assert summed(figure, entry, "x", ns) == cost
    for cause in Cause:
        assert summed(figure, f"idle: {cause.replace('_', ' ')}", "x", ns) == total(
            said, f"device/idle/{cause}"
        )


@each_trace
def test_a_comparison_draws_each_difference_in_percent(path: Path) -> None:
    baseline = OURS["demo"] if path == OURS["case 01"] else OURS["case 01"]
    compared = compare(trace_of(baseline), trace_of(path), force_comparable=True)
    figure = plots.comparison(compared)
    tags = {one.title: one.tag for one in compared.differences if not one.scope}
    before, after = said_of(baseline), said_of(path)
    shares = {
        tags[label]: share
        for one in figure.data
        if one.mode == "markers"
        for label, share in zip((figure.layout.yaxis.ticktext[int(at)] for at in one.y), one.x, strict=True)
        if label in tags
    }
    assert len(shares) >= 5
    for tag, share in shares.items():
        first, second = value(before, tag), value(after, tag)
        assert first
        assert second is not None
        assert share == pytest.approx(min(max(100 * (second - first) / abs(first), -200), 200)), tag


def test_overhead_draws_the_medians_of_the_kept_samples() -> None:
    kept = ROOT / "docs/benchmarks/h200.json"
    runs = json.loads(kept.read_text())["runs"]
    figure = plots.overhead(kept)
    for mode in ("none", "sync", "async", "device"):
        for series, axis in (("host_call_ns", "x"), ("device_preparation_ns", "x2")):
            expected = {
                str(queue): np.median(samples) / 1_000
                for queue in (0, 1, 10)
                if (samples := runs[f"preparation/queue{queue}"]["modes"][mode]["samples"].get(series))
            }
            lines = [one for one in drawn(figure, mode) if one.xaxis == axis]
            points = [dict(zip(one.x, one.y, strict=True)) for one in lines]
            assert points == ([pytest.approx(expected)] if expected else [])


# The page's tables: heading -> column of the page -> tag, for each device.
OF_DEVICES = {
    "Devices": {
        "window": "device/window",
        "busy": "device/busy",
        "idle": "device/idle",
        "drains": "drain/count",
        "overlap": "overlap/ratio",
        "with final wait": "overlap/ratio_literal",
        **{f"{sign} {cause.replace('_', ' ')}": f"device/idle/{cause}" for sign in "=+" for cause in Cause},
    },
    "Run-ahead": {
        **{word: f"run_ahead/{word}" for word in ("min", "p10", "median", "p90", "max")},
        "launch floor": "launch/floor",
        "deepest queue": "queue/depth_max",
        "most queued work": "queue/work_max",
    },
}
# Heading -> table of the JSON and its columns that are shown as numbers.
OF_ROWS = {
    "Waits": ("waits", ("start", "blocked", "device_bound", "return_latency", "idle_caused")),
    "Drains": ("drains", ("start", "idle", "return", "refill", "launch")),
    "Blocking calls": ("calls_by_cause", ("count", "blocked", "drains", "idle_caused")),
}
TABLES = """[...document.querySelectorAll("details h3")].map((head) => {
  const table = head.nextElementSibling && head.nextElementSibling.querySelector("table");
  return table && [head.textContent, [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
    [...table.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent))];
}).filter(Boolean)"""
CARD = "[...document.querySelectorAll('.card [data-tag]')].map((one) => [one.dataset.tag, one.dataset.value])"
MOST_ROWS = 200


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (apt install chromium)")
    with chromium() as opened:
        opened.size(1280, 900)
        yield opened


@each_trace
def test_the_report_opens_without_a_complaint_and_its_numbers_are_those_of_the_json(
    path: Path, tab: Tab, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    code, _, err = in_process("report", path, "-o", page)
    assert code == 0, err
    tab.open(page.as_uri(), until="document.documentElement.dataset.page === 'ready'")
    said = said_of(path)
    for tag, shown in tab.value(CARD):
        assert shown == str(value(said, tag)), tag
    tables = {
        heading: [dict(zip(heads, row, strict=True)) for row in rows]
        for title, heads, rows in tab.value(TABLES)
        for heading in (*OF_DEVICES, *OF_ROWS)
        if title.startswith(heading)
    }
    assert "Devices" in tables
    for heading, columns in OF_DEVICES.items():
        _check_devices(tables.get(heading, []), columns, said)
    for heading, (name, columns) in OF_ROWS.items():
        _check_rows(tables.get(heading, []), columns, rows_of(said, name))
    for width, dark in itertools.product((1280, 390), (False, True)):
        tab.size(width, 900, dark=dark)
        assert tab.value("document.documentElement.scrollWidth") <= width
        assert tab.value(CONTRASTS) == []
    tab.size(1280, 900)
    assert tab.complaints == []


def _check_devices(shown: list[dict[str, str]], columns: Mapping[str, str], said: Document) -> None:
    devices = sorted({m["scope"]["device"] for m in said["measurements"] if m["scope"].keys() == {"device"}})
    for row, device in zip(shown, devices, strict=True):
        for column, tag in columns.items():
            if column in row:
                measured = value(said, tag, device=device)
                assert row[column] == ("n/a" if measured is None else str(measured)), tag


def _check_rows(
    shown: list[dict[str, str]], columns: tuple[str, ...], expected: list[dict[str, Any]]
) -> None:
    assert len(shown) == min(len(expected), MOST_ROWS)
    if not shown:
        return
    names = {"at" if column == "start" else column.replace("_", " "): column for column in columns}
    kept = [(head, column) for head, column in names.items() if head in shown[0]]
    drawn_rows = [tuple(row[head] for head, _ in kept) for row in shown]
    known = [tuple(str(row[column]) for _, column in kept) for row in expected]
    assert len(kept) >= 4
    assert set(drawn_rows) <= set(known)
    if len(expected) <= MOST_ROWS:
        assert sorted(drawn_rows) == sorted(known)
