"""Find where the host stops feeding the device: waits, drains, idle by cause, overlap, run-ahead.

>>> import overlap_lab
>>> report = overlap_lab.analyze(overlap_lab.load("trace.json.gz"))  # doctest: +SKIP
>>> report.value("drain/count")  # doctest: +SKIP
6
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = [
    "Comparison",
    "Report",
    "Source",
    "Trace",
    "__version__",
    "analyze",
    "annotate",
    "capture",
    "compare",
    "find_baseline",
    "load",
    "save_baseline",
]

__version__ = "0.1.0"

TYPE_CHECKING = False
"""As `typing` has it: importing that takes longer than all else here, and Ctrl-C is not caught before."""

if TYPE_CHECKING:
    from overlap_lab import capture
    from overlap_lab.analyze import analyze
    from overlap_lab.capture.annotate import annotate
    from overlap_lab.compare import Comparison, compare
    from overlap_lab.compare.baselines import find_baseline, save_baseline
    from overlap_lab.loaders import load
    from overlap_lab.report import Report
    from overlap_lab.trace import Source, Trace

_WHERE = {
    "Comparison": "compare",
    "Report": "report",
    "Source": "trace",
    "Trace": "trace",
    "analyze": "analyze",
    "annotate": "capture.annotate",
    "compare": "compare",
    "find_baseline": "compare.baselines",
    "load": "loaders",
    "save_baseline": "compare.baselines",
}
"""Public name -> the module that it is imported from when it is asked for: the pytest plugin lives in this
package, and a test run that does not use it must not pay for numpy."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "capture":
        return import_module("overlap_lab.capture")
    if name in _WHERE:
        return getattr(import_module(f"overlap_lab.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """`analyze` and `compare` are functions here and modules of the same name: the import system would put
    the module in the function's place once somebody imports it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in ("analyze", "compare") and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
