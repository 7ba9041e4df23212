"""pytest plugin: fixture `overlap`, marker `overlap_budget`, and their options.

pytest imports this file in every run where the package is installed, so it imports nothing heavy;
`-p no:overlap` keeps even this out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from overlap_lab.pytest_plugin.fixture import Overlap

__all__ = [
    "overlap",
    "pytest_addoption",
    "pytest_configure",
    "pytest_pyfunc_call",
    "pytest_terminal_summary",
]

_MARKER = "overlap_budget"
_OPTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "backend",
        "NAME",
        "record with kineto, cupti or host (cuda and rocm mean kineto); default: what is there",
    ),
    ("budget", "FILE", "hold every captured test against this budget as well"),
    ("store", "FOLDER", "where baselines lie (default .overlap)"),
    ("keep", "FOLDER", "copy the traces of failed checks here; default: they stay in pytest's own folder"),
)
_NAMED: tuple[tuple[str, str], ...] = (
    ("save", "store what the passing tests recorded as a baseline (NAME: main)"),
    ("compare", "hold tests that record against this baseline (NAME: the newest there is)"),
)
_WORSE = (
    "fail where a measure is worse than the baseline by more than this: drain/count:0, host/blocked:10%; "
    "may be repeated"
)
_SWITCHES: tuple[tuple[str, str], ...] = (
    ("strict", "fail where a rule is UNDECIDED, too"),
    ("require", "fail where nothing can be recorded, instead of skipping the test"),
    ("force_comparable", "compare with a baseline of another machine, driver or tool all the same"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("overlap", "overlap: waits, drains and overlap of host and device")
    for name, metavar, words in _OPTIONS:
        group.addoption(f"--overlap-{name}", metavar=metavar, default=None, help=words)
        parser.addini(f"overlap_{name}", words, default=None)
    for name, words in _NAMED:
        group.addoption(f"--overlap-{name}", metavar="NAME", nargs="?", const="", default=None, help=words)
        parser.addini(f"overlap_{name}", words, default=None)
    group.addoption(
        "--overlap-compare-fail",
        metavar="EXPR",
        action="append",
        default=None,
        help=_WORSE.replace("%", "%%"),
    )
    parser.addini("overlap_compare_fail", _WORSE, type="linelist", default=[])
    for name, words in _SWITCHES:
        option = f"--overlap-{name.replace('_', '-')}"
        group.addoption(option, action="store_true", default=None, help=words)
        parser.addini(f"overlap_{name}", words, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(warmup=1, repeats=5, backend=None, **limits): call the test warmup times, then record it "
        "repeats times and check its limits, which are those of overlap.check",
    )
    if any(_asked(config, name) for name in ("save", "compare")) or config.getoption("overlap_compare_fail"):
        from overlap_lab.pytest_plugin.baselines import NAME, Baselines

        config.pluginmanager.register(Baselines(config), NAME)


def _asked(config: pytest.Config, name: str) -> bool:
    return config.getoption(f"overlap_{name}") is not None or config.getini(f"overlap_{name}") is not None


@pytest.fixture
def overlap(request: pytest.FixtureRequest) -> Iterator[Overlap]:
    """Records blocks of the test (`with overlap.capture():`) and holds them against limits (`check`)."""
    from overlap_lab.pytest_plugin.fixture import Overlap

    made = Overlap(request)
    yield made
    made.close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A marked test is called again and again, recorded, and checked; any other is left alone."""
    marker = pyfuncitem.get_closest_marker(_MARKER)
    if marker is None:
        result = yield
        if "overlap" in pyfuncitem.funcargs:
            made: Overlap = pyfuncitem._request.getfixturevalue("overlap")
            made.finish()
        return result
    from overlap_lab.pytest_plugin.marked import call_marked

    return (yield from call_marked(pyfuncitem, marker))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line where any check was undecided: such a test is green, and says less than it seems to."""
    undecided = [
        words
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, words in getattr(report, "user_properties", ())
        if name == "overlap_undecided" and getattr(report, "when", "") == "teardown"
    ]
    if undecided:
        terminalreporter.section(f"overlap: {len(undecided)} undecided")
        for words in undecided:
            terminalreporter.write_line(words)
