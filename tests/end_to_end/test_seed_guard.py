"""The three workspace modes of the FMHA backward under the plugin, as the documents show it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("hip_ext", reason="hip_ext needs torch and a build")

from tests.end_to_end.plugin_runs import PLUGIN

ROOT = Path(__file__).parents[2]
GUARD = ROOT / "docs/examples/test_backward_overlap.py"


def guarded(workspace: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What pytest says to one mode, in a process and a folder of its own."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *PLUGIN, "--overlap-require"]
    which = [f"{GUARD}::test_backward_keeps_overlap[{workspace}]", "-c", str(folder / "pytest.ini")]
    return subprocess.run(
        [*command, *which, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_sync_fails_and_names_hipmemcpy_and_the_lines_that_call_it(tmp_path: Path) -> None:
    done = guarded("sync", tmp_path, "--overlap-keep=kept")
    said = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout
    assert "1 failed" in said[-1]
    # The first: where the environment says CI, pytest's short summary repeats the whole message.
    broken = next(line for line in said if line.startswith("VIOLATED  drain/count <= 0: "))
    assert int(broken.rpartition(" ")[2]) >= 4  # each layer's copies wait for what is queued before them
    at = next(number for number, line in enumerate(said) if "hipMemcpy blocked the host" in line)
    assert "drained device" in said[at + 1]
    stack = [line.strip() for line in said[at + 2 : at + 8]]
    [called] = [
        n for n, line in enumerate(GUARD.read_text().splitlines(), 1) if "hip_ext.mha_varlen_bwd(" in line
    ]
    assert any(frame.endswith("): mha_varlen_bwd") and "hip_ext/backward.py(" in frame for frame in stack)
    assert any(f"{GUARD.name}({called}): test_backward_keeps_overlap" in frame for frame in stack)
    [kept] = (tmp_path / "kept").rglob("*.db")
    assert any(line.startswith("trace ") and line.endswith(kept.name) for line in said)


@pytest.mark.parametrize("workspace", ["async", "device"])
def test_stream_ordered_modes_pass(workspace: str, tmp_path: Path) -> None:
    done = guarded(workspace, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout.splitlines()[-1]


def test_the_document_shows_this_very_test() -> None:
    body = GUARD.read_text()
    shown = (ROOT / "docs/regression-testing.md").read_text()
    assert body[body.index("@pytest.mark.parametrize") :] in shown
