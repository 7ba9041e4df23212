"""The pytest plugin in real pytest runs, on the CPU host target."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.plugin_runs import CAPTURE, INI, PLUGIN, Run, runs_of

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runs_of(pytester, monkeypatch)


def test_work_that_flows_passes(run: Run) -> None:
    run(
        CAPTURE.format(work="flowing", limits="drains=0, blocked_per_call='50us', ratio=0.95")
    ).assert_outcomes(passed=1)


def test_a_failure_names_call_cost_range_and_the_kept_trace(run: Run) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*drain/count 2 > 0: hipMemcpy at *.py:*",
            "*budget VIOLATED: 0 of 1 rules kept, 1 broken*",
            "*VIOLATED * drain/count <= 0: 2*",
            "*hipMemcpy blocked the host 2 times for *(sync_copy)*",
            "*drained device 1, stream * 2 x*",
            "*trace *.db",
            "FAILED *test_it - Failed: drain/count 2 > 0*",
        ]
    )


def test_a_failure_names_the_stack_of_the_wait(run: Run) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"))
    result.stdout.fnmatch_lines(["*at *work.py(*): drained*", "*at *test_it.py(*): test_it*"])


def test_the_trace_of_a_failure_is_kept_where_it_is_asked_for(run: Run, pytester: pytest.Pytester) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"), "--overlap-keep=kept")
    [kept] = (pytester.path / "kept").rglob("*.db")
    assert "test_it" in kept.parent.name
    result.stdout.fnmatch_lines([f"*trace *{kept.name}"])


def test_a_time_with_one_observation_is_undecided_and_told(run: Run) -> None:
    test = CAPTURE.format(work="drained", limits="rules=['drain/idle < 1ns']")
    result = run(test)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*overlap: 1 undecided*", "*test_it.py::test_it: drain/idle < 1ns: 1 obs*"])
    run(test, "--overlap-strict").assert_outcomes(failed=1)


def test_five_blocks_are_enough_for_a_time_to_fail(run: Run) -> None:
    run(
        """
def test_it(overlap):
    for _ in range(5):
        with overlap.capture():
            drained()
    overlap.check(rules=["drain/idle < 1ns"])
"""
    ).assert_outcomes(failed=1)


MARKED = """
calls = []

@pytest.mark.overlap_budget(drains=0, warmup=3, repeats=4)
def test_it():
    calls.append(1)
    {body}

def test_how_often():
    assert len(calls) == 7
