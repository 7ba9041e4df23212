"""Environments of other readers, made when they are first needed and kept under build/bench-venvs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from scripts.bench.captures import ROOT

__all__ = ["HTA", "READERS", "PeerMissing", "environment", "installed_versions", "packages_of"]

READERS: Final = "readers"
HTA: Final = "hta"
_FOLDER: Final = ROOT / "build" / "bench-venvs"
_NEEDS: Final = {
    READERS: ("connectorx", "msgspec", "pandas", "polars", "pyarrow", "pysimdjson", "zstandard"),
    HTA: ("HolisticTraceAnalysis", "pandas<3"),
}


class PeerMissing(Exception):
    """Another reader that cannot be had here, and why."""


def environment(name: str) -> Path:
    """The Python of an environment that holds these readers."""
    folder, needs = _FOLDER / name, _NEEDS[name]
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = "\n".join((sys.version, *needs))
    if not stamp.exists() or stamp.read_text() != wanted:
        print(
            f"== installing {', '.join(needs)} into {folder.relative_to(ROOT)}", file=sys.stderr, flush=True
        )
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "-q"]
        _run([str(python), *pip, *needs])
        stamp.write_text(wanted)
    return python


def packages_of(name: str) -> Path:
    """The folder with an environment's packages, for a process of our own environment to import from."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment(name).parents[1] / "lib" / version / "site-packages"


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise PeerMissing(f"{' '.join(command[-3:])}: {lines[-1][:160]}")


def installed_versions() -> list[str]:
    """Name and version of each reader that is there."""
    wanted = {re.sub(r"[<>=].*", "", need).lower() for needs in _NEEDS.values() for need in needs}
    found = []
    for folder in sorted(_FOLDER.glob("*/lib/*/site-packages")):
        for each in distributions(path=[str(folder)]):
            name = each.metadata["Name"]
            if name.lower() in wanted:
                found.append(
                    f"{name} {each.version}"
                    + (" (HTA's)" if name == "pandas" and HTA in folder.parts else "")
                )
    return sorted(set(found), key=str.lower)
