"""Compiles the sources of the HIP target, takes their code objects out, and links against a stub."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.check_amd.resources import Resources, read_notes
from scripts.check_amd.symbols import undefined_hip_symbols
from scripts.check_amd.toolchain import ARCHITECTURES, Toolchain, run

__all__ = ["ROOT", "Built", "build", "link", "sources"]

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("src", "problem", "bench")
HOST_ONLY: Final = ("tile_math.cpp",)
"""And every file that ends with _host.cpp."""

FLAGS: Final = (
    *("-std=c++17", "-O3", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-linker-warnings"),
    *("-DHIP_EXT_TARGET_HIP", "-D__HIP_PLATFORM_AMD__"),
)


@dataclass(frozen=True, slots=True)
class Built:
    """What came out: objects, resources by (source, architecture), and the HIP functions that are called."""

    objects: tuple[Path, ...]
    resources: dict[tuple[str, str], list[Resources]]
    hip_symbols: set[str]


def sources() -> list[Path]:
    """Launcher, kernels, problems and benchmark: as CMake builds them with HIP_EXT_TARGET=hip."""
    found = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / "hip_ext" / folder).iterdir())
        if path.suffix in {".cpp", ".hip"}
    ]
    return [
        path
        for path in found
        if not (path.name.endswith("_host.cpp") or path.name.startswith("test_") or path.name in HOST_ONLY)
    ]


def build(toolchain: Toolchain, files: Iterable[Path], folder: Path) -> Built:
    """All files at once, on all cores. Raises CheckFailed with what a tool said."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # The kernels take longest: they begin.
        ordered = sorted(files, key=lambda path: path.suffix != ".hip")
        objects = dict(
            zip(ordered, pool.map(lambda path: _compile(toolchain, path, folder), ordered), strict=True)
        )
        kernels = [path for path in ordered if path.suffix == ".hip"]
        jobs = [(path, architecture) for path in kernels for architecture in ARCHITECTURES]
        found = pool.map(lambda job: _resources(toolchain, objects[job[0]], job[1]), jobs)
        resources = {
            (path.name, architecture): each for (path, architecture), each in zip(jobs, found, strict=True)
        }
    return Built(tuple(objects.values()), resources, _undefined(toolchain, objects.values()))


def _compile(toolchain: Toolchain, source: Path, folder: Path) -> Path:
    target = folder / f"{source.stem}.o"
    root = ROOT / "hip_ext"
    includes = [f"-I{root / name}" for name in ("include", *FOLDERS)]
    language = [
        *("-x", "hip", "--rocm-path=/usr", f"--hip-version={toolchain.hip_version}"),
        f"--rocm-device-lib-path={toolchain.device_libraries}",
        *(f"--offload-arch={architecture}" for architecture in ARCHITECTURES),
    ]
    command: list[str | Path] = [toolchain.tool("clang++"), *FLAGS, "-isystem", toolchain.headers, *includes]
    run([*command, *(language if source.suffix == ".hip" else []), "-c", source, "-o", target])
    return target


def _resources(toolchain: Toolchain, compiled: Path, architecture: str) -> list[Resources]:
    """Of the kernels in the code object that the linked program carries for this architecture."""
    bundle = compiled.with_suffix(f".{architecture}.hipfb")
    code = compiled.with_suffix(f".{architecture}.co")
    run([toolchain.tool("llvm-objcopy"), f"--dump-section=.hip_fatbin={bundle}", compiled, os.devnull])
    run(
        [
            *(toolchain.tool("clang-offload-bundler"), "--unbundle", "--type=o", f"--input={bundle}"),
            *(f"--targets=hipv4-amdgcn-amd-amdhsa--{architecture}", f"--output={code}"),
        ]
    )
    return read_notes(run([toolchain.tool("llvm-readelf"), "--notes", code]))


def _undefined(toolchain: Toolchain, objects: Iterable[Path]) -> set[str]:
    command: list[str | Path] = [
        toolchain.tool("llvm-nm"),
        "--undefined-only",
        "--format=just-symbols",
        *objects,
    ]
    return undefined_hip_symbols(run(command))


def link(toolchain: Toolchain, built: Built, program: Path) -> None:
    """Against a library that has the HIP functions and nothing in them: nothing else may be missing."""
    stub = program.with_name("libamdhip64.so.7")
    lines = "".join(f"void {symbol}(void) {{}}\n" for symbol in sorted(built.hip_symbols))
    command = [toolchain.tool("clang++"), "-fuse-ld=lld", f"--ld-path={toolchain.tool('ld.lld')}"]
    run([*command, "-x", "c", "-", "-shared", "-fPIC", f"-Wl,-soname,{stub.name}", "-o", stub], given=lines)
    run([*command, *built.objects, stub, "-pthread", "-ldl", "-o", program])
