"""Makes `tests.timeline` and `tests.reference` importable from every test, after any installed package."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")

sys.path.append(str(Path(__file__).resolve().parents[1]))
