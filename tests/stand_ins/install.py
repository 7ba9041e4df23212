"""Put a stand-in for a vendor's program on PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def put_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str) -> Path:
    """An executable `name` in `folder`, which PATH begins with, that runs this folder's `name`.py."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / name}.py "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    root = str(HERE.parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")])))
    return program
