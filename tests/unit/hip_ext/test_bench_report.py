"""The page of a measurement: its numbers are those of the raw file, and it is what the raw file makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hip_ext.bench import measure, report
from hip_ext.bench.plan import FULL, QUICK, steps
from hip_ext.bench.raw import Distribution, Raw
from hip_ext.bench.targets import Verdict, verdicts

KEPT = Path(__file__).parents[3] / "docs" / "benchmarks"


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Raw:
    """A quick measurement by the real program."""
    path = tmp_path_factory.mktemp("measure") / "raw.json"
    assert measure.main(["--out", str(path), "--quick"]) == 0
    return Raw.read(path)


def on_a_card(content: dict[str, Any]) -> Raw:
    """The same measurement, as if a card had made it: host time 10 us, 25 us behind ten products."""
    copy = json.loads(json.dumps(content))
    for name, run in copy["runs"].items():
        run["target"] = "cuda"
        for mode, taken in run["modes"].items():
            if "host_call_ns" in taken["samples"]:
                slow = name.endswith("queue10") and mode == "async"
                taken["samples"]["host_call_ns"] = [25_000 if slow else 10_000] * 3
            if "device_kernels_ns" in taken["samples"]:
                taken["samples"]["device_kernels_ns"] = [4_000_000] * 3
    copy["python_call_ns"]["queue0"] = {
        mode: [24_000, 25_000, 26_500] for mode in ("sync", "async", "device")
    }
    copy["sdpa_backward_ns"] = [180_000, 160_000, 200_000]
    return Raw(copy)


def test_a_measurement_has_every_step_and_mode(raw: Raw) -> None:
    assert list(raw.content["runs"]) == [step.name for step in steps(QUICK)]
    for run in raw.content["runs"].values():
        assert run["exit_code"] == 0
        assert run["command"].startswith("benchmark_mha_bwd -prec=bf16 ")
        assert "json" not in run["options"]
        assert list(run["modes"]) == ["none", "sync", "async", "device"]
        for mode in run["modes"].values():
            assert {len(series) for series in mode["samples"].values()} == {QUICK.samples}
    assert len(raw.content["python_call_ns"]["queue0"]["device"]) == QUICK.samples
    assert raw.content["facts"]["torch"]
    assert raw.content["command"].startswith("python -m hip_ext.bench.measure --out ")


def test_the_page_shows_medians_and_99th_percentiles_of_the_samples(raw: Raw) -> None:
    page = report.page(raw)
    taken = sorted(raw.samples("preparation/small4", "device", "device_preparation"))
    median = (taken[2] + taken[3]) / 2e3
    p99 = (taken[4] + 0.95 * (taken[5] - taken[4])) / 1e3
    [row] = [line for line in page.splitlines() if line.startswith("| 4 small products, host warm |")]
    assert row.split(" | ")[-1] == f"{median:.1f} ({p99:.1f}) |"
    for run in raw.content["runs"].values():
        assert f"`{run['command']}`" in page
    assert "not judged on the CPU" in page


def test_notes_stand_below_what_must_hold(raw: Raw, tmp_path: Path) -> None:
    assert report.notes_beside(tmp_path / "raw.json") == ""
    (tmp_path / "raw.notes").write_text("Why it is so.\n")
    page = report.page(raw, report.notes_beside(tmp_path / "raw.json"))
    assert page.index("not judged on the CPU") < page.index("Why it is so.") < page.index("## Host time")


def test_targets_are_judged_on_a_card(raw: Raw) -> None:
    found = {verdict.what: verdict for verdict in verdicts(on_a_card(raw.content))}
    assert str(found["async: host time of the preparation"]) == "met"
    assert str(found["device: host time of the preparation"]) == "met; the aim not"
    assert str(found["async: more of it behind 10 products"]) == "missed by 5.0 us"
    assert str(found["device: more of it behind 10 products"]) == "met"
    assert found["async: more for the Python call than for the C++ call"].measured == pytest.approx(15.0)
    assert str(found["kernels: of torch's flash backward"]) == "missed by 2.2x"
    page = report.page(on_a_card(raw.content))
    assert "| async: more of it behind 10 products | <= 10 us | - | 15.0 us | missed by 5.0 us |" in page
    assert "torch's flash backward (SDPA) of the batch problem: 180.0 (199.6) us." in page


def test_a_verdict_is_met_at_its_limit() -> None:
    assert str(Verdict("x", measured=30.0, must=30.0, aim=20.0)) == "met; the aim not"
    assert str(Verdict("x", measured=20.0, must=30.0, aim=20.0)) == "met"


def test_quantiles_lie_between_two_samples() -> None:
    assert Distribution.of([40_000, 10_000, 30_000, 20_000, 50_000]) == Distribution(
        5, 14.0, 30.0, 46.0, 49.6
    )


def test_every_mode_is_in_every_step_and_names_are_unique() -> None:
    plan = steps(FULL)
    assert len({step.name for step in plan}) == len(plan)
    assert all("-workspace=all" in step.arguments and "-repeat=200" in step.arguments for step in plan)


def test_a_measurement_does_not_write_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "raw.json"
    path.write_text("kept")
    with pytest.raises(SystemExit) as ended:
        measure.main(["--out", str(path), "--quick"])
    assert ended.value.code == 2
    assert "--force writes over it" in capsys.readouterr().err
    assert path.read_text() == "kept"


def test_another_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"format": "other"}')
    assert report.main([str(path)]) == 2
    assert "format 'other', expected 'hip_ext/measurement 1'" in capsys.readouterr().err


@pytest.mark.parametrize("kept", sorted(KEPT.glob("h200*.json")), ids=lambda path: path.name)
def test_the_kept_page_is_what_its_raw_file_makes(kept: Path) -> None:
    page = report.page(Raw.read(kept), report.notes_beside(kept))
    assert kept.with_suffix(".md").read_text() == page
