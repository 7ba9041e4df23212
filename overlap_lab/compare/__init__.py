"""Two reports side by side: what differs, which way, and where the window's difference comes from."""

from __future__ import annotations

from overlap_lab.compare.comparison import Comparison, Difference, Explanation, Sampling, Verdict
from overlap_lab.compare.single_run import compare

__all__ = ["Comparison", "Difference", "Explanation", "Sampling", "Verdict", "compare"]
