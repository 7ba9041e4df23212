"""Makes `tests.timeline` and `tests.reference` importable from every test, after any installed package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
