"""The pytest plugin in real pytest runs, on the CPU host target."""

from __future__ import annotations

import pytest

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
pytest_plugins = ["pytester"]

INI = """[pytest]
filterwarnings =
    error
    ignore:Module already imported so cannot be rewritten; _editable_skbc_overlap_lab
"""
WORK = """
import ctypes
import hip_ext
from hip_ext import _host_runtime as runtime

STREAM = hip_ext.Stream()
ON_DEVICE = runtime.device_malloc(4096)
ON_HOST = ctypes.create_string_buffer(4096)

def enqueue():
    runtime.launch_test_kernel(STREAM.handle, rounds=300)

def read_back():  # a synchronous copy waits however late the host comes, unlike a synchronize
    runtime.memcpy(ctypes.addressof(ON_HOST), ON_DEVICE, 4096)

def drained():
    for _ in range(3):
        enqueue()
        read_back()

def flowing():
    for _ in range(3):
        enqueue()
    STREAM.synchronize()
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs a test file in a process of its own; the plugin is loaded by name where it is not installed."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(work=WORK)
    pytester.makeini(INI)

    def start(test: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=f"from work import *\nimport pytest\n{test}")
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *PLUGIN, *options)

    return start


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.value == "overlap_lab.pytest_plugin" for point in entry_points(group="pytest11"))


PLUGIN = () if _is_installed() else ("-p", "overlap_lab.pytest_plugin")

CAPTURE = """
def test_it(overlap):
    with overlap.capture():
        {work}()
    overlap.check({limits})
"""


def test_work_that_flows_passes(run) -> None:
    run(
        CAPTURE.format(work="flowing", limits="drains=0, blocked_per_call='50us', ratio=0.95")
    ).assert_outcomes(passed=1)


def test_a_failure_names_call_cost_range_and_the_kept_trace(run) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*budget VIOLATED: 0 of 1 rules kept, 1 broken*",
            "*VIOLATED * drain/count <= 0: 2*",
            "*hipMemcpy blocked the host 2 times for *(sync_copy)*",
            "*drained device 1, stream * 2 x*",
            "*trace *.db",
        ]
    )


def test_a_failure_names_the_stack_of_the_wait(run) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"))
    result.stdout.fnmatch_lines(["*at *work.py(*): drained*", "*at *test_it.py(*): test_it*"])


def test_the_trace_of_a_failure_is_kept_where_it_is_asked_for(run, pytester: pytest.Pytester) -> None:
    result = run(CAPTURE.format(work="drained", limits="drains=0"), "--overlap-keep=kept")
    [kept] = (pytester.path / "kept").rglob("*.db")
    assert "test_it" in kept.parent.name
    result.stdout.fnmatch_lines([f"*trace *{kept.name}"])


def test_a_time_with_one_observation_is_undecided_and_told(run) -> None:
    test = CAPTURE.format(work="drained", limits="rules=['drain/idle < 1ns']")
    result = run(test)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*overlap: 1 undecided*", "*test_it.py::test_it: drain/idle < 1ns: 1 obs*"])
    run(test, "--overlap-strict").assert_outcomes(failed=1)


def test_five_blocks_are_enough_for_a_time_to_fail(run) -> None:
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


def test_a_marked_test_is_called_warmup_and_repeats_times(run) -> None:
    run(MARKED.format(body="enqueue()")).assert_outcomes(passed=2)


def test_a_marked_test_that_drains_fails(run) -> None:
    result = run(MARKED.format(body="enqueue(); read_back()"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*drain/count <= 0: 3*"])


def test_an_error_of_a_marked_test_is_its_own(run) -> None:
    result = run(
        "@pytest.mark.overlap_budget(drains=0, warmup=0)\ndef test_it():\n    enqueue()\n    assert 1 == 2\n"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_the_budget_of_the_run_holds_for_every_captured_test(run, pytester: pytest.Pytester) -> None:
    (pytester.path / "overlap.toml").write_text("rules = ['drain/count = 0']\n")
    test = "def test_it(overlap):\n    with overlap.capture():\n        drained()\n"
    run(test).assert_outcomes(passed=1)
    run(test, "--overlap-budget=overlap.toml").assert_outcomes(passed=1, errors=1)
    pytester.makeini(INI + "overlap_budget = overlap.toml\n")
    run(test).assert_outcomes(passed=1, errors=1)


def test_an_allowed_wait_passes(run) -> None:
    limits = "drains=0, allow=[('hipMemcpy', 'it is the point of this test')]"
    run(CAPTURE.format(work="drained", limits=limits)).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("def test_it(overlap):\n    overlap.check(drains=0)\n", "nothing was recorded"),
        (CAPTURE.format(work="flowing", limits=""), "no limit; give for example drains=0"),
        (CAPTURE.format(work="flowing", limits="rules=['x']"), "'x' is no rule"),
        (CAPTURE.format(work="flowing", limits="budget='none.toml'"), "cannot be read"),
        ("def test_it(overlap):\n    with overlap.capture():\n        pass\n", "nothing to trace"),
        ("@pytest.mark.overlap_budget(3)\ndef test_it():\n    pass\n", "overlap_budget takes keywords"),
        ("@pytest.mark.overlap_budget(repeats=0)\ndef test_it():\n    pass\n", "repeats >= 1"),
    ],
)
def test_misuse_fails_with_one_clear_sentence(run, test: str, why: str) -> None:
    result = run(test)
    result.assert_outcomes(failed=1)
    assert why in result.stdout.str()


def test_a_backend_that_is_not_there_skips_or_fails_but_never_passes(run) -> None:
    test = CAPTURE.format(work="flowing", limits="drains=0")
    result = run(test, "--overlap-backend=cuda", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*overlap: backend='cuda': torch has no device here*"])
    run(test, "--overlap-backend=cuda", "--overlap-require").assert_outcomes(failed=1)


def test_it_works_under_xdist(run) -> None:
    test = CAPTURE.format(work="flowing", limits="drains=0") + CAPTURE.format(
        work="drained", limits="rules=['drain/idle < 1ns']"
    ).replace("test_it", "test_other")
    result = run(test, "-n", "2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*overlap: 1 undecided*"])


def test_unused_it_imports_nothing_heavy(run, pytester: pytest.Pytester) -> None:
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


def test_switched_off_it_is_off(run) -> None:
    if PLUGIN:
        pytest.skip("the package is not installed here, so the plugin is off already")
    result = run(CAPTURE.format(work="flowing", limits="drains=0"), "-p", "no:overlap")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'overlap' not found*"])
