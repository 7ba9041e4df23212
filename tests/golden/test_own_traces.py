"""The traces that this project ships: what the manifest says of them, and what the analysis says today."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from overlap_lab import analyze, load
from overlap_lab.render.json import reports_to_json

TRACES = Path(__file__).parents[2] / "traces"
MANIFEST = json.loads((TRACES / "manifest.json").read_text())["traces"]


@pytest.fixture(params=MANIFEST, ids=lambda entry: entry["file"])
def entry(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record", TRACES / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_trace_is_in_the_manifest() -> None:
    found = {path.name for pattern in ("*.db", "*.gz") for path in TRACES.glob(pattern)}
    assert found == {entry["file"] for entry in MANIFEST}


def test_a_trace_is_the_one_that_the_manifest_describes(entry: dict[str, Any]) -> None:
    content = (TRACES / entry["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert len(content) == entry["bytes"] <= 1_000_000
    assert all(entry[key] for key in ("tool", "version", "device", "command", "licence"))


def test_the_report_is_the_golden_one(entry: dict[str, Any], recorder: ModuleType) -> None:
    """Rewritten by `python traces/record.py --golden`; the difference is read in review."""
    path = TRACES / entry["file"]
    golden = (TRACES / "golden" / f"{recorder.report_name(path)}.json").read_text()
    assert json.loads(recorder.golden_text(path)) == json.loads(golden)


def test_the_report_is_the_golden_one_after_a_save(entry: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    trace = load(TRACES / entry["file"])
    saved = trace.save(tmp_path / "a.arrow")
    assert reports_to_json([analyze(load(saved))]) == reports_to_json([analyze(trace)])


def test_sync_drains_at_every_layer_and_the_others_never(entry: dict[str, Any], recorder: ModuleType) -> None:
    golden = json.loads((TRACES / "golden" / f"{recorder.report_name(Path(entry['file']))}.json").read_text())
    [drains] = [m["value"] for m in golden["measurements"] if m["tag"] == "drain/count" and not m["scope"]]
    assert drains == (9 if "workspace=sync" in entry["what"] else 0)
