"""Small rocprofv3 JSON documents: the keys of one process, with what a test wants replaced."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

__all__ = ["api", "copy", "document", "kernel", "one_process"]

KINDS = [
    {"kind": "NONE", "operations": []},
    {
        "kind": "HIP_RUNTIME_API_EXT",
        "operations": ["hipLaunchKernel", "hipMemcpyAsync", "hipStreamSynchronize"],
    },
    {"kind": "KERNEL_DISPATCH", "operations": ["KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_COMPLETE"]},
    {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_DEVICE_TO_HOST"]},
    {"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA"]},
    {"kind": "RCCL_API", "operations": ["ncclAllReduce"]},
]
"""Not the numbers of any release: a reader must ask the file."""


def _record(
    kind: int, operation: int, start: int, end: int, link: int, more: dict[str, Any]
) -> dict[str, Any]:
    return {
        "size": 1, "kind": kind, "operation": operation, "thread_id": 4002,
        "correlation_id": {"internal": link, "external": 0},
        "start_timestamp": start, "end_timestamp": end, **more,
    }  # fmt: skip


def api(operation: int, start: int, end: int, link: int, *, kind: int = 1, **more: Any) -> dict[str, Any]:
    return _record(kind, operation, start, end, link, more)


def kernel(
    start: int, end: int, link: int, *, kernel_id: int = 8, agent: int = 902, **more: Any
) -> dict[str, Any]:
    info = {"agent_id": {"handle": agent}, "queue_id": {"handle": 16}, "kernel_id": kernel_id}
    return _record(2, 1, start, end, link, {"dispatch_info": info, "stream_id": {"handle": 3}, **more})


def copy(start: int, end: int, link: int, **more: Any) -> dict[str, Any]:
    sides = {"src_agent_id": {"handle": 902}, "dst_agent_id": {"handle": 900}, "bytes": 64}
    return _record(3, 1, start, end, link, {**sides, "stream_id": {"handle": 3}, **more})


def one_process(pid: int = 4001, **lists: Any) -> dict[str, Any]:
    """A launch and its kernel, a copy and its op, a synchronize; `lists` replace record lists."""
    return {
        "metadata": {"pid": pid, "command": ["app", "-x"], "config": {"group_by_queue": False}},
        "agents": [
            {"size": 1, "id": {"handle": 900}, "type": 1, "node_id": 0, "logical_node_id": 0, "name": "EPYC"},
            {
                "size": 1,
                "id": {"handle": 902},
                "type": 2,
                "node_id": 4,
                "logical_node_id": 0,
                "name": "gfx942",
            },
        ],
        "strings": {"buffer_records": deepcopy(KINDS), "marker_api": [{"key": 20, "value": "pack_meta"}]},
        "kernel_symbols": [
            {"size": 0, "kernel_id": 0, "kernel_name": "", "formatted_kernel_name": "0"},
            {"size": 1, "kernel_id": 8, "kernel_name": "k.kd", "formatted_kernel_name": "k(int)"},
        ],
        "callback_records": {"counter_collection": []},
        "buffer_records": {
            "kernel_dispatch": [kernel(10, 20, 11)],
            "hip_api": [api(0, 0, 5, 11), api(1, 6, 9, 12), api(2, 10, 30, 13, stream_id={"handle": 3})],
            "hsa_api": [],
            "memory_copy": [copy(20, 25, 12)],
            **lists,
        },
    }


def document(*processes: dict[str, Any]) -> dict[str, Any]:
    return {"rocprofiler-sdk-tool": list(processes)}
