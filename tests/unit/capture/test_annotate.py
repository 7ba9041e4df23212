"""Ranges reach whichever tool listens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from overlap_lab.capture import annotate as annotate_function
from overlap_lab.capture.annotate import annotate, recording_ranges

module = sys.modules["overlap_lab.capture.annotate"]
assert isinstance(module, ModuleType)


class Listener:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def push(self, name: str) -> object:
        self.heard.append(f"+{name}")
        return name

    def pop(self, pushed: object) -> None:
        self.heard.append(f"-{pushed}")


@pytest.fixture(autouse=True)
def no_tool() -> Iterator[None]:
    module._tool.cache_clear()
    yield
    module._tool.cache_clear()


def test_nested_ranges_end_in_reverse() -> None:
    listener = Listener()
    with recording_ranges(listener), annotate("outer"), annotate("inner"):
        pass
    assert listener.heard == ["+outer", "+inner", "-inner", "-outer"]


def test_every_listener_hears_and_none_after_its_capture() -> None:
    first, second = Listener(), Listener()
    with recording_ranges(first):
        with recording_ranges(second), annotate("both"):
            pass
        with annotate("one"):
            pass
    assert (first.heard, second.heard) == (["+both", "-both", "+one", "-one"], ["+both", "-both"])


def test_a_range_that_ends_after_its_capture_ends_well() -> None:
    listener = Listener()
    with recording_ranges(listener):
        entered = annotate("long")
        entered.__enter__()
    entered.__exit__(None, None, None)
    assert listener.heard == ["+long", "-long"]


def test_it_is_a_decorator_too_and_an_error_passes_through() -> None:
    listener = Listener()

    @annotate("work")
    def work() -> None:
        raise ZeroDivisionError

    with recording_ranges(listener), pytest.raises(ZeroDivisionError):
        work()
    assert listener.heard == ["+work", "-work"]


def test_roctx_is_used_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    roctx = SimpleNamespace(rangePush=heard.append, rangePop=lambda: heard.append("pop"))
    monkeypatch.setitem(sys.modules, "roctx", roctx)
    with annotate("backward"):
        pass
    assert heard == ["backward", "pop"]


def test_nvtx_is_used_where_there_is_no_roctx(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setitem(sys.modules, "roctx", None)
    nvtx = SimpleNamespace(push_range=heard.append, pop_range=lambda: heard.append("pop"))
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    with annotate("backward"):
        pass
    assert heard == ["backward", "pop"]


def test_without_any_listener_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("roctx", "nvtx"):
        monkeypatch.setitem(sys.modules, name, None)
    with annotate_function("nobody looks"):
        pass
