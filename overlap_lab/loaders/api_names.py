"""What a host call does, by its vendor name. The only file that knows API names.

The HIP runtime, the CUDA runtime and the CUDA driver name the same calls alike, so one table over the
names without prefix and without version suffix serves all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np

from overlap_lab.schema import Api, CopyKind
from overlap_lab.trace import Column

__all__ = ["api_codes", "api_of", "copy_directions", "plain_name"]

_LONGEST: Final = 200
"""No call has a longer name; a hostile one must not stay in the caches below."""
_VERSION: Final = re.compile(r"(?:_v\d+|_ptsz|_ptds|_spt)+$")
_PREFIX: Final = re.compile(r"(?:hip|cuda|cu)(?=[A-Z])")
_COPY: Final = re.compile(r"(?:Drv)?Memcpy(?!Node)")

_DIRECTIONS: Final = {
    "HtoD": CopyKind.HOST_TO_DEVICE,
    "DtoH": CopyKind.DEVICE_TO_HOST,
    "DtoD": CopyKind.DEVICE_TO_DEVICE,
    "HtoA": CopyKind.HOST_TO_DEVICE,
    "AtoH": CopyKind.DEVICE_TO_HOST,
}
_DIRECTION: Final = re.compile(r"Memcpy(HtoD|DtoH|DtoD|HtoA|AtoH)")

_CALLS: Final[dict[Api, str]] = {
    Api.LAUNCH: """LaunchKernel LaunchKernelExC LaunchKernelEx ExtLaunchKernel ModuleLaunchKernel
        ExtModuleLaunchKernel HccModuleLaunchKernel DrvLaunchKernelEx LaunchByPtr Launch LaunchGrid
        LaunchGridAsync LaunchCooperativeKernel LaunchCooperativeKernelMultiDevice
        ModuleLaunchCooperativeKernel ModuleLaunchCooperativeKernelMultiDevice
        ExtLaunchMultiKernelMultiDevice""",
    Api.GRAPH_LAUNCH: "GraphLaunch",
    Api.HOST_FUNC: "LaunchHostFunc StreamAddCallback",
    Api.STREAM_SYNC: "StreamSynchronize",
    Api.DEVICE_SYNC: "DeviceSynchronize ThreadSynchronize",
    Api.EVENT_SYNC: "EventSynchronize",
    Api.CONTEXT_SYNC: "CtxSynchronize",
    Api.QUERY: "StreamQuery EventQuery",
    Api.STREAM_WAIT_EVENT: "StreamWaitEvent",
    Api.EVENT_RECORD: "EventRecord EventRecordWithFlags",
    Api.ALLOC: """Malloc MallocPitch Malloc3D Malloc3DArray MallocArray MallocMipmappedArray
        MallocManaged ExtMallocWithFlags MemAlloc MemAllocPitch MemAllocManaged ArrayCreate
        Array3DCreate""",
    Api.FREE: "Free FreeArray FreeMipmappedArray MemFree ArrayDestroy",
    Api.HOST_ALLOC: """HostMalloc HostAlloc MallocHost MemAllocHost MemHostAlloc HostRegister
        MemHostRegister ExtHostAlloc""",
    Api.HOST_FREE: "HostFree FreeHost MemFreeHost HostUnregister MemHostUnregister",
    Api.ASYNC_ALLOC: """MallocAsync MallocFromPoolAsync FreeAsync MemAllocAsync MemAllocFromPoolAsync
        MemFreeAsync""",
    Api.STREAM_DESTROY: "StreamDestroy",
    Api.MODULE_LOAD: """ModuleLoad ModuleLoadData ModuleLoadDataEx ModuleLoadFatBinary LibraryLoadData
        LibraryLoadFromFile""",
    Api.CAPTURE_BEGIN: "StreamBeginCapture StreamBeginCaptureToGraph",
    Api.CAPTURE_END: "StreamEndCapture",
}
_BY_NAME: Final = {name: api for api, names in _CALLS.items() for name in names.split()}


def plain_name(name: str) -> str:
    """The call's name without its version or default-stream suffix: `cudaLaunchKernel_v7000`.

    >>> plain_name("cudaStreamSynchronize_v3020"), plain_name("hipMemcpyAsync_spt")
    ('cudaStreamSynchronize', 'hipMemcpyAsync')
    """
    return _VERSION.sub("", name)


@lru_cache(maxsize=4096)
def api_of(name: str) -> Api:
    """What the call does; OTHER for every name that neither enqueues nor waits, HSA calls among them."""
    plain = plain_name(name)
    prefix = _PREFIX.match(plain)
    if prefix is None:
        return Api.OTHER
    core = plain[prefix.end() :]
    if core in _BY_NAME:
        return _BY_NAME[core]
    if _COPY.match(core):
        return Api.MEMCPY_ASYNC if "Async" in core else Api.MEMCPY
    if core.startswith("Memset"):
        return Api.MEMSET_ASYNC if "Async" in core else Api.MEMSET
    return Api.OTHER


def api_codes(names: Iterable[str]) -> Column:
    """The `api` column of a sequence of call names."""
    short = (name if len(name) <= _LONGEST else "" for name in names)
    return np.fromiter(map(api_of, short), np.uint8)


@lru_cache(maxsize=4096)
def _direction_of(name: str) -> CopyKind:
    found = _DIRECTION.search(name)
    return _DIRECTIONS[found[1]] if found else CopyKind.UNKNOWN


def copy_directions(names: Iterable[str]) -> Column:
    """The `copy_kind` of calls whose name says it: `hipMemcpyDtoH`, `cuMemcpyHtoDAsync_v2`."""
    short = (name if len(name) <= _LONGEST else "" for name in names)
    return np.fromiter(map(_direction_of, short), np.uint8)
