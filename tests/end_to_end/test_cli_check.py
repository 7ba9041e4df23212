"""`overlap-lab check` as a process, on this project's own traces."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace

TRACES = Path(__file__).parents[2] / "traces"
SYNC, ASYNC = TRACES / "fmha_bwd_sync.db", TRACES / "fmha_bwd_async.db"


def checked(trace: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    return overlap_lab("check", trace, *options)


@pytest.mark.parametrize(("trace", "code"), [(SYNC, 1), (ASYNC, 0)])
def test_the_exit_code_says_whether_the_budget_is_kept(trace: Path, code: int, tmp_path: Path) -> None:
    budget = tmp_path / "overlap.toml"
    budget.write_text("rules = ['drain/count = 0', 'overlap/ratio > 0.9']\n")
    done = checked(trace, "--budget", budget)
    assert (done.returncode, done.stderr) == (code, "")
    assert ("budget VIOLATED: 0 of 2" if code else "budget FINE: 2 of 2") in done.stdout


def test_undecided_is_0_unless_strict() -> None:
    rule = ("--rule", "host/blocked per wait < 50us")
    done = checked(SYNC, *rule)
    assert (done.returncode, "UNDECIDED host/blocked per wait" in done.stdout) == (0, True)
    assert checked(SYNC, *rule, "--strict").returncode == 1


def test_every_output_says_the_same(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"out.{name}" for name in ("json", "junit", "sarif", "markdown")}
    options = [part for name, path in paths.items() for part in (f"--{name}", path)]
    rules = (
        "--rule",
        "drain/count = 0",
        "--rule",
        "device/busy > 1us",
        "--rule",
        "host/blocked per wait < 50us",
    )
    assert checked(SYNC, *rules, *options).returncode == 1
    whole = json.loads(paths["json"].read_text())
    assert [one["outcome"] for one in whole["rules"]] == ["violated", "fine", "undecided"]
    assert whole["rules"][0]["waits"][0]["call"] == "hipMemcpy"
    suite = ET.parse(paths["junit"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    results = json.loads(paths["sarif"].read_text())["runs"][0]["results"]
    assert [one["level"] for one in results] == ["error"] * (len(results) - 1) + ["note"]
    lines = paths["markdown"].read_text().splitlines()
    assert lines[0].startswith("**Overlap budget VIOLATED**")


def test_the_same_command_writes_its_results_again(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"out.{name}" for name in ("json", "junit", "sarif", "markdown")}
    options = [part for name, path in paths.items() for part in (f"--{name}", path)]
    assert checked(SYNC, "--rule", "drain/count = 0", *options).returncode == 1
    first = {name: path.read_text() for name, path in paths.items()}
    again = checked(ASYNC, "--rule", "drain/count = 0", *options)
    assert (again.returncode, again.stderr) == (0, "")
    assert all(path.read_text() != first[name] for name, path in paths.items())
    mine = tmp_path / "mine.md"
    mine.write_text("mine")
    other = checked(ASYNC, "--rule", "drain/count = 0", "--markdown", mine)
    assert (other.returncode, "add --force" in other.stderr, mine.read_text()) == (2, True, "mine")
    assert checked(ASYNC, "--rule", "drain/count = 0", "--markdown", mine, "--force").returncode == 0


def test_a_result_never_takes_the_place_of_what_was_read(tmp_path: Path) -> None:
    trace, budget = write_small_trace(tmp_path / "t.json"), tmp_path / "overlap.toml"
    budget.write_text("rules = ['drain/count = 0']")
    link = tmp_path / "link.json"
    link.symlink_to(trace)
    before = trace.read_bytes()
    for where in (trace, budget, link, tmp_path / "." / "t.json"):
        done = checked(tmp_path / "t.json", "--budget", budget, "--json", where, "--force")
        assert (done.returncode, "is read, and cannot be written" in done.stderr) == (2, True)
    assert (trace.read_bytes(), budget.read_text()) == (before, "rules = ['drain/count = 0']")
    folder = checked(trace, "--budget", budget, "--json", tmp_path)
    assert (folder.returncode, "is a folder" in folder.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "FOLDER", "--rule", "drain/count = 0"),
        ("report", "FOLDER", "-o", "page.html"),
        ("export", "FOLDER", "--to", "csv"),
        ("baseline", "save", "FOLDER"),
    ],
)
def test_a_folder_with_several_traces_is_told_in_the_commands_own_words(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("a.json", "b.json"):
        write_small_trace(folder / name)
    done = overlap_lab(*(str(folder) if word == "FOLDER" else word for word in words), cwd=tmp_path)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"holds 2 traces; give one of them: {folder / 'a.json'}, {folder / 'b.json'}" in line


def test_sarif_names_file_and_line_where_the_trace_has_stacks(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "t.json")
    whole = json.loads(trace.read_text())
    [wait] = [event for event in whole["traceEvents"] if event["name"] == "cudaStreamSynchronize"]
    frame = {**wait, "cat": "python_function", "name": "src/train.py(88): step", "args": {}}
    whole["traceEvents"].append({**frame, "ts": wait["ts"] - 1, "dur": wait["dur"] + 2})
    trace.write_text(json.dumps(whole))
    done = checked(trace, "--rule", "drain/count = 0", "--sarif", "-")
    assert done.returncode == 1
    [result] = json.loads(done.stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "src/train.py"}, "region": {"startLine": 88}}


def test_a_hostile_name_stays_text_in_every_output(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "t.json", wait="cudaStreamSynchronize")
    text = trace.read_text().replace("aten::item", "<script>|`\\u0000\\u001b[2J@team")
    trace.write_text(text)
    for name in ("json", "junit", "sarif", "markdown"):
        done = checked(trace, "--rule", "drain/count = 0", f"--{name}", "-")
        assert done.returncode == 1
        assert "\x1b" not in done.stdout
        assert "\x00" not in done.stdout
        if name == "junit":
            ET.fromstring(done.stdout)
        if name == "markdown":
            assert "<script>" not in done.stdout


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "no rules; give --budget FILE"),
        (("--rule", "nonsense"), "'nonsense' is no rule"),
        (("--budget", "none.toml"), "none.toml: the budget cannot be read"),
        (("--rule", "drain/count = 0", "--json", "-", "--sarif", "-"), "only one result"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(options: tuple[str, ...], why: str) -> None:
    done = checked(SYNC, *options)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert why in line


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    taken = tmp_path / "out.json"
    taken.write_text("mine")
    assert checked(ASYNC, "--rule", "drain/count = 0", "--json", taken).returncode == 2
    assert taken.read_text() == "mine"


def test_a_trace_without_device_records_passes_no_budget(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    event = '{"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","ts":1,"dur":2,"pid":1,"tid":1,"args":{}}'
    trace.write_text(f'{{"traceEvents":[{event}]}}')
    done = checked(trace, "--rule", "drain/count = 0")
    assert done.returncode == 1
    assert "NO VALUE" in done.stdout
    assert "no device records" in done.stdout


def test_one_file_cannot_hold_two_results(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "trace.json")
    twice = tmp_path / "out"
    for done in (
        checked(trace, "--rule", "drain/count = 0", "--json", twice, "--sarif", twice, "--force"),
        overlap_lab("compare", trace, trace, "--json", twice, "--markdown", twice, "--force"),
    ):
        assert done.returncode == 2
        assert "named for two results" in done.stderr
        assert done.stderr.count("\n") == 1
    assert not twice.exists()


@pytest.mark.parametrize(
    "verb",
    [
        ("check", "--rule", "drain/count = 0"),
        ("baseline", "save"),
        ("compare", "--candidate", "b.json", "--baseline"),
    ],
    ids=lambda verb: verb[0],
)
def test_one_run_is_no_two_repeats(verb: tuple[str, ...], tmp_path: Path) -> None:
    """Not by another name of the file either."""
    trace = write_small_trace(tmp_path / "trace.json")
    (tmp_path / "again.json").symlink_to(trace)
    (tmp_path / "b.json").write_bytes(trace.read_bytes())
    done = overlap_lab(*verb, trace, "again.json", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line == "overlap-lab: again.json: named for two repeats, and is one run; name it once"
    assert not (tmp_path / ".overlap").exists()
