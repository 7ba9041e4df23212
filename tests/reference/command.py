"""The command line as tests use it: as a real process, or its `main` called here for speed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Document", "as_process", "in_process", "json_of", "value"]

ROOT = Path(__file__).resolve().parents[2]
Document = dict[str, Any]


def as_process(
    *arguments: str | Path, become: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m overlap_lab ARGUMENTS` as a user's shell would run it."""
    path = os.pathsep.join(entry for entry in (*sys.path, str(ROOT)) if entry)
    return subprocess.run(
        [sys.executable, "-m", "overlap_lab", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
        check=False,
        preexec_fn=become,
    )


def in_process(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the same command, without a new interpreter."""
    from overlap_lab.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def json_of(path: Path) -> Document:
    """The report of one trace as its JSON."""
    code, out, err = in_process("analyze", path, "--json", "-")
    assert code == 0, err
    document: Document = json.loads(out)
    return document


def value(document: Document, tag: str, **scope: int) -> int | float | None:
    """The value of the one measurement with this tag and scope."""
    [found] = [m for m in document["measurements"] if m["tag"] == tag and m["scope"] == scope]
    result: int | float | None = found["value"]
    return result
