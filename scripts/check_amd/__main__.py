"""Builds hip_ext for gfx90a, gfx942 and gfx950, prints what each kernel needs, and fails on spills.

    make check-amd                                         # fetches HIP's headers and bitcode, then this:
    python -m scripts.check_amd [--rocm FOLDER] [--out FOLDER] [--json FILE] [--cmake]
    python -m scripts.check_amd --unpack TRITON_WHEEL [--rocm FOLDER]

Needs LLVM 22 or newer (Debian 12: clang-22 clang-tools-22 lld-22 llvm-22). Exit code 1: a kernel spills; 2:
something is missing, does not compile, or needs a newer HIP than docs/amd.md asks for. There is no AMD GPU in
this: results, speed and a real runtime are not checked.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from scripts.check_amd.build import ROOT, Built, build, link, sources, torch_folder
from scripts.check_amd.cmake_build import (
    ARCHITECTURE,
    Unavailable,
    build_with_cmake,
    lay_out,
    unpack_packages,
)
from scripts.check_amd.resources import Resources
from scripts.check_amd.symbols import check_symbols, first_versions
from scripts.check_amd.toolchain import (
    ARCHITECTURES,
    CheckFailed,
    Toolchain,
    find_toolchain,
    newest_llvm,
    run,
    unpack_rocm,
)

ROCM: Final = ROOT / "build" / "amd" / "rocm"
COLUMNS: Final = f"{'VGPR':>5} {'AGPR':>5} {'SGPR':>5} {'LDS':>6} {'scratch':>8}  spills: VGPR  SGPR"
HEADING: Final = f"{'kernel':52} {'GPU':7} {COLUMNS}"


def short_name(demangled: str) -> str:
    """fmha_bwd_dq_dk_dv<Bf16, 64>: without return type, namespaces and arguments."""
    name = demangled.replace("(anonymous namespace)::", "").partition("(")[0].removeprefix("void ")
    return name.replace("hip_ext_bench::", "").replace("hip_ext::", "")


def line(name: str, architecture: str, found: Resources) -> str:
    numbers = f"{found.vgprs:5} {found.agprs:5} {found.sgprs:5} {found.lds_bytes:6} {found.scratch_bytes:8}"
    return f"{name:52} {architecture:7} {numbers}         {found.vgpr_spills:5} {found.sgpr_spills:5}"


def report(toolchain: Toolchain, built: Built) -> list[str]:
    """Prints the table; gives the names of the kernels that spill."""
    print(HEADING)
    spilled = []
    for source in sorted({name for name, _ in built.resources}):
        mangled = [each.kernel for each in built.resources[source, ARCHITECTURES[0]]]
        demangled = run([toolchain.tool("llvm-cxxfilt"), *mangled]).splitlines()
        names = dict(zip(mangled, map(short_name, demangled), strict=True))
        for kernel in mangled:
            for architecture in ARCHITECTURES:
                of_file = built.resources[source, architecture]
                [found] = [each for each in of_file if each.kernel == kernel]
                print(line(names[kernel], architecture, found))
                if found.spills:
                    spilled.append(f"{names[kernel]} on {architecture}")
    return spilled


def check_cmake(toolchain: Toolchain, runtime: Path, folder: Path) -> None:
    try:
        root = unpack_packages(folder / "debian")
        lay_out(root, toolchain, runtime)
        targets = build_with_cmake(root, toolchain, folder / "cmake")
    except Unavailable as missing:
        print(f"CMake's HIP branch was left out: {missing}")
        return
    print(f"CMake's HIP branch built {' and '.join(targets)} for {ARCHITECTURE}; not run.")


def check(rocm: Path, out: Path, json_file: Path | None, *, cmake: bool) -> int:
    toolchain = find_toolchain(rocm)
    built = build(toolchain, sources(), out)
    runtime = link(toolchain, built, out)
    if json_file is not None:
        content = {
            f"{source} {architecture}": [asdict(each) for each in found]
            for (source, architecture), found in built.resources.items()
        }
        json_file.write_text(json.dumps(content, indent=1) + "\n")
    spilled = report(toolchain, built)
    (major, minor), symbol = check_symbols(built.hip_symbols, first_versions())
    print(
        f"{len(built.hip_symbols)} HIP functions; clang {toolchain.version}, headers of HIP "
        f"{toolchain.hip_version}; needs HIP {major}.{minor} at run time ({symbol}). "
        "Linked against a stub, not run."
    )
    if torch_folder() is None:
        print("no torch here: without its ops")
    if cmake:
        check_cmake(toolchain, runtime, ROOT / "build" / "amd")
    if spilled:
        print(f"check-amd: spills in {', '.join(spilled)}", file=sys.stderr)
    return 1 if spilled else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.check_amd",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rocm", type=Path, default=ROCM, help="headers and bitcode (build/amd/rocm)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "amd" / "out", help="objects (build/amd/out)"
    )
    parser.add_argument("--json", type=Path, help="every kernel's resources as JSON")
    parser.add_argument(
        "--unpack", type=Path, metavar="WHEEL", help="fill --rocm from triton's wheel, and end"
    )
    parser.add_argument(
        "--cmake", action="store_true", help="also build CMake's HIP branch, with packages of Debian's ROCm"
    )
    parser.add_argument("--tools", action="store_true", help="say which LLVM would be taken, and end")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.tools:
            print(f"LLVM {newest_llvm()}")
            return 0
        if chosen.unpack is not None:
            unpack_rocm(chosen.unpack, chosen.rocm)
            return 0
        return check(chosen.rocm, chosen.out, chosen.json, cmake=chosen.cmake)
    except CheckFailed as error:
        print(f"check-amd: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
