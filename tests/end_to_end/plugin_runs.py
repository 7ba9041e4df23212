"""pytest runs of small test files that use the plugin, on the CPU host target."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Final

import pytest

__all__ = ["CAPTURE", "INI", "PLUGIN", "Run", "runs_of"]

INI: Final = """[pytest]
filterwarnings =
    error
    ignore:Module already imported so cannot be rewritten; _editable_skbc_overlap_lab
"""
WORK: Final = """
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


def _is_installed() -> bool:
    return any(point.value == "overlap_lab.pytest_plugin" for point in entry_points(group="pytest11"))


PLUGIN: Final = () if _is_installed() else ("-p", "overlap_lab.pytest_plugin")

CAPTURE: Final = """
def test_it(overlap):
    with overlap.capture():
        {work}()
    overlap.check({limits})
"""

Run = Callable[..., pytest.RunResult]
"""A test file's text and options -> the run."""


def runs_of(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a test file in a process of its own; the plugin is loaded by name where it is not installed."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(work=WORK)
    pytester.makeini(INI)

    def start(test: str, *options: str, plugin: tuple[str, ...] = PLUGIN) -> pytest.RunResult:
        pytester.makepyfile(test_it=f"from work import *\nimport pytest\n{test}")
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugin, *options)

    return start
