"""`overlap-lab report` as people run it."""

from __future__ import annotations

import html
from pathlib import Path

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace


def test_one_trace_makes_a_page_with_its_verdict_and_says_so(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "trace.json")
    done = overlap_lab("report", trace, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said, wrote = done.stdout.splitlines()
    assert wrote == "wrote report.html"
    page = (tmp_path / "report.html").read_text()
    title, sentences = said.split(": ", 1)
    assert title == "trace.json"
    assert sentences.startswith("Device 0 NVIDIA H200 stood idle for 60.0 us, 28.6 % of its 210 us window. ")
    plain = html.unescape(page.replace("<wbr>", "")).replace("\u00a0", " ")
    assert all(f"<p>{one}" in plain or f'<p class="said">{one}' in plain for one in sentences.split(". "))
    assert "What costs device time, and what to do" in page
    assert "What changed" not in page


def test_two_traces_of_one_name_are_told_apart_and_compared(tmp_path: Path) -> None:
    traces = []
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        traces.append(write_small_trace(tmp_path / folder / "trace.json"))
    done = overlap_lab("report", *traces, "-o", tmp_path / "both.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "both.html").read_text()
    assert "<title>after/trace.json against before/trace.json</title>" in page
    assert "What changed" in page


def test_what_cannot_be_done_is_one_line_and_nothing_is_overwritten(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "trace.json")
    existing = overlap_lab("report", trace, "-o", trace)
    nowhere = overlap_lab("report", trace, "--align", "step 9", "-o", tmp_path / "x.html")
    for done in (existing, nowhere):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
    assert "no event" in nowhere.stderr
    assert not (tmp_path / "x.html").exists()


def test_no_name_recolours_the_terminal(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "trace\x1b[31m.json")
    page = tmp_path / "page\x1b[31m.html"
    for done in (
        overlap_lab("report", trace, "-o", page),
        overlap_lab("plot", "timeline", trace, "-o", page, "--force"),
        overlap_lab("export", trace, "--to", "csv", "-o", page, "--force"),
        overlap_lab("baseline", "save", trace, "--store", tmp_path / "store\x1b[31m"),
        overlap_lab("compare", trace, trace, "--json", page, "--force"),
    ):
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout
        assert r"wrote " in done.stdout
        assert r"\x1b[31m" in done.stdout
