"""CMake's own HIP branch, configured and built without ROCm: Debian's ROCm 5.2 lends its CMake packages.

Laid out as ROCm is: those packages, the headers of the newer HIP, the bitcode, and a library that has the HIP
functions and nothing in them. Nothing is installed, and nothing that comes out can run.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scripts.check_amd.build import ROOT, torch_folder
from scripts.check_amd.toolchain import CheckFailed, Toolchain, constant_module, run

__all__ = ["Unavailable", "build_with_cmake", "lay_out", "libraries_of", "unpack_packages"]

PACKAGES: Final = ("hipcc", "libamdhip64-dev", "rocm-device-libs", "libamd-comgr-dev", "libhsa-runtime-dev")
LIBRARIES: Final = "lib/x86_64-linux-gnu"
ARCHITECTURE: Final = "gfx942"
ASKED_FIRST: Final = ("906", 9006)
"""clang's default architecture, for which CMake compiles before it knows another one."""


class Unavailable(Exception):
    """Why there is nothing to build with; nothing is wrong with the project."""


def unpack_packages(folder: Path) -> Path:
    """The root of what Debian's packages hold, taken from the registry once."""
    root = folder / "usr"
    if root.is_dir():
        return root
    archives = folder / "packages"
    archives.mkdir(parents=True, exist_ok=True)
    try:
        run(["apt-get", "download", *PACKAGES], folder=archives)
        for archive in sorted(archives.glob("*.deb")):
            run(["dpkg-deb", "-x", archive, folder])
    except (OSError, CheckFailed) as error:
        shutil.rmtree(root, ignore_errors=True)
        words = str(error).strip().splitlines()
        raise Unavailable(f"{words[-1]} (apt-get download {' '.join(PACKAGES)})") from error
    shutil.rmtree(archives)
    return root


def _replaced(target: Path, source: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source.resolve(), target)


def lay_out(root: Path, toolchain: Toolchain, runtime: Path) -> None:
    """Headers, bitcode and libraries where the CMake packages under `root` and clang look for them."""
    _replaced(root / "include", toolchain.headers)
    _replaced(root / "amdgcn/bitcode", toolchain.device_libraries)
    name, number = ASKED_FIRST
    default = root / f"amdgcn/bitcode/oclc_isa_version_{name}.bc"
    module = constant_module("ISA_version", "i32", number)
    run([toolchain.tool("llvm-as"), "-o", default, "-"], given=module)
    major, minor = toolchain.hip_version.split(".")
    version = f"HIP_VERSION_MAJOR={major}\nHIP_VERSION_MINOR={minor}\nHIP_VERSION_PATCH=0\n"
    (root / "share/hip/version").write_text(version)
    # The packages ask for the files that they were made with; only the HIP runtime is linked.
    for wanted in libraries_of(root):
        shutil.copy(runtime, wanted)
    (root / "lib/libamdhip64.so").unlink(missing_ok=True)
    shutil.copy(runtime, root / "lib/libamdhip64.so")


def libraries_of(root: Path) -> list[Path]:
    """What the CMake packages say that must be there."""
    texts = "".join(path.read_text() for path in (root / LIBRARIES / "cmake").rglob("*argets*.cmake"))
    return [root / name for name in sorted(set(re.findall(rf"{LIBRARIES}/lib[\w-]+\.so[\d.]+", texts)))]


def _tool(name: str) -> str:
    """Of this environment, else of the system."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise Unavailable(f"{name}: not found (pip install cmake ninja)")
    return found


def build_with_cmake(root: Path, toolchain: Toolchain, folder: Path) -> list[str]:
    """Configures with HIP_EXT_TARGET=hip and builds the benchmark, and the torch ops where torch and nanobind
    are; gives the targets. Raises CheckFailed with what CMake or the compiler said."""
    compiler = shutil.which(toolchain.tool("clang++"))
    ops = torch_folder() is not None and find_spec("nanobind") is not None
    settings = {
        "HIP_EXT_TARGET": "hip",
        "HIP_EXT_BINDING": "ON" if ops else "OFF",
        "HIP_EXT_TESTS": "OFF",
        "OVERLAP_LAB_WERROR": "ON",
        "CMAKE_MAKE_PROGRAM": _tool("ninja"),
        "CMAKE_HIP_ARCHITECTURES": ARCHITECTURE,
        "CMAKE_HIP_COMPILER": str(compiler),
        "CMAKE_HIP_COMPILER_ROCM_ROOT": str(root),
        "CMAKE_HIP_FLAGS": f"--rocm-path={root}",
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",  # Debian's packages are of 2022
        "CLANGRT_BUILTINS": run([toolchain.tool("clang++"), "-print-libgcc-file-name"]).strip(),
        "Python_EXECUTABLE": sys.executable,
    }
    shutil.rmtree(folder, ignore_errors=True)
    where = ("env", f"CMAKE_PREFIX_PATH={root}", f"ROCM_PATH={root}")
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    run([*where, _tool("cmake"), "-S", ROOT, "-B", folder, "-G", "Ninja", *defined])
    targets = ["benchmark_mha_bwd", *(["hip_ext_torch"] if ops else [])]
    jobs = str(os.cpu_count() or 1)
    run([_tool("cmake"), "--build", folder, "--parallel", jobs, "--target", *targets])
    return targets
