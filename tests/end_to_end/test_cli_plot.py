"""`overlap-lab plot` as people run it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace
from tests.figures import OF_ONE_TRACE

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_small_trace(tmp_path / "trace.json")


def figure_in(page: Path) -> dict[str, list[dict[str, object]]]:
    text = re.search(r'<script type="application/json" id="figure">(.*?)</script>', page.read_text(), re.S)
    assert text is not None
    return json.loads(text[1])  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", OF_ONE_TRACE)
def test_every_kind_makes_a_page_that_fetches_nothing(kind: str, trace: Path, tmp_path: Path) -> None:
    page = tmp_path / "figure.html"
    done = overlap_lab("plot", kind, trace, "-o", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wrote {page}\n", "")
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text
    if kind != "timeline":  # which is a page of its own kind
        assert bool(figure_in(page)["data"]) == (kind != "steps")  # this trace names none


def test_two_traces_are_compared_and_drawn_under_each_other(trace: Path, tmp_path: Path) -> None:
    other = write_small_trace(tmp_path / "other.json", kernel="gemm2")
    for kind, more in (("timeline", ("--window", ":1ms")), ("comparison", ())):
        page = tmp_path / f"{kind}.html"
        assert overlap_lab("plot", kind, trace, other, *more, "-o", page).returncode == 0
        assert figure_in(page)["data"]
    page = tmp_path / "aligned.html"
    done = overlap_lab("plot", "timeline", trace, other, "--align", "cudaStreamSynchronize", "-o", page)
    assert (done.returncode, done.stderr) == (0, "")
    assert "startTimeline();" in page.read_text()


def test_a_saved_report_is_enough_for_costs(trace: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    overlap_lab("analyze", trace, "--json", report)
    assert overlap_lab("plot", "blocked", report, "-o", tmp_path / "b.html").returncode == 0
    refused = overlap_lab("plot", "run_ahead", report, "-o", tmp_path / "r.html")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "needs the trace itself" in refused.stderr


def test_a_name_cannot_end_the_script_that_it_is_in(tmp_path: Path) -> None:
    evil = write_small_trace(tmp_path / "evil.json", kernel="</script><script>alert(1)</script>")
    page = tmp_path / "page.html"
    overlap_lab("plot", "timeline", evil, "-o", page)
    assert "<script>alert(1)" not in page.read_text()


@pytest.mark.skipif(BROWSER is None, reason="no Chrome or Chromium to draw pictures with")
@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_pictures(suffix: str, begin: bytes, trace: Path, tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="kaleido is not installed")
    picture = tmp_path / f"figure.{suffix}"
    done = overlap_lab("plot", "idle_by_cause", trace, "-o", picture)
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("blocked", "T", "-o", "x.jpg"), "name a file that ends in .html, .png or .svg"),
        (("blocked", "T", "T", "-o", "x.html"), "takes one, not 2"),
        (("comparison", "T", "-o", "x.html"), "give two: the baseline and the candidate"),
        (("drains", "T", "--align", "x", "-o", "x.html"), "--window and --align are for the timeline"),
        (("timeline", "T", "--window", "1us:", "-o", "x.html"), "a window needs an end"),
        (("timeline", "T", "--align", "nowhere", "-o", "x.html"), "align on 'nowhere'"),
        (("overhead", "T", "-o", "x.html"), "raw file of python -m hip_ext.bench.measure"),
        (("pie", "T", "-o", "x.html"), "invalid choice"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], said: str, trace: Path, tmp_path: Path) -> None:
    done = overlap_lab("plot", *(str(trace) if one == "T" else one for one in arguments), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.html").exists()


def test_a_folder_with_several_traces_names_them(trace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("a.json", "b.json"):
        (folder / name).write_bytes(trace.read_bytes())
    done = overlap_lab("plot", "drains", folder, "-o", tmp_path / "x.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds 2 traces; give one of them: a.json, b.json" in done.stderr


def test_a_trace_without_device_records_makes_no_claim_about_drains(trace: Path, tmp_path: Path) -> None:
    whole = json.loads(trace.read_text())
    host = ("cuda_runtime", "cpu_op", "user_annotation", "python_function")
    whole["traceEvents"] = [one for one in whole["traceEvents"] if one.get("cat") in host]
    trace.write_text(json.dumps(whole))
    page = tmp_path / "x.html"
    assert overlap_lab("plot", "drains", trace, "-o", page).returncode == 0
    assert "the trace has no device records" in page.read_text()
    assert "no wait drained" not in page.read_text()
