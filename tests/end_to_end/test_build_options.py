"""What the build says about targets that it has not, and that it needs no torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

pytestmark = pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")


def configured(folder: Path, *options: str) -> tuple[int, str]:
    """CMake's exit code and what it said, with line breaks as spaces."""
    command = [str(CMAKE), "-S", str(ROOT), "-B", str(folder), "-DHIP_EXT_TESTS=OFF", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize("target", ["hip", "cuda"])
def test_a_target_without_kernels_is_refused_in_a_sentence(tmp_path: Path, target: str) -> None:
    code, said = configured(tmp_path, "-DHIP_EXT_BINDING=OFF", f"-DHIP_EXT_TARGET={target}")
    assert code != 0
    assert f"HIP_EXT_TARGET={target}: this version has kernels for the CPU only; use host or auto" in said


def test_an_unknown_target_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    code, said = configured(tmp_path, "-DHIP_EXT_BINDING=OFF", "-DHIP_EXT_TARGET=metal")
    assert code != 0
    assert "HIP_EXT_TARGET must be auto, host, hip or cuda, not 'metal'" in said


def test_without_torch_all_but_its_ops_is_built(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    code, said = configured(tmp_path / "build", f"-DPython_EXECUTABLE={python}")
    assert code == 0, said
    assert "target host" in said
    assert "no torch found, so without its ops" in said
    assert "torch ops for" not in said
