"""What the fixture `overlap` is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.capture.captured import Captured
from overlap_lab.capture.in_process import in_process
from overlap_lab.compare.budget import Budget, read_budget
from overlap_lab.compare.check import check
from overlap_lab.compare.checked import Check, Outcome
from overlap_lab.compare.judgment import FEWEST
from overlap_lab.errors import CaptureError, UsageError
from overlap_lab.loaders import load
from overlap_lab.pytest_plugin.failure import failure_text
from overlap_lab.pytest_plugin.limits import budget_of
from overlap_lab.pytest_plugin.settings import setting
from overlap_lab.report import Report
from overlap_lab.trace import Trace

if TYPE_CHECKING:
    from _pytest.fixtures import FixtureRequest

__all__ = ["Overlap"]

_UNSAFE: Final = re.compile(r"[^\w.-]+")


class Overlap:
    """Records blocks of one test, each with `with overlap.capture():`, and holds them against limits."""

    def __init__(self, request: FixtureRequest) -> None:
        self._request = request
        self._config = request.config
        self._folder: Path | None = None
        self._captured: list[Captured] = []
        self._traces: list[Trace] = []
        self._checked = False

    @contextmanager
    def capture(self, *, backend: str | None = None, stacks: bool = True) -> Iterator[Captured]:
        """Record the block: with torch's device where it has one, else on the CPU host target.

        Several blocks of a test are several observations of the same work. Python stacks are recorded, so
        that a failure names lines. Skips the test where nothing can be recorded (--overlap-require fails it).
        """
        __tracebackhide__ = True
        folder = self._own_folder() / str(len(self._captured))
        chosen = backend or self._setting("backend")
        try:
            recording = in_process(folder, backend=chosen, stacks=stacks)
        except CaptureError as error:
            self._give_up(str(error))
        with recording as captured:
            yield captured
        self._captured.append(captured)

    def _give_up(self, why: str) -> None:
        __tracebackhide__ = True
        if self._setting("require"):
            pytest.fail(f"overlap: {why}", pytrace=False)
        pytest.skip(f"overlap: {why}")

    @property
    def paths(self) -> list[Path]:
        """The trace files of the blocks so far."""
        return [path for captured in self._captured for path in captured.paths]

    @property
    def traces(self) -> list[Trace]:
        """The blocks so far as traces. Raises UsageError where there is none."""
        paths = self.paths
        if not paths:
            raise UsageError("overlap: nothing was recorded; put the work into: with overlap.capture():")
        self._traces += [load(path) for path in paths[len(self._traces) :]]
        return self._traces

    @property
    def report(self) -> Report:
        """The report of the last block."""
        return analyze(self.traces[-1])

    def check(self, budget: Budget | str | Path | None = None, /, **limits: Any) -> Check:
        """Fail the test where a block breaks a limit; the result where none does.

        Limits: `drains=0`, `blocked_per_call="50us"`, `blocked="1ms"`, `ratio=0.95`, `rules=["..."]`,
        `allow=[("aten::item", "why")]`, or a budget or its file. Counts decide exactly. A time or ratio fails
        only where at least five observations (blocks, steps, ranges, waits) say so; fewer, and observations
        on both sides of the limit, are UNDECIDED, which passes unless --overlap-strict.
        """
        __tracebackhide__ = True
        if budget is not None and limits:
            raise UsageError("overlap.check: give a budget or limits, not both")
        wanted = budget_of(limits if budget is None else {"budget": budget}, where="overlap.check")
        if not wanted.rules:
            raise UsageError("overlap.check: no limit; give for example drains=0")
        self._checked = True
        found = check(self.traces, wanted, fewest=FEWEST)
        self._judge(found)
        return found

    def finish(self) -> None:
        """Hold the blocks against the run's baseline, and keep their samples, where the run does that."""
        __tracebackhide__ = True
        baselines = self._config.pluginmanager.get_plugin("overlap_baselines")
        if baselines is not None and self._captured:
            baselines.finished(self, self._request.node)

    def judge_baseline(self, found: Check) -> None:
        """Fail the test where it is worse than its baseline; with --overlap-strict also where it may be."""
        __tracebackhide__ = True
        self._judge(found)

    def close(self) -> None:
        """Hold the blocks against the budget of the whole run, where there is one."""
        __tracebackhide__ = True
        path = self._setting("budget")
        if path and self._captured:
            self._judge(check(self.traces, read_budget(self._config.rootpath / path), fewest=FEWEST))

    def _judge(self, found: Check) -> None:
        __tracebackhide__ = True
        if found.outcome is Outcome.FINE:
            return
        undecided = found.outcome in (Outcome.UNDECIDED, Outcome.INCOMPARABLE)
        if undecided and not self._setting("strict"):
            words = "; ".join(f"{one.rule}: {one.reason}" for one in found.undecided)
            self._request.node.user_properties.append(("overlap_undecided", f"{self._name()}: {words}"))
            return
        pytest.fail(failure_text(found, kept=", ".join(map(str, self._kept()))), pytrace=False)

    def _kept(self) -> list[Path]:
        """Where the traces lie: in the folder that was asked for, else where they were recorded."""
        asked = self._setting("keep")
        if not asked:
            return self.paths
        folder = self._config.rootpath / asked / _UNSAFE.sub("_", self._name())[-150:]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return [Path(shutil.copy(path, folder)) for path in self.paths]
        except OSError as error:
            raise UsageError(f"--overlap-keep {asked}: {error}") from error

    def _own_folder(self) -> Path:
        if self._folder is None:
            factory: pytest.TempPathFactory = self._request.getfixturevalue("tmp_path_factory")
            self._folder = factory.mktemp("overlap")
        return self._folder

    def _name(self) -> str:
        return str(self._request.node.nodeid)

    def _setting(self, name: str) -> Any:
        return setting(self._config, name)