"""


def test_a_marked_test_is_called_warmup_and_repeats_times(run: Run) -> None:
    run(MARKED.format(body="enqueue()")).assert_outcomes(passed=2)


def test_a_marked_test_that_drains_fails(run: Run) -> None:
    result = run(MARKED.format(body="enqueue(); read_back()"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*drain/count <= 0: 3*"])


def test_an_error_of_a_marked_test_is_its_own(run: Run) -> None:
    result = run(
        "@pytest.mark.overlap_budget(drains=0, warmup=0)\ndef test_it():\n    enqueue()\n    assert 1 == 2\n"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_the_budget_of_the_run_holds_for_every_captured_test(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "overlap.toml").write_text("rules = ['drain/count = 0']\n")
    test = "def test_it(overlap):\n    with overlap.capture():\n        drained()\n"
    run(test).assert_outcomes(passed=1)
    run(test, "--overlap-budget=overlap.toml").assert_outcomes(passed=1, errors=1)
    pytester.makeini(INI + "overlap_budget = overlap.toml\n")
    run(test).assert_outcomes(passed=1, errors=1)


def test_an_allowed_wait_passes(run: Run) -> None:
    limits = "drains=0, allow=[('hipMemcpy', 'it is the point of this test')]"
    run(CAPTURE.format(work="drained", limits=limits)).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("def test_it(overlap):\n    overlap.check(drains=0)\n", "nothing was recorded"),
        (CAPTURE.format(work="flowing", limits=""), "no limit; give for example drains=0"),
        (CAPTURE.format(work="flowing", limits="rules=['x']"), "'x' is no rule"),
        (CAPTURE.format(work="flowing", limits="drain=0"), "no limit 'drain' (did you mean drains?)"),
        ("@pytest.mark.overlap_budget(drain=0)\ndef test_it():\n    pass\n", "there is no limit 'drain'"),
        (CAPTURE.format(work="flowing", limits="budget='none.toml'"), "cannot be read"),
        ("def test_it(overlap):\n    with overlap.capture():\n        pass\n", "nothing to trace"),
        ("@pytest.mark.overlap_budget(3)\ndef test_it():\n    pass\n", "overlap_budget takes keywords"),
        ("@pytest.mark.overlap_budget(repeats=0)\ndef test_it():\n    pass\n", "repeats >= 1"),
    ],
)
def test_misuse_fails_with_one_clear_sentence(run: Run, test: str, why: str) -> None:
    result = run(test)
    result.assert_outcomes(failed=1)
    assert why in result.stdout.str()


def test_a_backend_that_is_not_there_skips_or_fails_but_never_passes(run: Run) -> None:
    test = CAPTURE.format(work="flowing", limits="drains=0")
    result = run(test, "--overlap-backend=cuda", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*overlap: backend='cuda': torch has no device here*"])
    run(test, "--overlap-backend=cuda", "--overlap-require").assert_outcomes(failed=1)


def test_the_ini_chooses_the_backend_and_requires_one(run: Run, pytester: pytest.Pytester) -> None:
    test = CAPTURE.format(work="flowing", limits="drains=0")
    pytester.makeini(INI + "overlap_backend = cuda\n")
    run(test).assert_outcomes(skipped=1)
    pytester.makeini(INI + "overlap_backend = cuda\noverlap_require = true\n")
    run(test).assert_outcomes(failed=1)


def test_the_ini_is_strict_and_keeps_traces(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini(INI + "overlap_strict = true\noverlap_keep = kept\n")
    run(CAPTURE.format(work="drained", limits="rules=['drain/idle < 1ns']")).assert_outcomes(failed=1)
    assert len(list((pytester.path / "kept").rglob("*.db"))) == 1


def test_it_works_under_xdist(run: Run) -> None:
    test = CAPTURE.format(work="flowing", limits="drains=0") + CAPTURE.format(
        work="drained", limits="rules=['drain/idle < 1ns']"
    ).replace("test_it", "test_other")
    result = run(test, "-n", "2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*overlap: 1 undecided*"])


def test_unused_it_imports_nothing_heavy(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_plain="""
import sys
def test_it():
    ours = [name for name in sys.modules if name.startswith("overlap_lab")]
    assert sorted(ours) == ["overlap_lab", "overlap_lab.pytest_plugin"], ours
    assert "numpy" not in sys.modules
    assert "torch" not in sys.modules
"""
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider", *PLUGIN, "test_plain.py").assert_outcomes(
        passed=1
    )


def test_switched_off_it_is_off(run: Run, pytester: pytest.Pytester) -> None:
    as_if_installed(pytester.path)
    test = "import sys\nassert 'overlap_lab' not in sys.modules\n" + CAPTURE.format(work="flowing", limits="")
    result = run(test, "-p", "no:overlap", plugin=())
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'overlap' not found*"])
    off = run(test, "-p", "no:overlap", "--overlap-save", plugin=())
    assert off.ret == pytest.ExitCode.USAGE_ERROR
    off.stderr.fnmatch_lines(["*unrecognized arguments: --overlap-save*"])


def as_if_installed(folder: Path) -> None:
    """The entry point of the package, which an editable checkout on the path alone does not have."""
    if PLUGIN:
        about = folder / "overlap_lab-0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: overlap_lab\nVersion: 0\n")
        (about / "entry_points.txt").write_text("[pytest11]\noverlap = overlap_lab.pytest_plugin\n")
