"""Baselines of the pytest plugin in real pytest runs, on the CPU host target."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.plugin_runs import CAPTURE, INI, PLUGIN, Run, runs_of

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runs_of(pytester, monkeypatch)


FLOWING = CAPTURE.format(work="flowing", limits="drains=3")
DRAINED = CAPTURE.format(work="drained", limits="drains=3")
NO_MORE_DRAINS = "--overlap-compare-fail=drain/count:0"


def stored(pytester: pytest.Pytester, folder: str = ".overlap") -> list[Path]:
    return sorted((pytester.path / folder).rglob("*.json"))


def entries(path: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(path.read_text())
    return whole["entries"]  # type: ignore[no-any-return]


_SAVED: dict[str, bytes] = {}


def flowing_before(run: Run, pytester: pytest.Pytester) -> None:
    """A store with what FLOWING recorded; recorded once."""
    if not _SAVED:
        run(FLOWING, "--overlap-save")
        _SAVED.update({str(path.relative_to(pytester.path)): path.read_bytes() for path in stored(pytester)})
    for name, content in _SAVED.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_passing_tests_are_saved_under_their_node_ids(run: Run, pytester: pytest.Pytester) -> None:
    result = run(
        FLOWING + "def test_bad(overlap):\n    with overlap.capture():\n        flowing()\n    assert 0\n",
        "--overlap-save=before",
    )
    result.assert_outcomes(passed=1, failed=1)
    [path] = stored(pytester)
    assert path.name == "0001_before.json"
    assert list(entries(path)) == ["test_it.py::test_it"]
    result.stdout.fnmatch_lines(["*overlap: baselines*", f"wrote .overlap/*/{path.name}: 1 test"])


def test_saved_without_a_name_it_is_called_main(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    assert [path.name for path in stored(pytester)] == ["0001_main.json"]


def test_the_ini_saves_too(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini(INI + "overlap_save = nightly\noverlap_store = kept\n")
    run(FLOWING).assert_outcomes(passed=1)
    assert [path.name for path in stored(pytester, "kept")] == ["0001_nightly.json"]


def test_another_store_is_read_where_it_is_named(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    (pytester.path / ".overlap").rename(pytester.path / "kept")
    result = run(FLOWING, "--overlap-compare=main", NO_MORE_DRAINS, "--overlap-store=kept")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["FINE*test_it.py::test_it: *"])


def test_more_drains_than_before_fail_and_name_the_wait(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    result = run(DRAINED, "--overlap-compare=main", NO_MORE_DRAINS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*baseline main 0001 VIOLATED: 0 of 1 rules kept, 1 broken*",
            "*VIOLATED *drain/count:0: 2 against 0*",
            "*hipMemcpy blocked the host 2 times*",
            "*at *work.py(*): drained*",
            "*trace *.db",
            "VIOLATED*test_it.py::test_it: drain/count:0: 2 against 0*",
        ]
    )


def test_without_a_rule_it_only_tells(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    result = run(DRAINED, "--overlap-compare")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "WORSE *test_it.py::test_it: drain/count:0: 2 against 0*; not failing: no --overlap-compare-fail "
            "says what may not be worse"
        ]
    )
    result.stdout.no_fnmatch_line("*VIOLATED*")


def test_the_ini_compares_and_fails_too(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    pytester.makeini(
        INI + "overlap_compare = main\noverlap_compare_fail =\n    drain/count:0\n    drain/idle\n"
    )
    run(DRAINED).assert_outcomes(failed=1)
    run(FLOWING).assert_outcomes(passed=1)


def test_an_allowance_lets_it_pass(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    run(DRAINED, "--overlap-compare", "--overlap-compare-fail=drain/count:2").assert_outcomes(passed=1)


def test_a_time_of_one_block_is_undecided_unless_strict(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    rule = "--overlap-compare-fail=drain/idle:0"
    result = run(DRAINED, "--overlap-compare", rule)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["UNDECIDED*test_it.py::test_it: drain/idle:0:*too few observations*", "*overlap: 1 undecided*"]
    )
    run(DRAINED, "--overlap-compare", rule, "--overlap-strict").assert_outcomes(failed=1)


MARKED = """
@pytest.mark.overlap_budget(drains=9, repeats=8)
def test_it():
    {body}
