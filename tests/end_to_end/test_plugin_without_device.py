"""The pytest plugin where there is nothing to record: such a test skips or fails, and never passes."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.end_to_end.plugin_runs import PLUGIN

# Here and not in a test: pytester forgets what a test imported, and torch cannot be imported twice.
pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")
pytest_plugins = ["pytester"]

TEST = """
def test_it(overlap):
    with overlap.capture({backend}):
        pass
    overlap.check(drains=0)
"""
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({names}))  # as if they were not installed
"""


def run(
    pytester: pytest.Pytester, test: str, *options: str, without: tuple[str, ...] = ()
) -> pytest.RunResult:
    pytester.makeconftest(WITHOUT.format(names=without))
    pytester.makepyfile(test_it=test)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *PLUGIN, "-rs", *options)


@pytest.mark.parametrize(
    ("backend", "without", "why"),
    [
        (
            "",
            ("torch", "hip_ext"),
            "nothing here can be recorded: torch has no CUDA or ROCm device, and the CPU",
        ),
        (
            "backend='host'",
            ("torch", "hip_ext"),
            "backend='host': the CPU host target of hip_ext is not inst",
        ),
        ("backend='kineto'", ("torch",), "backend='kineto': torch has no CUDA or ROCm device here"),
        ("backend='cuda'", ("torch",), "backend='cuda': torch has no device here"),
        ("backend='rocm'", ("torch",), "backend='rocm': torch has no device here"),
        ("backend='cupti'", (), "backend='cupti': cupti-python is not installed: pip install"),
    ],
)
def test_without_device_or_profiler_a_test_is_skipped_or_fails_where_it_is_required(
    pytester: pytest.Pytester, backend: str, without: tuple[str, ...], why: str
) -> None:
    if "cupti" in backend and find_spec("cupti"):
        pytest.skip("cupti-python is installed here")
    test = TEST.format(backend=backend)
    skipped = run(pytester, test, without=without)
    skipped.assert_outcomes(skipped=1)
    assert why in skipped.stdout.str()
    required = run(pytester, test, "--overlap-require", without=without)
    required.assert_outcomes(failed=1)
    assert why in required.stdout.str()


def test_a_marked_test_is_skipped_as_well(pytester: pytest.Pytester) -> None:
    marked = "import pytest\n@pytest.mark.overlap_budget(drains=0)\ndef test_it(): pass\n"
    run(pytester, marked, without=("torch", "hip_ext")).assert_outcomes(skipped=1)


def test_an_unknown_backend_is_no_skip(pytester: pytest.Pytester) -> None:
    result = run(pytester, TEST.format(backend="backend='nsys'"))
    result.assert_outcomes(failed=1)
    assert "backend='nsys': expected one of" in result.stdout.str()


CALLS_ONLY = """
import hip_ext

def test_it(overlap):
    with overlap.capture(backend="host"):
        hip_ext.Stream().synchronize()
    overlap.check({limits})
"""


@pytest.mark.parametrize("limits", ["drains=0", "blocked='1s'", "blocked_per_call='1s'", "ratio=0.0"])
def test_a_block_without_work_for_the_device_passes_no_limit(pytester: pytest.Pytester, limits: str) -> None:
    result = run(pytester, CALLS_ONLY.format(limits=limits))
    result.assert_outcomes(failed=1)
    assert "the trace has no device records" in result.stdout.str()
