"""The raw file of a measurement, asked for series by run, mode and name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Distribution", "Raw"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles in microseconds, between two samples on the straight line."""

    count: int
    p10: float
    median: float
    p90: float
    p99: float

    @classmethod
    def of(cls, samples_ns: list[int]) -> Distribution:
        quantiles = np.quantile(np.asarray(samples_ns, np.float64) / 1e3, (0.1, 0.5, 0.9, 0.99))
        return cls(len(samples_ns), *(float(value) for value in quantiles))

    def __str__(self) -> str:
        return f"{self.median:.1f} ({self.p99:.1f})"


@dataclass(frozen=True, slots=True)
class Raw:
    """A finished measurement."""

    content: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Raw:
        content = json.loads(path.read_text())
        found = content.get("format") if isinstance(content, dict) else None
        if found != "hip_ext/measurement 1":
            raise ValueError(f"{path}: format {found!r}, expected 'hip_ext/measurement 1'")
        return cls(content)

    @property
    def target(self) -> str:
        """host, cuda or hip."""
        return str(next(iter(self.content["runs"].values()))["target"])

    def samples(self, run: str, mode: str, series: str) -> list[int]:
        taken: list[int] = self.content["runs"][run]["modes"][mode]["samples"][f"{series}_ns"]
        return taken

    def distribution(self, run: str, mode: str, series: str) -> Distribution:
        return Distribution.of(self.samples(run, mode, series))

    def python_call(self, queue: str, mode: str) -> Distribution:
        return Distribution.of(self.content["python_call_ns"][queue][mode])
