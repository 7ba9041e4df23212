"""Which kernels are collectives: a table of name patterns, each with the source that gives kernels that name.

A pattern matches at the start of a function's name, whatever namespace, return type or mangled length stands
before it. A kernel of one device alone (NCCL's one-rank reduce, a local reduce) is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["COLLECTIVE_NAMES", "CollectiveName", "collective_codes", "is_collective", "may_be_collectives"]


@dataclass(frozen=True, slots=True)
class CollectiveName:
    """Kernels of one library that talk to other devices."""

    pattern: str
    """Of the function's own name, from its start; what repeats has a limit, so that no name takes long."""
    source: str
    """Who names kernels so."""


COLLECTIVE_NAMES: Final = (
    CollectiveName(
        r"nccl(?:Dev|Sym|SymDev|SymkDev)?Kernel_\w",
        "NCCL: src/device/common.h and src/device/generate.py (ncclDevKernel_AllReduce_Sum_f32_RING_LL), "
        "ncclKernel_* up to 2.18, ncclSymkDevKernel_* of src/device/symmetric from 2.27; RCCL: "
        "ncclDevKernel_Generic, _Generic_1 in src/device/common.h",
    ),
    CollectiveName(
        r"nccl(?:AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|SendRecv)\w{0,99}Kernel",
        "NCCL 2.3 to 2.7: src/collectives/device (ncclAllReduceRingLLKernel_sum_f32)",
    ),
    CollectiveName(r"[rR]cclKernel\w*", "RCCL before it followed NCCL: RcclKernelBroadcast"),
    CollectiveName(r"mscclKernel_\w", "RCCL: src/include/msccl/msccl_kernel.h"),
    CollectiveName(
        r"cross_device_reduce_[12]stage",
        "vLLM csrc/custom_all_reduce.cuh, SGLang sgl-kernel, AITER csrc/include/custom_all_reduce.cuh",
    ),
    CollectiveName(r"reduce_scatter_cross_device_store", "AITER custom_all_reduce.cuh"),
    CollectiveName(
        r"allreduce_prototype_(?:one|two)shot",
        "QuickReduce: vLLM and SGLang csrc/quickreduce, AITER csrc/include/quick_all_reduce.cuh",
    ),
    CollectiveName(
        r"(?:lowPrecision)?(?:[oO]ne|[tT]wo)[sS]hotAll[rR]educe\w{0,99}Kernel",
        "TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu, PyTorch c10d intra_node_comm.cu",
    ),
    CollectiveName(
        r"(?:moe\w{0,99}_)?allreduce_fusion_kernel_(?:one|two)shot\w*",
        "TensorRT-LLM communicationKernels and FlashInfer trtllm_allreduce_fusion.cuh",
    ),
    CollectiveName(
        r"(?:multimem_)?(?:(?:one|two)_shot_)?all_(?:reduce|gather)(?:_\w{1,99})?_kernel",
        "PyTorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu, Triton kernels of SGLang",
    ),
    CollectiveName(
        r"deep_ep::\w{1,99}::(?:dispatch|combine|notify_dispatch|cached_notify_\w{1,99}|barrier)\b",
        "DeepEP csrc/kernels: deep_ep::intranode, internode, internode_ll",
    ),
)

_MARKS: Final = (
    "ccl",
    "cross_device",
    "ll_gather",
    "ll_reduce",
    "llReduce",
    "llreduce",
    "multimem_",
    "deep_ep::",
)
"""One of these stands in every name that a pattern matches: quicker to look for."""
_START: Final = r"(?:(?<![A-Za-z_0-9])|(?<=_Z\d)|(?<=_Z\d\d)|(?<=[A-Za-z_]\d)|(?<=[A-Za-z_]\d\d))"
"""Where a function's name starts: at a word's, or behind the length in a mangled name."""
_EVERY: Final = re.compile(f"{_START}(?:{'|'.join(one.pattern for one in COLLECTIVE_NAMES)})")
_ARGUMENTS: Final = re.compile(r"(?<=\w)[<(]")
"""Where the arguments of a template or call start, which can name another kernel's types."""
_HEAD: Final = 1 << 14
"""So much of a name is looked at; the longest of a library's own have some hundred characters before it."""


def is_collective(name: str) -> bool:
    """Whether a kernel of this name talks to other devices.

    >>> is_collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
    True
    >>> is_collective("void at::native::reduce_kernel<512, 1, float>()")
    False
    """
    return _matches(name[:_HEAD])


@lru_cache(maxsize=4096)
def _matches(head: str) -> bool:
    return _is_marked(head) and _EVERY.search(_ARGUMENTS.split(head, maxsplit=1)[0]) is not None


def collective_codes(names: Sequence[str], codes: Sequence[int]) -> list[int]:
    """Those of the codes whose names are collectives'."""
    return [code for code in codes if code >= 0 and is_collective(names[code])]


def may_be_collectives(names: Sequence[str]) -> bool:
    """Whether any of the names could be a collective's: much sooner told than whether one is."""
    return _is_marked("\n".join(names))


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)
