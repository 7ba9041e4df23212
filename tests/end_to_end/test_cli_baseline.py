"""`overlap-lab baseline` and `overlap-lab check --baseline` as processes."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import overlap_lab
from tests.end_to_end.small_trace import write_small_trace
from tests.end_to_end.step_traces import write_steps

TRACES = Path(__file__).parents[2] / "traces"
SYNC, ASYNC = TRACES / "fmha_bwd_sync.db", TRACES / "fmha_bwd_async.db"


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return overlap_lab(*words, cwd=folder)


def saved(folder: Path, *traces: Path, name: str = "main", more: tuple[str, ...] = ()) -> Path:
    done = run(folder, "baseline", "save", *traces, "--name", name, *more)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / done.stdout.strip().removeprefix("wrote ")


def held(folder: Path, *words: str | Path, name: str = "main") -> subprocess.CompletedProcess[str]:
    return run(folder, "check", *words, "--baseline", name)


def test_a_baseline_lies_by_machine_number_and_name(tmp_path: Path) -> None:
    first, second = saved(tmp_path, ASYNC), saved(tmp_path, ASYNC)
    assert [first.name, second.name] == ["0001_main.json", "0002_main.json"]
    assert first.parent == second.parent
    assert first.parent.parent == tmp_path / ".overlap"
    assert first.parent.name.startswith("hip-host-runtime-cpu-")


def test_it_is_plain_json_without_hosts_commands_or_files(tmp_path: Path) -> None:
    text = saved(tmp_path, ASYNC).read_text()
    whole = json.loads(text)
    assert (whole["schema"], whole["name"]) == ("overlap_lab.baseline/1", "main")
    [run_] = whole["entries"]["trace"]
    assert set(run_["source"]) == {"format", "vendor", "tool", "devices", "window", "settings", "metadata"}
    assert set(run_["source"]["metadata"]) <= {"captured with", "device", "cpu", "cores"}
    assert "fmha_bwd_async" not in text


def test_the_same_trace_keeps_its_own_baseline(tmp_path: Path) -> None:
    saved(tmp_path, ASYNC)
    done = held(tmp_path, ASYNC)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("baseline main 0001 FINE: 3 of 3 rules kept")


def test_more_drains_than_the_baseline_are_violated_and_name_the_wait(tmp_path: Path) -> None:
    saved(tmp_path, ASYNC)
    done = held(tmp_path, SYNC)
    assert done.returncode == 1
    assert "VIOLATED  drain/count:0: 9 against 0" in done.stdout
    assert "hipMemcpy blocked the host" in done.stdout


def test_a_time_of_one_run_is_undecided_unless_strict(tmp_path: Path) -> None:
    saved(tmp_path, ASYNC)
    rule = ("--compare-fail", "drain/idle:0")
    done = held(tmp_path, SYNC, *rule)
    assert done.returncode == 0
    assert "UNDECIDED drain/idle:0" in done.stdout
    assert "too few observations" in done.stdout
    assert held(tmp_path, SYNC, *rule, "--strict").returncode == 1


def repeats(folder: Path, prefix: str, **changes: int) -> list[Path]:
    return [
        write_steps(folder / f"{prefix}{at}.json", start_us=at * 100_000 + at, **changes) for at in range(5)
    ]


def test_slower_repeats_are_violated_with_the_place_that_costs_it(tmp_path: Path) -> None:
    saved(tmp_path, *repeats(tmp_path, "a"))
    done = held(tmp_path, *repeats(tmp_path, "b", late_us=130), "--compare-fail", "device/window:5%")
    assert done.returncode == 1
    assert "VIOLATED  device/window:5%: " in done.stdout
    assert "WORSE: " in done.stdout
    assert "drain after aten::item at train.py:88" in done.stdout


def test_what_is_allowed_is_no_violation(tmp_path: Path) -> None:
    saved(tmp_path, *repeats(tmp_path, "a"))
    worse = repeats(tmp_path, "b", late_us=130)
    done = held(tmp_path, *worse, "--compare-fail", "device/window:20%", "--compare-fail", "drain/count:0")
    assert (done.returncode, "FINE: 2 of 2" in done.stdout) == (0, True)


def test_the_steps_of_one_trace_are_enough(tmp_path: Path) -> None:
    saved(tmp_path, write_steps(tmp_path / "a.json", steps=20))
    slow = write_steps(tmp_path / "b.json", steps=20, late_us=400)
    done = held(tmp_path, slow, "--compare-fail", "device/window:10%")
    assert done.returncode == 1
    assert "(medians of 20 and 20)" in done.stdout


def test_other_numbers_of_steps_do_not_make_more_drains(tmp_path: Path) -> None:
    saved(tmp_path, write_steps(tmp_path / "a.json", steps=10))
    done = held(tmp_path, write_steps(tmp_path / "b.json", steps=30), "--compare-fail", "drain/count:0")
    assert (done.returncode, "VIOLATED" in done.stdout) == (0, False)


def two_programs(folder: Path) -> tuple[Path, Path]:
    names = ("gemm", "attention")
    first, second = (write_small_trace(folder / f"{name}.json", kernel=name) for name in names)
    return first, second


def test_traces_of_two_programs_are_no_repeats_unless_forced(tmp_path: Path) -> None:
    both = two_programs(tmp_path)
    done = run(tmp_path, "baseline", "save", *both)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "overlap-lab: baseline main: INCOMPARABLE: the traces were not made alike: trace 2 is no repeat of "
        "trace 1, for their programs differ: attention against gemm; --force-comparable saves them all "
        "the same\n"
    )
    assert not (tmp_path / ".overlap").exists()
    assert saved(tmp_path, *both, more=("--force-comparable",)).name == "0001_main.json"


def test_traces_of_two_programs_are_held_against_no_baseline_unless_forced(tmp_path: Path) -> None:
    first, second = two_programs(tmp_path)
    saved(tmp_path, first)
    done = held(tmp_path, first, second)
    assert (done.returncode, done.stderr) == (0, "")
    assert "baseline main 0001 INCOMPARABLE: 0 of 3 rules kept, 3 incomparable" in done.stdout
    assert "trace 2 is no repeat of trace 1, for their programs differ: attention against gemm" in done.stdout
    forced = held(tmp_path, first, second, "--force-comparable", "--compare-fail", "drain/count:0")
    assert "ok        drain/count:0: 1 against 1 (largest of 2 and 1)" in forced.stdout


def test_every_output_tells_the_baseline(tmp_path: Path) -> None:
    saved(tmp_path, ASYNC)
    paths = {name: tmp_path / f"out.{name}" for name in ("json", "junit", "sarif", "markdown")}
    options = [part for name, path in paths.items() for part in (f"--{name}", path)]
    assert held(tmp_path, SYNC, "--rule", "drain/count <= 20", *options).returncode == 1
    whole = json.loads(paths["json"].read_text())
    assert [one["kind"] for one in whole["rules"]] == ["limit", *["baseline"] * 3]
    assert [one["outcome"] for one in whole["rules"]] == ["fine", "violated", "undecided", "undecided"]
    assert whole["baseline"]["name"] == "main 0001"
    assert whole["rules"][1]["baseline"] == 0
    suite = ET.parse(paths["junit"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "2")
    assert suite[1].get("classname") == "overlap baseline main 0001"
    driver, results = (json.loads(paths["sarif"].read_text())["runs"][0][key] for key in ("tool", "results"))
    assert [one["id"] for one in driver["driver"]["rules"]][:2] == ["drain/count", "baseline/drain/count"]
    assert {one["ruleId"] for one in results if one["level"] == "error"} == {"baseline/drain/count"}
    assert paths["markdown"].read_text().startswith("**Overlap budget and baseline main 0001 VIOLATED**")


def test_a_name_that_is_nowhere_is_exit_code_2_and_says_what_there_is(tmp_path: Path) -> None:
    done = held(tmp_path, ASYNC)
    assert (done.returncode, "it holds none" in done.stderr) == (2, True)
    saved(tmp_path, ASYNC, name="release")
    done = held(tmp_path, ASYNC)
    assert (done.returncode, "no baseline is called 'main'; it holds release" in done.stderr) == (2, True)


def test_another_kind_of_machine_is_incomparable_with_the_reason(tmp_path: Path) -> None:
    saved(tmp_path, write_steps(tmp_path / "a.json"))
    done = held(tmp_path, SYNC)
    assert done.returncode == 0
    assert "baseline main 0001 INCOMPARABLE: 0 of 3 rules kept, 3 incomparable" in done.stdout
    assert "the devices differ: NVIDIA H200 against HIP host runtime (CPU)" in done.stdout
    assert held(tmp_path, SYNC, "--strict").returncode == 1
    forced = held(tmp_path, SYNC, "--force-comparable", "--compare-fail", "drain/count:0")
    assert "drain/count:0: 9 against 11" in forced.stdout


def test_a_tag_and_a_number_find_it_too(tmp_path: Path) -> None:
    saved(tmp_path, ASYNC, name="nightly", more=("--tag", "v1.2"))
    assert held(tmp_path, ASYNC, name="v1.2").returncode == 0
    assert held(tmp_path, ASYNC, name="0001").returncode == 0


def test_list_and_show_tell_what_there_is(tmp_path: Path) -> None:
    assert run(tmp_path, "baseline", "list").stdout == ".overlap holds no baselines\n"
    saved(tmp_path, *repeats(tmp_path, "a"), more=("--tag", "v1", "--commit", "0123456789abcdef"))
    done = run(tmp_path, "baseline", "list")
    head, line = done.stdout.splitlines()
    assert head.split() == ["name", "number", "saved", "commit", "tags", "entries", "runs", "machine"]
    assert [*line.split()[:2], *line.split()[4:8]] == ["main", "0001", "012345678", "v1", "1", "5"]
    [plain] = json.loads(run(tmp_path, "baseline", "list", "--json").stdout)
    assert (plain["commit"], plain["entries"]) == ("0123456789abcdef", {"trace": 5})
    shown = run(tmp_path, "baseline", "show", "main").stdout
    assert "5 runs, 60 steps" in shown
    assert "device    NVIDIA H200" in shown
    [whole] = json.loads(run(tmp_path, "baseline", "show", "main", "--json").stdout)
    assert len(whole["entries"]["trace"]) == 5


def test_prune_says_what_it_removed_and_dry_run_removes_nothing(tmp_path: Path) -> None:
    paths = [saved(tmp_path, ASYNC) for _ in range(3)] + [saved(tmp_path, ASYNC, name="other")]
    dry = run(tmp_path, "baseline", "prune", "--keep", "1", "--dry-run")
    assert dry.stdout.splitlines()[-1] == "would remove 2 of 4 baselines"
    assert all(path.exists() for path in paths)
    done = run(tmp_path, "baseline", "prune", "--keep", "1")
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()[:-1]] == [
        "0001_main.json",
        "0002_main.json",
    ]
    assert [path.exists() for path in paths] == [False, False, True, True]
    assert saved(tmp_path, ASYNC).name == "0005_main.json"


def test_prune_leaves_what_a_comparison_still_reads(tmp_path: Path) -> None:
    tests, traces = saved(tmp_path, ASYNC), saved(tmp_path, ASYNC)
    whole = json.loads(tests.read_text())
    whole["entries"] = {"t.py::a": whole["entries"]["trace"], "t.py::b": whole["entries"]["trace"]}
    tests.write_text(json.dumps(whole))
    done = run(tmp_path, "baseline", "prune", "--keep", "1")
    assert done.stdout.splitlines() == [
        f"left {tests.relative_to(tmp_path)}: still among the newest with t.py::a and 1 more",
        "removed 0 of 2 baselines",
    ]
    assert tests.exists()
    assert traces.exists()
    run(tmp_path, "baseline", "prune", "--keep", "0")
    assert not tests.exists()


def test_what_a_test_recorded_is_compared_with_where_it_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, ASYNC)
    whole = json.loads(path.read_text())
    whole["entries"] = {"t.py::a": whole["entries"]["trace"]}
    path.write_text(json.dumps(whole))
    done = held(tmp_path, SYNC)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds tests (t.py::a), not a trace: name one with --entry TEST, or save one" in done.stderr
    done = held(tmp_path, SYNC, "--entry", "t.py::a", "--compare-fail", "drain/count:0")
    assert (done.returncode, "VIOLATED  drain/count:0: 9 against 0" in done.stdout) == (1, True)
    done = held(tmp_path, SYNC, "--entry", "t.py::b")
    assert (done.returncode, "has nothing about t.py::b; it has t.py::a" in done.stderr) == (2, True)
    done = run(tmp_path, "check", SYNC, "--rule", "drain/count = 0", "--entry", "t.py::a")
    assert (done.returncode, "add --baseline NAME" in done.stderr) == (2, True)


def test_prune_by_age_looks_at_the_date_within(tmp_path: Path) -> None:
    old, new = saved(tmp_path, ASYNC), saved(tmp_path, ASYNC)
    whole = json.loads(old.read_text()) | {"created": "2020-01-01T00:00:00+00:00"}
    old.write_text(json.dumps(whole))
    done = run(tmp_path, "baseline", "prune", "--older-than", "30d")
    assert done.stdout.splitlines()[-1] == "removed 1 of 2 baselines"
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("baseline", "prune"), "say what may go"),
        (("baseline", "prune", "--older-than", "soon"), "'soon' is no age"),
        (("baseline", "prune", "--keep", "-1"), "is negative"),
        (("baseline", "show", "none"), "no baseline is called 'none'"),
        (("baseline", "save", str(ASYNC), "--name", "../x"), "cannot name a baseline"),
        (("baseline", "save", str(ASYNC), str(SYNC), "none.db"), "none.db"),
        (("check", str(ASYNC), "--compare-fail", "drain/count:0"), "add --baseline NAME"),
        (
            ("check", str(ASYNC), "--baseline", "m", "--compare-fail", "drain:0"),
            "does not say what may become",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(
    tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert why in line


def without(whole: dict[str, Any], *keys: str) -> str:
    inner = whole
    for key in keys[:-1]:
        inner = inner[key] if isinstance(inner, dict) else inner[0]
    del inner[keys[-1]]
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda _: "", "is no baseline that can be read"),
        (lambda text: text[: len(text) // 2], "is no baseline that can be read"),
        (lambda _: "[" * 100_000, "is no baseline that can be read"),
        (lambda text: text.replace("baseline/1", "baseline/9"), "its schema is 'overlap_lab.baseline/9'"),
        (lambda text: text.replace('"drain/count"', '"drain/none"'), "there is no measure 'drain/none'"),
        (lambda text: text.replace('"value":0}', '"value":NaN}'), "NaN is no number"),
        (lambda text: text.replace('"value":0}', '"value":1e99}'), "is no number"),
        (lambda text: without(json.loads(text), "machine", "facts"), "machine.facts is no object"),
        (lambda text: without(json.loads(text), "entries"), "entries is no object"),
    ],
)
def test_one_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path, change: Any, why: str) -> None:
    path = saved(tmp_path, ASYNC)
    path.write_text(change(path.read_text()))
    for words in (("check", ASYNC, "--baseline", "main"), ("baseline", "list"), ("baseline", "show", "main")):
        done = run(tmp_path, *words)
        assert done.returncode == 2, words
        [line] = done.stderr.splitlines()
        assert why in line
        assert str(path.relative_to(tmp_path)) in line


def test_another_store_is_taken_where_it_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "baseline", "save", ASYNC, "--store", "kept/here")
    assert done.returncode == 0
    assert run(tmp_path, "check", ASYNC, "--baseline", "main", "--store", "kept/here").returncode == 0
    assert not (tmp_path / ".overlap").exists()


def test_processes_that_save_at_once_each_get_a_number(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "overlap_lab", "baseline", "save", str(ASYNC)]
    several = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(4)]
    assert [one.wait(60) for one in several] == [0] * 4
    for one in several:
        one.communicate()
    names = sorted(path.name for path in (tmp_path / ".overlap").rglob("*.json"))
    assert names == [f"{number:04}_main.json" for number in range(1, 5)]
