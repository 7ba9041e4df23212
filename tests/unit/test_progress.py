"""A bar in a notebook: when there is one, what it says, and what it leaves."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from overlap_lab import load, progress
from overlap_lab.compare.statistics import median_interval
from overlap_lab.native import count_read
from overlap_lab.progress import Reading, each, waiting_for
from tests.end_to_end.small_trace import write_small_trace

PATIENCE_S = 60


class Notebook:
    """What a notebook's kernel is to the bar; `drawn` are the bars, in order."""

    def __init__(self, *, is_watched: bool) -> None:
        self.drawn: list[dict[str, str]] = []
        self.ids: set[str] = set()
        self.updates: list[bool] = []
        self._more = threading.Condition()
        self.kernel = SimpleNamespace(_allow_stdin=is_watched)
        self.display_pub = SimpleNamespace(publish=self._publish)

    def _publish(self, data: dict[str, str], *, transient: dict[str, str], update: bool) -> None:
        with self._more:
            self.drawn.append(data)
            self.ids.add(transient["display_id"])
            self.updates.append(update)
            self._more.notify_all()

    def wait_for_more(self) -> str:
        """The text of the next bar but the one that may be drawn already."""
        with self._more:
            size = len(self.drawn)
            assert self._more.wait_for(lambda: len(self.drawn) > size + 1, PATIENCE_S)
            return self.drawn[-1]["text/plain"]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    monkeypatch.setattr(progress, "_AFTER_S", 0.0)
    monkeypatch.setattr(progress, "_EVERY_S", 0.001)
    made = Notebook(is_watched=True)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: made))  # type: ignore[arg-type]
    return made


def test_bytes_read_move_the_bar_and_one_line_is_left(notebook: Notebook, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 8_000_000)
    with waiting_for("reading a.json", (path,)):
        count_read(2_000_000)
        assert notebook.wait_for_more().startswith("[#####...............] reading a.json: 2 of 8 MB, 25%, ")
        assert '<progress max="1" value="0.250">' in notebook.drawn[-1]["text/html"]
    assert "<progress" not in notebook.drawn[-1]["text/html"]
    assert notebook.drawn[-1]["text/plain"].startswith("reading a.json: ")
    assert len(notebook.ids) == 1, "it is drawn in place"
    assert notebook.updates == [False, *[True] * (len(notebook.updates) - 1)]


def test_counted_work_says_how_many_of_how_many(notebook: Notebook) -> None:
    with waiting_for("comparing"):
        for number in each(["one", "two"]):
            if number == "two":
                assert notebook.wait_for_more() == "[##########..........] comparing: 1 of 2"


def test_work_that_nobody_can_count_has_a_bar_without_a_value(notebook: Notebook) -> None:
    with waiting_for("analyzing"):
        assert notebook.wait_for_more() == "analyzing: 0 s"
        assert '<progress max="1">' in notebook.drawn[-1]["text/html"]


def test_work_inside_of_work_has_no_bar_of_its_own(notebook: Notebook) -> None:
    with waiting_for("outer"), waiting_for("inner"):
        notebook.wait_for_more()
    assert all("outer" in bar["text/plain"] for bar in notebook.drawn)


def test_what_was_stopped_says_so(notebook: Notebook) -> None:
    def stop() -> None:
        with waiting_for("analyzing"):
            notebook.wait_for_more()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert notebook.drawn[-1]["text/plain"].startswith("analyzing: stopped after ")


def test_no_bar_comes_after_the_line_that_is_left(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar on its way to the notebook as the work ends, however slow that is."""
    slow, go_on = threading.Event(), threading.Event()
    publish = notebook.display_pub.publish

    def publish_slowly(data: dict[str, str], **more: Any) -> None:
        if notebook.drawn and threading.current_thread() is not threading.main_thread():
            slow.set()
            assert go_on.wait(PATIENCE_S)
        publish(data, **more)
        if threading.current_thread() is threading.main_thread():
            go_on.set()

    class Waited(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            go_on.set()
            super().join(timeout)

    notebook.display_pub.publish = publish_slowly
    monkeypatch.setattr(threading, "Thread", Waited)
    with waiting_for("analyzing"):
        assert slow.wait(PATIENCE_S)
    assert "<progress" in notebook.drawn[-2]["text/html"]
    assert "<progress" not in notebook.drawn[-1]["text/html"]


def test_a_notebook_that_goes_away_fails_no_work(notebook: Notebook) -> None:
    """ZMQError, which a kernel's socket raises, is a plain Exception."""
    publish, gone = notebook.display_pub.publish, threading.Event()

    def publish_once(data: dict[str, str], **more: Any) -> None:
        if notebook.drawn:
            gone.set()
            raise type("ZMQError", (Exception,), {})
        publish(data, **more)

    notebook.display_pub.publish = publish_once
    with waiting_for("analyzing"):
        assert gone.wait(PATIENCE_S)
    assert len(notebook.drawn) == 1


def test_a_name_stays_text(notebook: Notebook) -> None:
    with waiting_for("reading <script>\x1b[2J"):
        notebook.wait_for_more()
    assert all("<script" not in bar["text/html"] for bar in notebook.drawn)
    assert all("\x1b" not in bar["text/plain"] for bar in notebook.drawn)


def test_short_work_has_no_bar(notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(progress, "_AFTER_S", 600.0)
    load(write_small_trace(tmp_path / "a.json"))
    assert notebook.drawn == []


@pytest.mark.parametrize("shell", [None, SimpleNamespace(), Notebook(is_watched=False)])
def test_where_nobody_watches_there_is_no_bar_and_no_thread(
    shell: Any, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    before = threading.active_count()
    with waiting_for("analyzing"):
        assert threading.active_count() == before
    assert not getattr(shell, "drawn", [])


def test_a_bootstrap_is_counted_by_its_rows(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(progress._Bar, "count", lambda _, done, total: seen.append((done, total)))
    side = np.arange(30.0).reshape(3, 10)
    alone = median_interval((side,), seed=1)
    with waiting_for("comparing"):
        shown = median_interval((side,), seed=1)
    assert seen == [(0, 3), (1, 3), (2, 3)]
    assert np.array_equal(alone, shown)


def test_more_bytes_than_the_file_has_are_no_share_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 1_000)
    times = iter([0.0, 2.0])
    reading = Reading((path,), clock=lambda: next(times))
    count_read(6_000_000)
    assert reading.share() is None
    assert reading.words() == "6 MB, 3 MB/s"
