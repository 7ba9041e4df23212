"""Compiles the sources of the HIP target, takes their code objects out, and links against a stub."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scripts.check_amd.resources import Resources, read_notes
from scripts.check_amd.symbols import undefined_hip_symbols
from scripts.check_amd.toolchain import ARCHITECTURES, Toolchain, run

__all__ = ["ROOT", "Built", "build", "link", "sources", "torch_folder"]

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("src", "problem", "bench")
HOST_ONLY: Final = ("call_memory.cpp", "tile_math.cpp")
"""And every file that ends with _host.cpp."""

FLAGS: Final = (
    *("-std=c++17", "-O3", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-linker-warnings"),
    *("-DHIP_EXT_TARGET_HIP", "-D__HIP_PLATFORM_AMD__", "-DTORCH_TARGET_VERSION=0x020b000000000000"),
)


@dataclass(frozen=True, slots=True)
class Built:
    """What came out: objects by source, resources by (source, architecture), the HIP functions called."""

    objects: dict[Path, Path]
    resources: dict[tuple[str, str], list[Resources]]
    hip_symbols: set[str]


def torch_folder() -> Path | None:
    """Where torch is installed, for its headers: the ops are built where it is found, as CMake does it."""
    spec = find_spec("torch")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def sources() -> list[Path]:
    """Launcher, kernels, problems, benchmark and torch ops: as CMake builds them with HIP_EXT_TARGET=hip."""
    folders = FOLDERS if torch_folder() is None else (*FOLDERS, "binding")
    found = [
        path
        for folder in folders
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
    return Built(objects, resources, _undefined(toolchain, objects.values()))


def _compile(toolchain: Toolchain, source: Path, folder: Path) -> Path:
    target = folder / f"{source.parent.name}_{source.stem}.o"  # two folders have an arguments.cpp
    root = ROOT / "hip_ext"
    includes = [f"-I{root / name}" for name in ("include", *FOLDERS)]
    language = [
        *("-x", "hip", "--rocm-path=/usr", f"--hip-version={toolchain.hip_version}"),
        f"--rocm-device-lib-path={toolchain.device_libraries}",
        *(f"--offload-arch={architecture}" for architecture in ARCHITECTURES),
    ]
    command: list[str | Path] = [toolchain.tool("clang++"), *FLAGS, "-isystem", toolchain.headers, *includes]
    if source.parent.name == "binding":
        command += ["-isystem", f"{torch_folder()}/include"]
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


def link(toolchain: Toolchain, built: Built, folder: Path) -> Path:
    """The benchmark, and the torch ops if they were built, against a library that has the HIP functions
    and nothing in them: nothing else may be missing. Gives that library."""
    stub = folder / "libamdhip64.so.7"
    lines = "".join(f"void {symbol}(void) {{}}\n" for symbol in sorted(built.hip_symbols))
    linker = ("-fuse-ld=lld", f"--ld-path={toolchain.tool('ld.lld')}")
    command: list[str | Path] = [toolchain.tool("clang++"), *linker]
    run([*command, "-x", "c", "-", "-shared", "-fPIC", f"-Wl,-soname,{stub.name}", "-o", stub], given=lines)

    def objects(*folders: str) -> list[Path]:
        return [each for source, each in built.objects.items() if source.parent.name in folders]

    ends: list[str | Path] = [stub, "-pthread", "-ldl"]
    run([*command, *objects(*FOLDERS), *ends, "-o", folder / "benchmark_mha_bwd"])
    if ops := objects("binding"):
        libraries = [f"{torch_folder()}/lib/{name}" for name in ("libtorch_cpu.so", "libc10.so")]
        whole: list[str | Path] = ["-shared", "-Wl,-z,defs", *ops, *objects("src"), *libraries, *ends]
        run([*command, *whole, "-o", folder / "_torch_ops.so"])
    return stub
