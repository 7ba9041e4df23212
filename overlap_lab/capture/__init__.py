"""Make traces: run a program under rocprofv3, or record a block of this process.

>>> from overlap_lab import capture
>>> with capture.kineto("traces") as captured:  # doctest: +SKIP
...     train_step()
>>> overlap_lab.load(captured.path)  # doctest: +SKIP

Each way ends in files that `overlap_lab.load` reads.
"""

from __future__ import annotations

# `cupti`, `host`, `kineto` and `rocprofv3` are functions here and modules of the same name: imported early,
# the functions win for good.
from overlap_lab.capture.annotate import annotate
from overlap_lab.capture.captured import Captured
from overlap_lab.capture.cupti import cupti
from overlap_lab.capture.host import host
from overlap_lab.capture.in_process import Backend, in_process
from overlap_lab.capture.kineto import KinetoCapture, Schedule, kineto
from overlap_lab.capture.rocprofv3 import rocprofv3

__all__ = [
    "Backend",
    "Captured",
    "KinetoCapture",
    "Schedule",
    "annotate",
    "cupti",
    "host",
    "in_process",
    "kineto",
    "rocprofv3",
]
