"""What the build says about targets that it cannot build, and that it needs no torch."""

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


@pytest.mark.parametrize(
    ("target", "compiler", "needed"),
    [
        ("hip", "HIPCXX", "no HIP compiler found; install ROCm"),
        ("cuda", "CUDACXX", "no nvcc found; install the CUDA"),
    ],
)
def test_a_target_without_its_compiler_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, compiler: str, needed: str
) -> None:
    monkeypatch.delenv(compiler, raising=False)
    no_compiler = f"-DCMAKE_{target.upper()}_COMPILER=NOTFOUND"
    code, said = configured(tmp_path, "-DHIP_EXT_BINDING=OFF", f"-DHIP_EXT_TARGET={target}", no_compiler)
    assert code != 0
    assert f"HIP_EXT_TARGET={target}: {needed}" in said


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
