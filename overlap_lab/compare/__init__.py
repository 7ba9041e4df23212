"""Two sides of runs: what differs, which way, whether chance explains it, and where it comes from."""

from __future__ import annotations

from overlap_lab.compare.comparing import compare
from overlap_lab.compare.comparison import (
    Comparison,
    Difference,
    Explanation,
    Sampling,
    Statistics,
    Verdict,
)
from overlap_lab.compare.samples import Per

__all__ = ["Comparison", "Difference", "Explanation", "Per", "Sampling", "Statistics", "Verdict", "compare"]
