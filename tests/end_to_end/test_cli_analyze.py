"""`overlap-lab analyze` as people run it: a process, its output, its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from overlap_lab import __version__
from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace
from tests.unit.loaders.five_formats import Call, Kernel, csv_set


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_small_trace(tmp_path / "trace.json")


def test_the_verdict_stands_first_and_names_call_count_cost_and_device(trace: Path) -> None:
    done = overlap_lab("analyze", trace)
    assert (done.returncode, done.stderr) == (0, "")
    verdict = done.stdout.splitlines()[1]
    for word in ("cudaStreamSynchronize", "drained device 0 once", "60.0 us", "aten::item"):
        assert word in verdict


def test_piped_text_has_no_escape_code_and_fits_120_columns(trace: Path) -> None:
    out = overlap_lab("analyze", trace).stdout
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 160


def test_a_terminal_escape_in_a_kernel_name_is_spelled_out(tmp_path: Path) -> None:
    done = overlap_lab("analyze", write_small_trace(tmp_path / "t.json", wait="cudaStreamSynchronize\x1b[2J"))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


def test_json_to_stdout_is_only_json(trace: Path) -> None:
    report = json.loads(overlap_lab("analyze", trace, "--json", "-").stdout)
    values = {(m["tag"], tuple(m["scope"].items())): m["value"] for m in report["measurements"]}
    assert values["device/busy", (("device", 0),)] == 150_000
    assert values["device/idle/drain", ()] == 60_000
    assert values["drain/count", ()] == 1


def test_several_inputs_give_a_list_of_reports(trace: Path) -> None:
    whole = json.loads(overlap_lab("analyze", trace, trace, "--json", "-").stdout)
    assert len(whole["reports"]) == 2


def test_the_last_line_says_what_was_written(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    done = overlap_lab("analyze", trace, "--json", target)
    assert done.stdout.splitlines()[-1] == f"wrote {target}"
    assert json.loads(target.read_text())["schema"] == "overlap_lab.report/1"


def test_an_existing_file_is_kept_unless_forced(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("mine")
    done = overlap_lab("analyze", trace, "--json", target)
    assert done.returncode == 2
    assert done.stderr == f"overlap-lab: {target} exists; add --force to overwrite it, or name another file\n"
    assert target.read_text() == "mine"
    assert overlap_lab("analyze", trace, "--json", target, "--force").returncode == 0
    assert target.read_text() != "mine"


def test_a_window_counts_from_the_first_call(trace: Path) -> None:
    report = json.loads(overlap_lab("analyze", trace, "--window", "0us:100us", "--json", "-").stdout)
    values = {m["tag"]: m["value"] for m in report["measurements"] if not m["scope"]}
    assert values["device/window"] == 100_000
    assert values["device/busy"] == 90_000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "VERB"),
        (["analyze"], "PATH"),
        (["analyze", "nowhere.json"], "nowhere.json"),
        (["analyse", "x"], "analyse"),
        (["analyze", "x", "--window", "3"], "--window"),
        (["analyze", "x", "--colour"], "--colour"),
        (["analyze", "nowhere\x1b[31m.json"], "\\x1b[31m"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(arguments: list[str], says: str) -> None:
    done = overlap_lab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("overlap-lab: ")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unwritable_target_is_one_line_and_exit_2(trace: Path, tmp_path: Path) -> None:
    done = overlap_lab("analyze", trace, "--json", tmp_path / "no_such_folder" / "report.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_folder_as_target_is_named_as_one(trace: Path, tmp_path: Path) -> None:
    done = overlap_lab("analyze", trace, "--json", tmp_path, "--force")
    assert done.returncode == 2
    assert done.stderr == f"overlap-lab: {tmp_path} is a folder; name the file to write\n"


def test_a_reader_that_goes_away_is_no_error_message(trace: Path) -> None:
    command = f"{sys.executable} -m overlap_lab analyze {trace} --json - | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("{")
    assert done.stderr == ""


def test_version_and_help() -> None:
    assert overlap_lab("--version").stdout == f"overlap-lab {__version__}\n"
    done = overlap_lab("analyze", "--help")
    assert done.returncode == 0
    assert "Say what blocks the host" in done.stdout


def test_the_command_line_imports_no_heavy_package(trace: Path) -> None:
    script = (
        "import sys; from overlap_lab.cli import main; code = main(['analyze', sys.argv[1]]); "
        "heavy = {'torch', 'plotly', 'pandas'} & set(sys.modules); sys.exit(' '.join(heavy) or code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(trace)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "run/t.json", "--json", "run/t.json"),
        ("analyze", "run", "--json", "run/t.json"),
        ("compare", "run/t.json", "t2.json", "--json", "t2.json"),
        ("compare", "run/t.json", "t2.json", "--markdown", "linked.md"),
        ("report", "run/t.json", "-o", "run/t.json"),
        ("report", "run/t.json", "t2.json", "-o", "t2.json"),
        ("export", "run/t.json", "--to", "csv", "-o", "run/t.json"),
        ("check", "run/t.json", "--rule", "drain/count = 0", "--json", "run/t.json"),
    ],
)
def test_no_verb_writes_over_what_it_reads_whatever_is_forced(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "run").mkdir()
    paths = [write_small_trace(tmp_path / name) for name in ("run/t.json", "t2.json")]
    (tmp_path / "linked.md").symlink_to("t2.json")
    before = [path.read_bytes() for path in paths]
    done = overlap_lab(*words, "--force", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is read, and cannot be written as well" in done.stderr
    assert [path.read_bytes() for path in paths] == before


@pytest.mark.parametrize("words", [("analyze", "--json"), ("export", "--to", "csv", "-o"), ("report", "-o")])
def test_no_verb_writes_over_a_file_that_is_read_beside_the_named_one(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    kernels = csv_set(tmp_path, [Call("LaunchKernel", 10_000, 15_000, 1), Kernel(16_000, 19_000, 1)])
    [calls] = tmp_path.glob("*_hip_api_trace.csv")
    before = calls.read_bytes()
    verb, *rest = words
    done = overlap_lab(verb, kernels, *rest, calls, "--force")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is read, and cannot be written as well" in done.stderr
    assert calls.read_bytes() == before


def test_a_result_beside_the_traces_of_a_folder_may_be_forced(tmp_path: Path) -> None:
    write_small_trace(tmp_path / "t.json")
    for _ in range(2):
        assert overlap_lab("analyze", tmp_path, "--json", tmp_path / "result.json", "--force").returncode == 0
