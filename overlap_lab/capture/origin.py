"""Where a capture came from: command, versions, device, clock, and the settings that change what it shows."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

__all__ = ["ENVIRONMENT", "command_line", "cpu_model", "origin", "rank_of"]

ENVIRONMENT: Final = (
    "AMD_LOG_LEVEL",
    "AMD_SERIALIZE_COPY",
    "AMD_SERIALIZE_KERNEL",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "GPU_MAX_HW_QUEUES",
    "HIP_FORCE_DEV_KERNARG",
    "HIP_LAUNCH_BLOCKING",
    "HIP_VISIBLE_DEVICES",
    "HSA_ENABLE_INTERRUPT",
    "HSA_ENABLE_SDMA",
    "HSA_NO_SCRATCH_RECLAIM",
    "LOCAL_RANK",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "OMP_NUM_THREADS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "RANK",
    "ROCPROFILER_QUEUE_SIZE",
    "ROCR_VISIBLE_DEVICES",
    "TORCH_NCCL_BLOCKING_WAIT",
    "WORLD_SIZE",
)
"""The only variables that are recorded: they change when the host waits or which devices it sees. The rest
of an environment may hold secrets."""

_PACKAGES: Final = ("torch", "triton", "cupti-python")
_RANKS: Final = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")


def origin(
    *, backend: str, command: Sequence[str] | None = None, clock: str = "", device: str = "", tool: str = ""
) -> dict[str, str]:
    """Facts about a capture as text, for the trace's own metadata; what is not known is left out.

    `command` is the program's arguments; None: this process's own.
    """
    facts = {
        "captured with": backend,
        "command": command_line(sys.orig_argv if command is None else command),
        "clock": clock,
        "device": device,
        "tool": tool,
        "cpu": cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "overlap_lab": _version("overlap_lab"),
        **{f"version {package}": _version(package) for package in _PACKAGES},
        **{f"environment {name}": os.environ.get(name, "") for name in ENVIRONMENT},
    }
    return {key: value for key, value in facts.items() if value}


def cpu_model() -> str:
    """The processor's name as the kernel tells it; empty where it does not."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
            return next(names, "")
    except OSError:
        return ""


def command_line(command: Sequence[str]) -> str:
    """The command as a shell takes it; bytes that are no text are spelled out."""
    return shlex.join(command).encode("utf-8", "backslashreplace").decode()


def rank_of(environment: Mapping[str, str]) -> int | None:
    """The rank that a launcher gave this process; None where it gave none."""
    for name in _RANKS:
        if environment.get(name, "").isdecimal():
            return int(environment[name])
    return None


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
