from __future__ import annotations

import os

import pytest

from overlap_lab._native import thread_count


def test_as_many_threads_as_this_process_may_use_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OVERLAP_LAB_THREADS", raising=False)
    assert thread_count() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("limit", "most"), [("1", 1), ("4096", 4096), ("0", 4096), ("", 4096), ("x", 4096)])
def test_the_user_may_ask_for_fewer_threads(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERLAP_LAB_THREADS", limit)
    assert thread_count() == min(most, len(os.sched_getaffinity(0)))
