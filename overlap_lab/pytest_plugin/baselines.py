"""Tests held against a stored baseline, and their samples kept for the next one.

Under pytest-xdist each worker compares its own tests and hands their samples over with its reports; the
controller alone writes, so nothing is lost or overwritten.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from overlap_lab.compare.baseline import Baseline, made_now, runs_to_store
from overlap_lab.compare.baseline_commit import commit_of
from overlap_lab.compare.baseline_found import check_fitting, fitting
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.compare.baseline_machine import Machine, machine_of
from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.baseline_store import STORE, Saved, check_name, named, nowhere, save
from overlap_lab.compare.checked import Check, Checked, Outcome
from overlap_lab.compare.comparison import Verdict
from overlap_lab.compare.samples import Run, run_of
from overlap_lab.errors import InputError, UsageError
from overlap_lab.pytest_plugin.settings import setting, took_a_path
from overlap_lab.render.check_words import found_words
from overlap_lab.render.compare_words import headline_words
from overlap_lab.render.names import printable

if TYPE_CHECKING:
    from overlap_lab.pytest_plugin.fixture import Overlap

__all__ = ["DEFAULT_NAME", "NAME", "Baselines", "summary_line"]

NAME: Final = "overlap_baselines"
"""Under which pytest knows this part of the plugin."""
DEFAULT_NAME: Final = "main"

_WORDS: Final = pytest.StashKey[str]()
_SAMPLES: Final = pytest.StashKey[str]()
_STATUS_WIDTH: Final = 12
_NO_RULE: Final = "not failing: no --overlap-compare-fail says what may not be worse"


class Baselines:
    """What a run compares with and what it saves; registered only where the run asks for either."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._store = config.rootpath / (setting(config, "store") or STORE)
        self._is_worker = hasattr(config, "workerinput")
        self._samples: dict[str, str] = {}
        self._compared: dict[str, str] = {}
        self._said: list[str] = []
        self._read = cache(Saved.read)
        self._force = bool(setting(config, "force_comparable"))
        try:
            self._save_as = self._name_to_save()
            self._rules = tuple(map(parse_baseline_rule, setting(config, "compare_fail") or ()))
            self._named = self._baselines_to_compare()
        except (InputError, UsageError) as error:
            raise pytest.UsageError(f"overlap: {error}") from None

    def _name_to_save(self) -> str | None:
        name: str | None = setting(self._config, "save")
        took_a_path(self._config, "save", name)
        return None if name is None else check_name(name or DEFAULT_NAME)

    def _baselines_to_compare(self) -> list[Saved] | None:
        """The baselines that the name means; none yet is fine where no name was given."""
        name: str | None = setting(self._config, "compare")
        if name is None:
            if self._config.getoption("overlap_compare_fail"):
                raise UsageError(
                    "--overlap-compare-fail says what may be worse; add --overlap-compare[=NAME]"
                )
            return None
        took_a_path(self._config, "compare", name)
        found = named(self._store, name or None)
        if name and not found:
            hint = str(nowhere(self._store, name)).partition("; save one with")[0]
            raise UsageError(f"{hint}; save one with: pytest --overlap-save={name}")
        return found

    def finished(self, overlap: Overlap, item: pytest.Item) -> None:
        """Compare and keep what a test recorded, when it has passed so far; fails it where it is worse."""
        __tracebackhide__ = True
        runs = [run_of(trace) for trace in overlap.traces]
        machine = machine_of(runs[0].report.source)
        if self._save_as is not None:
            made = made_now(self._save_as, machine, {item.nodeid: runs_to_store(runs)})
            item.stash[_SAMPLES] = baseline_to_json(made)
        if self._named is not None:
            self._compare(overlap, item, runs, machine)

    def _compare(self, overlap: Overlap, item: pytest.Item, runs: list[Run], machine: Machine) -> None:
        __tracebackhide__ = True
        try:
            found = fitting(
                self._named or (), machine, item.nodeid, force_comparable=self._force, read=self._read
            )
        except InputError as error:
            pytest.fail(f"overlap: {error}", pytrace=False)
        if found is None:
            item.stash[_WORDS] = _line("NEW", item.nodeid, "in no baseline yet")
            return
        none = Check(runs[0].report.source, ())
        check = check_fitting(none, runs, found, self._rules, force_comparable=self._force)
        item.stash[_WORDS] = summary_line(item.nodeid, check, fails=bool(self._rules))
        if self._rules:
            overlap.judge_baseline(check)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what was found into the report, which reaches the controller from any worker."""
        report = yield
        if call.when == "call":
            words, samples = (item.stash.get(key, "") for key in (_WORDS, _SAMPLES))
            vars(report).update(overlap_compared=words, overlap_samples=samples if report.passed else "")
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_worker:
            return
        words, samples = (getattr(report, f"overlap_{name}", "") for name in ("compared", "samples"))
        if words:
            self._compared[report.nodeid] = words
        if samples:
            self._samples[report.nodeid] = samples

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write one baseline for each kind of machine that tests recorded on."""
        if self._is_worker or self._save_as is None or session.config.option.collectonly:
            return
        if not self._samples:
            self._said.append(f"no test recorded anything, so no baseline {self._save_as!r} was saved")
            return
        commit = commit_of(self._config.rootpath)
        for made in _by_machine(self._samples.values(), self._save_as, commit):
            try:
                saved = save(self._store, made)
            except UsageError as error:
                self._said.append(f"not saved: {error}")
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
                continue
            count = len(made.entries)
            self._said.append(f"wrote {_short(saved.path)}: {count} test{'' if count == 1 else 's'}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._compared and not self._said:
            if self._named == [] and not self._is_worker:
                self._said.append(f"{_short(self._store)} holds no baseline to compare with")
            else:
                return
        terminalreporter.ensure_newline()
        terminalreporter.section("overlap: baselines")
        for line in (*sorted(self._compared.values()), *self._said):
            terminalreporter.write_line(printable(line))


def _by_machine(texts: Any, name: str, commit: str) -> list[Baseline]:
    """The samples of all tests, joined to one baseline for each kind of machine."""
    machines: dict[str, tuple[Machine, dict[str, Any]]] = {}
    for text in texts:
        one = baseline_from_json(text.encode(), where="samples of a test")
        _, entries = machines.setdefault(one.machine.id, (one.machine, {}))
        entries.update(one.entries)
    return [made_now(name, machine, entries, commit=commit) for machine, entries in machines.values()]


def summary_line(nodeid: str, check: Check, *, fails: bool) -> str:
    """What a test came to beside its baseline, in a line of the run's summary.

    `fails`: the run has rules of its own, so that what is broken fails the test.
    """
    telling = [one for one in check.checked if one.outcome is not Outcome.FINE]
    found = "; ".join(f"{_own_word(one, check)}{one.rule}: {found_words(one)}" for one in telling)
    comparison = check.compared.comparison if check.compared else None
    kept = headline_words(comparison) if comparison else ""
    count = len(check.checked)
    words = found or kept or f"{count} rule{'' if count == 1 else 's'} kept"
    if check.outcome is Outcome.VIOLATED and not fails:
        is_worse = any(one.outcome is Outcome.VIOLATED for one in telling)
        return _line("WORSE" if is_worse else "NO VALUE", nodeid, f"{words}; {_NO_RULE}")
    if check.outcome is Outcome.FINE and comparison and comparison.verdict is Verdict.WORSE:
        return _line("WORSE", nodeid, f"{words}; not failing: it keeps the rules there are")
    return _line(check.outcome.value.upper(), nodeid, words)


def _own_word(one: Checked, check: Check) -> str:
    """What a rule came to, where the word for the whole test says something else."""
    is_broken = one.outcome in (Outcome.VIOLATED, Outcome.NO_VALUE)
    return "" if is_broken or check.outcome is one.outcome else f"{one.outcome.value.upper()} "


def _line(status: str, nodeid: str, words: str) -> str:
    return f"{status.ljust(_STATUS_WIDTH)} {nodeid}: {words}"


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
