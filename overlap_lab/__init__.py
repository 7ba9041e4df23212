"""Find where the host stops feeding the device: waits, drains, idle by cause, overlap, run-ahead."""

from __future__ import annotations

__all__ = ["Report", "Source", "Trace", "__version__"]

__version__ = "0.1.0"

from overlap_lab.report import Report
from overlap_lab.trace import Source, Trace
