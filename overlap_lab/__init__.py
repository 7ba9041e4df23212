"""Find where the host stops feeding the device: waits, drains, idle by cause, overlap, run-ahead.

>>> import overlap_lab
>>> report = overlap_lab.analyze(overlap_lab.load("trace.json.gz"))  # doctest: +SKIP
>>> report.value("drain/count")  # doctest: +SKIP
6
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    "load",
]

__version__ = "0.1.0"

# `analyze` and `compare` are functions here and modules of the same name below: imported early, the functions
# win for good; imported on first use, the name would be whichever was asked for last.
from overlap_lab.analyze import analyze
from overlap_lab.compare import Comparison, compare
from overlap_lab.report import Report
from overlap_lab.trace import Source, Trace

if TYPE_CHECKING:
    from overlap_lab import capture
    from overlap_lab.capture.annotate import annotate
    from overlap_lab.loaders import load


def __getattr__(name: str) -> object:
    """The readers are imported when the first trace is loaded, captures when something is captured."""
    if name == "capture":
        return import_module("overlap_lab.capture")
    if name == "annotate":
        from overlap_lab.capture.annotate import annotate

        return annotate
    if name == "load":
        from overlap_lab.loaders import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
