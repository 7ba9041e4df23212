"""Makes `tests.timeline` and `tests.reference` importable from every test, after any installed package."""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs that way, and what these tests start and interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.append(str(Path(__file__).resolve().parents[1]))


def _take_core(path: str) -> None:
    """Let the readers use the compiled core at `path`, such as one built with sanitizers."""
    spec = spec_from_file_location("overlap_lab._native", path)
    assert spec is not None
    assert spec.loader is not None
    core = module_from_spec(spec)
    spec.loader.exec_module(core)
    sys.modules["overlap_lab._native"] = core


if tested := os.environ.get("OVERLAP_LAB_TESTED_CORE"):
    _take_core(tested)
