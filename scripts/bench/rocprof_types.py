"""The records of a rocprofv3 JSON file as msgspec types: the fields that `load` reads."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["decode"]


class _Handle(msgspec.Struct):
    handle: int


class _Correlation(msgspec.Struct):
    internal: int


class _Dispatch(msgspec.Struct):
    agent_id: _Handle
    queue_id: _Handle
    kernel_id: int


class _Kernel(msgspec.Struct):
    operation: int
    thread_id: int
    correlation_id: _Correlation
    start_timestamp: int
    end_timestamp: int
    dispatch_info: _Dispatch
    stream_id: _Handle | None = None


class _Call(msgspec.Struct):
    kind: int
    operation: int
    thread_id: int
    correlation_id: _Correlation
    start_timestamp: int
    end_timestamp: int
    stream_id: _Handle | None = None


class _Copy(_Call):
    bytes: int | None = None
    src_agent_id: _Handle | None = None
    dst_agent_id: _Handle | None = None


class _Symbol(msgspec.Struct):
    kernel_id: int
    formatted_kernel_name: str = ""


class _Records(msgspec.Struct):
    kernel_dispatch: list[_Kernel] = []
    hip_api: list[_Call] = []
    hsa_api: list[_Call] = []
    marker_api: list[_Call] = []
    rccl_api: list[_Call] = []
    memory_copy: list[_Copy] = []


class _Tool(msgspec.Struct):
    metadata: dict[str, Any]
    strings: dict[str, Any]
    agents: list[dict[str, Any]]
    kernel_symbols: list[_Symbol]
    buffer_records: _Records


class _File(msgspec.Struct):
    tools: list[_Tool] = msgspec.field(name="rocprofiler-sdk-tool")


def decode(content: bytes) -> object:
    """The file as typed objects."""
    return msgspec.json.decode(content, type=_File)
