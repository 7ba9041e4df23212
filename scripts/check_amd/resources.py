"""Registers, shared memory (LDS), scratch and spills of each kernel, as the code objects say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Resources", "read_notes"]

FIELD: Final = re.compile(r"^ {2}(?:- | {2})\.(\w+): +(\S.*)$")


@dataclass(frozen=True, slots=True)
class Resources:
    """One kernel on one architecture."""

    kernel: str
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    """Fixed; a kernel with `extern __shared__` gets more at its launch."""
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int

    @property
    def spills(self) -> bool:
        return bool(self.vgpr_spills or self.sgpr_spills or self.scratch_bytes)


def read_notes(text: str) -> list[Resources]:
    """From `llvm-readelf --notes` of one code object; names as they are mangled."""
    kernels: list[dict[str, str]] = []
    inside = False
    for line in text.splitlines():
        if line == "amdhsa.kernels:":
            inside = True
        elif inside and not line.startswith(" "):
            inside = False
        elif inside and (found := FIELD.match(line)):
            if line.startswith("  - "):
                kernels.append({})
            kernels[-1][found[1]] = found[2].strip("'\"")
        elif inside and line.startswith("  - "):  # a list, such as .args, comes first
            kernels.append({})
    return [
        Resources(
            kernel=kernel["name"],
            vgprs=int(kernel["vgpr_count"]),
            agprs=int(kernel.get("agpr_count", "0")),
            sgprs=int(kernel["sgpr_count"]),
            lds_bytes=int(kernel["group_segment_fixed_size"]),
            scratch_bytes=int(kernel["private_segment_fixed_size"]),
            vgpr_spills=int(kernel["vgpr_spill_count"]),
            sgpr_spills=int(kernel["sgpr_spill_count"]),
        )
        for kernel in kernels
    ]
