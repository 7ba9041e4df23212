"""What the build is made with: Debian's clang, and HIP's headers and bitcode out of a wheel."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = [
    "ARCHITECTURES",
    "CheckFailed",
    "Toolchain",
    "constant_module",
    "find_toolchain",
    "newest_llvm",
    "run",
    "unpack_rocm",
]

ARCHITECTURES: Final = ("gfx90a", "gfx942", "gfx950")
VERSIONS: Final = (22, 23, 24)
"""Of LLVM; 22 is the first that knows gfx950 and is in Debian 12."""

PACKAGES: Final = "clang-22 clang-tools-22 lld-22 llvm-22"
TOOLS: Final = (
    "clang++",
    "clang-offload-bundler",
    "ld.lld",
    "llvm-as",
    "llvm-cxxfilt",
    "llvm-nm",
    "llvm-objcopy",
    "llvm-readelf",
)
INSIDE: Final = "triton/backends/amd/"


class CheckFailed(Exception):
    """What is wrong, in words for the user."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """LLVM's programs of one version, and a folder with HIP's headers and the device libraries."""

    version: int
    headers: Path
    device_libraries: Path

    def tool(self, name: str) -> str:
        return f"{name}-{self.version}"

    @property
    def hip_version(self) -> str:
        """7.1: what the headers say of themselves."""
        defines = dict(
            line.split()[1:3]
            for line in (self.headers / "hip/hip_version.h").read_text().splitlines()
            if line.startswith("#define HIP_VERSION_M")
        )
        return f"{defines['HIP_VERSION_MAJOR']}.{defines['HIP_VERSION_MINOR']}"


def run(command: Sequence[str | Path], *, given: str | None = None, folder: Path | None = None) -> str:
    """What the command prints, in `folder`. Raises CheckFailed with its own words."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, input=given, cwd=folder)
    if done.returncode != 0:
        raise CheckFailed(f"{' '.join(words)}\n{done.stderr or done.stdout}")
    return done.stdout


def newest_llvm() -> int:
    """The newest version that is installed whole."""
    for version in reversed(VERSIONS):
        if all(shutil.which(f"{tool}-{version}") for tool in TOOLS):
            return version
    raise CheckFailed(
        f"no LLVM {VERSIONS[0]} or newer here: apt-get install {PACKAGES} (Debian 12's security suite)"
    )


def find_toolchain(rocm: Path) -> Toolchain:
    """The newest LLVM, with the headers and bitcode in `rocm`."""
    version = newest_llvm()
    if not (rocm / "include/hip/hip_runtime.h").is_file():
        raise CheckFailed(f"{rocm / 'include'}: no HIP headers; make check-amd fetches them")
    return Toolchain(version, rocm / "include", rocm / "bitcode")


def unpack_rocm(wheel: Path, rocm: Path) -> None:
    """HIP's headers and bitcode out of triton's wheel, and beside them the bitcode that is in no package."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith("/"):
                continue
            if name.startswith(f"{INSIDE}include/"):
                target = rocm / name.removeprefix(INSIDE)
            elif name.startswith(f"{INSIDE}lib/") and name.endswith(".bc"):
                target = rocm / "bitcode" / Path(name).name
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
    assembler = f"llvm-as-{newest_llvm()}"
    for name, module in _constants().items():
        run([assembler, "-o", rocm / "bitcode" / f"{name}.bc", "-"], given=module)


LAYOUT: Final = (
    "m:e-e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-"
    "p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-"
    "v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
)
MODULE: Final = f'target datalayout = "{LAYOUT}"\ntarget triple = "amdgcn-amd-amdhsa"\n'

SWITCHES: Final = {
    "correctly_rounded_sqrt": "correctly_rounded_sqrt32",
    "daz_opt": "daz_opt",
    "finite_only": "finite_only_opt",
    "unsafe_math": "unsafe_math_opt",
    "wavefrontsize64": "wavefrontsize64",
}
"""File to symbol: one file with 1 (on) and one with 0 (off)."""


def _constants() -> dict[str, str]:
    """The modules of one constant that clang links to say what is compiled for."""
    modules = {"opencl": MODULE}
    for file, symbol in SWITCHES.items():
        for value, state in enumerate(("off", "on")):
            modules[f"oclc_{file}_{state}"] = constant_module(symbol, "i8", value)
    for architecture in ARCHITECTURES:
        name = architecture.removeprefix("gfx")
        major, minor, stepping = int(name[:-2]), int(name[-2], 16), int(name[-1], 16)
        number = 1000 * major + 100 * minor + stepping
        modules[f"oclc_isa_version_{name}"] = constant_module("ISA_version", "i32", number)
    for version in (400, 500, 600):
        modules[f"oclc_abi_version_{version}"] = constant_module("ABI_version", "i32", version)
    return modules


def constant_module(symbol: str, kind: str, value: int) -> str:
    """The module of one constant, by which clang says to the device libraries what is compiled for."""
    definition = (
        f"@__oclc_{symbol} = linkonce_odr protected local_unnamed_addr addrspace(4) constant {kind} {value}"
    )
    return f"{MODULE}{definition}\n"
