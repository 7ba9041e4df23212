"""Works for the tests of the benchmark's processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from scripts.bench.pairs import Failed

MEBIBYTES = 64


def grow(_path: Path) -> object:
    held = bytearray(MEBIBYTES << 20)
    time.sleep(0.1)  # for a sampler on a busy machine
    return held


def fail(path: Path) -> object:
    raise Failed(f"no such work: {path}")


def die(_path: Path) -> object:
    os._exit(7)


def speak(path: Path) -> object:
    print("not an answer")
    return path


WORKS = {"die": die, "fail": fail, "grow": grow, "speak": speak}
