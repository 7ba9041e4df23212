"""Tests with the marker `overlap_budget`: called again and again, recorded, and checked."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import pytest

from overlap_lab.capture.annotate import annotate
from overlap_lab.errors import UsageError
from overlap_lab.pytest_plugin.fixture import Overlap
from overlap_lab.pytest_plugin.limits import budget_of

__all__ = ["call_marked"]

_MARKER: Final = "overlap_budget"
_TAKEN: Final = ("warmup", "repeats", "backend")


def call_marked(item: pytest.Function, marker: pytest.Mark) -> Generator[None, Any, Any]:
    """Call the test `warmup` times, then record `repeats` calls, each a step, and check the limits.

    The last call is pytest's own, so that other plugins see one.
    """
    __tracebackhide__ = True
    limits = dict(marker.kwargs)
    warmup, repeats = limits.pop("warmup", 1), limits.pop("repeats", 5)
    if marker.args or not _are_counts(warmup, repeats):
        raise UsageError(f"{item.nodeid}: overlap_budget takes keywords; warmup is >= 0 and repeats >= 1")
    backend = limits.pop("backend", None)
    wanted = budget_of(limits, where=_MARKER, also=_TAKEN)
    overlap: Overlap = item._request.getfixturevalue("overlap")
    call = _caller(item)
    for _ in range(warmup):
        call()
    with overlap.capture(backend=backend):
        for number in range(repeats - 1):
            with annotate(f"test step #{number}"):
                call()
        with annotate(f"test step #{repeats - 1}"):
            result = yield
    overlap.check(wanted)
    overlap.finish()
    return result


def _are_counts(warmup: object, repeats: object) -> bool:
    return isinstance(warmup, int) and warmup >= 0 and isinstance(repeats, int) and repeats >= 1


def _caller(item: pytest.Function) -> Any:
    names = item._fixtureinfo.argnames
    arguments = {name: item.funcargs[name] for name in names}
    return lambda: item.obj(**arguments)