"""


def test_a_marked_test_compares_its_steps(run: Run, pytester: pytest.Pytester) -> None:
    run(MARKED.format(body="enqueue()"), "--overlap-save").assert_outcomes(passed=1)
    [[stored_run]] = entries(stored(pytester)[0]).values()
    assert stored_run["steps"]["size"] == 8
    compared = ("--overlap-compare=main", NO_MORE_DRAINS)
    run(MARKED.format(body="enqueue()"), *compared).assert_outcomes(passed=1)
    run(MARKED.format(body="enqueue(); read_back()"), *compared).assert_outcomes(failed=1)


def test_a_test_that_is_in_no_baseline_is_new_and_passes(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    result = run(DRAINED.replace("test_it", "test_other"), "--overlap-compare=main", NO_MORE_DRAINS)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["NEW*test_it.py::test_other: in no baseline yet"])


def test_a_run_of_a_few_tests_hides_no_older_baseline_of_the_others(run: Run) -> None:
    both = FLOWING + FLOWING.replace("test_it", "test_other")
    run(both, "--overlap-save")
    run(both, "--overlap-save", "-k", "test_other")
    result = run(both, "--overlap-compare=main", NO_MORE_DRAINS)
    result.stdout.fnmatch_lines(["FINE*::test_it:*", "FINE*::test_other:*"])


def test_a_baseline_of_another_machine_is_incomparable(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    [path] = stored(pytester)
    whole = json.loads(path.read_text())
    whole["machine"]["facts"]["cores"] = "4096"
    other = path.parent.with_name("other-00000000")
    path.parent.rename(other)
    (other / path.name).write_text(json.dumps(whole))
    result = run(DRAINED, "--overlap-compare=main", NO_MORE_DRAINS)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["INCOMPARABLE test_it.py::test_it: *the cores differ: 4096 against *"])
    strict = run(DRAINED, "--overlap-compare=main", NO_MORE_DRAINS, "--overlap-strict")
    strict.assert_outcomes(failed=1)
    forced = run(DRAINED, "--overlap-compare=main", NO_MORE_DRAINS, "--overlap-force-comparable")
    forced.assert_outcomes(failed=1)
    forced.stdout.fnmatch_lines(["VIOLATED*test_it.py::test_it: drain/count:0: 2 against 0*"])
    pytester.makeini(INI + "overlap_force_comparable = true\n")
    run(DRAINED, "--overlap-compare=main", NO_MORE_DRAINS).assert_outcomes(failed=1)


def test_one_that_cannot_be_read_fails_with_its_name(run: Run, pytester: pytest.Pytester) -> None:
    flowing_before(run, pytester)
    [path] = stored(pytester)
    path.write_text("{")
    result = run(FLOWING, "--overlap-compare=main", NO_MORE_DRAINS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*overlap: *{path.name}: is no baseline that can be read*"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--overlap-compare=none",), "no baseline is called 'none'; it holds none"),
        (("--overlap-compare-fail=drain/count:0",), "add --overlap-compare[[]=NAME]"),
        (("--overlap-compare", "--overlap-compare-fail=drain:0"), "does not say what may become worse"),
        (("--overlap-compare", "--overlap-compare-fail=__import__('os')"), "does not say what may become"),
        (("--overlap-save=../../x",), "cannot name a baseline"),
        (("--overlap-save", "test_it.py"), "took 'test_it.py' for its name: write --overlap-save=NAME"),
        (("--overlap-compare", "test_it.py"), "took 'test_it.py' for its name: write --overlap-compare=NAME"),
    ],
)
def test_misuse_stops_before_the_tests_with_one_sentence(
    run: Run, options: tuple[str, ...], why: str
) -> None:
    result = run(FLOWING, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: overlap: *{why}*"])


def test_nothing_to_compare_with_yet_is_told(run: Run) -> None:
    result = run(FLOWING, "--overlap-compare")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["NEW*test_it.py::test_it: in no baseline yet"])


def test_a_store_that_cannot_be_written_is_no_success(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "taken").write_text("a file")
    result = run(FLOWING, "--overlap-save", "--overlap-store=taken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["not saved: *taken*cannot be written*"])


MANY = "\n".join(FLOWING.replace("test_it", f"test_{number}") for number in range(6))


def test_workers_save_one_baseline_of_all_their_tests(run: Run, pytester: pytest.Pytester) -> None:
    result = run(MANY, "--overlap-save", "-n", "2")
    result.assert_outcomes(passed=6)
    [path] = stored(pytester)
    assert sorted(entries(path)) == [f"test_it.py::test_{number}" for number in range(6)]
    result.stdout.fnmatch_lines(["wrote *0001_main.json: 6 tests"])


def test_a_worker_that_dies_loses_nothing_of_the_tests_before(run: Run, pytester: pytest.Pytester) -> None:
    crash = "\ndef test_z():\n    import os\n    os._exit(3)\n"
    run(FLOWING + crash, "--overlap-save", "-n", "1").assert_outcomes(passed=1, failed=1)
    assert list(entries(stored(pytester)[0])) == ["test_it.py::test_it"]


def test_workers_compare_and_the_controller_tells(run: Run) -> None:
    run(MANY, "--overlap-save")
    worse = MANY.replace("flowing()", "drained()", 1).replace("drains=3", "drains=9")
    result = run(worse, "--overlap-compare=main", NO_MORE_DRAINS, "-n", "2")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["FINE*::test_1:*", "VIOLATED*::test_0: drain/count:0: 2 against 0*"])


def test_two_runs_at_once_overwrite_nothing(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_twice=f"from work import *\n{FLOWING}")
    words = ["-m", "pytest", "-p", "no:cacheprovider", *PLUGIN, "test_twice.py", "--overlap-save"]
    command = [sys.executable, *words]
    several = [subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(200) for one in several] == [0, 0]
    assert [path.name for path in stored(pytester)] == ["0001_main.json", "0002_main.json"]
