"""Device ops of an Nsight Systems export: kernels, copies, memsets, and whole graphs."""

from __future__ import annotations

from typing import Final

import numpy as np

from overlap_lab.columns import dense_codes
from overlap_lab.loaders.alike import Coded
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.nsys_tables import NsysTables, distinct_rows, known_ids
from overlap_lab.loaders.nsys_target import Target, owners
from overlap_lab.schema import ABSENT, NO_CORRELATION, CopyKind, Kind, Memory
from overlap_lab.trace import Column

__all__ = ["add_ops", "correlations"]

_PREFIX: Final = "CUPTI_ACTIVITY_KIND_"
_SHARED: Final = ("start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId")
_MANAGED_COPY: Final = "UVM_"

_COPIES: Final = {
    "HTOD": ("HtoD", CopyKind.HOST_TO_DEVICE),
    "DTOH": ("DtoH", CopyKind.DEVICE_TO_HOST),
    "HTOA": ("HtoA", CopyKind.HOST_TO_DEVICE),
    "ATOH": ("AtoH", CopyKind.DEVICE_TO_HOST),
    "ATOA": ("AtoA", CopyKind.DEVICE_TO_DEVICE),
    "ATOD": ("AtoD", CopyKind.DEVICE_TO_DEVICE),
    "DTOA": ("DtoA", CopyKind.DEVICE_TO_DEVICE),
    "DTOD": ("DtoD", CopyKind.DEVICE_TO_DEVICE),
    "HTOH": ("HtoH", CopyKind.HOST_TO_HOST),
    "PTOP": ("PtoP", CopyKind.PEER_TO_PEER),
}
"""Last word of the file's own symbol -> how it is shown, and the direction."""
_OPERATIONS: Final = {
    1: "KIND_HTOD",
    2: "KIND_DTOH",
    3: "KIND_HTOA",
    4: "KIND_ATOH",
    5: "KIND_ATOA",
    6: "KIND_ATOD",
    7: "KIND_DTOA",
    8: "KIND_DTOD",
    9: "KIND_HTOH",
    10: "KIND_PTOP",
    11: "KIND_UVM_HTOD",
    12: "KIND_UVM_DTOH",
    13: "KIND_UVM_DTOD",
}
_MEMORIES: Final = {0: "KIND_PAGEABLE", 1: "KIND_PINNED", 2: "KIND_DEVICE"}
_HOST_MEMORY: Final = {"Pageable": Memory.PAGEABLE, "Pinned": Memory.PINNED}


def correlations(ids: Column) -> Column:
    """Correlation ids as uint64; 0 for none, which links nothing."""
    known = known_ids(ids)
    return np.where(known < 0, NO_CORRELATION, known).astype(np.uint64)


def add_ops(tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings) -> None:
    """Add every op of the export; `target` learns the devices of contexts from them."""
    kernels = _kernels(tables, target, builder, findings)
    copies = _copies(tables, target, builder, findings)
    memsets = _memsets(tables, target, builder, findings)
    _graphs(tables, target, builder, findings, (kernels, copies, memsets))


def _shared(tables: NsysTables, table: str, target: Target) -> Columns:
    """Columns that every op has; both times are absent where CUPTI had none and wrote 0 and 0."""
    start, end, pid, device, context, stream, link = tables.integers(_PREFIX + table, *_SHARED)
    untimed = (start == 0) & (end == 0)
    if untimed.any():
        start, end = np.where(untimed, ABSENT, start), np.where(untimed, ABSENT, end)
    owner = owners(pid)
    columns = {
        "part": owner["part"],
        "process": owner["process"],
        "start_ns": start,
        "end_ns": end,
        "device": target.devices(owner["process"], device),
        "stream": known_ids(stream),
        "correlation": correlations(link),
    }
    target.learn_contexts(owner["process"], context, columns["device"])
    return columns


def _kernels(tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings) -> Columns:
    columns = _shared(tables, "KERNEL", target)
    demangled, short, mangled, graph, node = tables.integers(
        _PREFIX + "KERNEL", "demangledName", "shortName", "mangledName", "graphId", "graphNodeId"
    )
    ids = np.where(demangled != ABSENT, demangled, np.where(short != ABSENT, short, mangled))
    columns["graph"] = _graph_ids(graph, node)
    names, place = tables.names(ids, "kernel")
    builder.add_timed(Kind.KERNEL, builder.interned(names)[place], columns, findings)
    return columns


def _copies(tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings) -> Columns:
    columns = _shared(tables, "MEMCPY", target)
    size, operation, source, destination, node = tables.integers(
        _PREFIX + "MEMCPY", "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"
    )
    operations = tables.enum("ENUM_CUDA_MEMCPY_OPER", _OPERATIONS)
    memories = tables.enum("ENUM_CUDA_MEM_KIND", _MEMORIES)
    distinct, place = distinct_rows(operation, source, destination)
    kinds = zip(*(column.tolist() for column in distinct), strict=True)
    shown = [_copy(operations.get(o, ""), memories.get(s, ""), memories.get(d, "")) for o, s, d in kinds]
    columns |= {
        "bytes": size,
        "copy_kind": np.array([kind for _, kind, _ in shown], np.uint8)[place],
        "memory": np.array([memory for _, _, memory in shown], np.uint8)[place],
        "graph": _graph_ids(np.full(node.size, ABSENT), node),
    }
    managed = np.array([name.startswith("Managed") for name, _, _ in shown], bool)[place]
    if managed.any():
        findings.note(f"{int(managed.sum())} copies are migrations of managed memory: no call made them.")
    builder.add_timed(Kind.MEMCPY, builder.interned([name for name, _, _ in shown])[place], columns, findings)
    return columns


def _copy(operation: str, source: str, target: str) -> tuple[str, CopyKind, Memory]:
    """Name, direction and host memory of a copy, from the file's symbols."""
    word = operation.rpartition("KIND_")[2]
    shown, kind = _COPIES.get(word.removeprefix(_MANAGED_COPY), ("", CopyKind.UNKNOWN))
    from_memory, to_memory = _memory(source), _memory(target)
    sides = f" ({from_memory} -> {to_memory})" if from_memory and to_memory else ""
    verb = "Managed memory" if word.startswith(_MANAGED_COPY) else "Memcpy"
    host = {
        CopyKind.HOST_TO_DEVICE: (from_memory,),
        CopyKind.DEVICE_TO_HOST: (to_memory,),
        CopyKind.HOST_TO_HOST: (from_memory, to_memory),
    }.get(kind, ())
    found = {_HOST_MEMORY.get(memory, Memory.UNKNOWN) for memory in host}
    memory = found.pop() if len(found) == 1 else Memory.UNKNOWN
    return f"{verb} {shown}".rstrip() + sides, kind, memory


def _memory(symbol: str) -> str:
    return symbol.rpartition("KIND_")[2].replace("_", " ").capitalize()


def _memsets(tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings) -> Columns:
    columns = _shared(tables, "MEMSET", target)
    size, node = tables.integers(_PREFIX + "MEMSET", "bytes", "graphNodeId")
    columns |= {"bytes": size, "graph": _graph_ids(np.full(node.size, ABSENT), node)}
    builder.add_timed(
        Kind.MEMSET, Coded(np.zeros(size.size, np.int8), ["Memset"]).interned(builder), columns, findings
    )
    return columns


def _graphs(
    tables: NsysTables,
    target: Target,
    builder: TraceBuilder,
    findings: Findings,
    nodes: tuple[Columns, ...],
) -> None:
    """Graphs recorded as a whole: one op per launch, unless the launch's nodes are recorded too."""
    columns = _shared(tables, "GRAPH_TRACE", target)
    [graph] = tables.integers(_PREFIX + "GRAPH_TRACE", "graphId")
    if not graph.size:
        return
    columns["graph"] = graph
    keys = ("part", "process", "correlation")
    code = dense_codes(*(np.concatenate([columns[key], *(rows[key] for rows in nodes)]) for key in keys))
    doubled = np.isin(code[: graph.size], code[graph.size :]) & (columns["correlation"] != NO_CORRELATION)
    if doubled.any():
        findings.note(f"{int(doubled.sum())} graph records were left out: their nodes are recorded too.")
        graph, columns = graph[~doubled], {name: column[~doubled] for name, column in columns.items()}
    if graph.size:
        findings.note(f"{graph.size} graph launches are one op each: the kernels in them were not recorded.")
    distinct, place = np.unique(graph, return_inverse=True)
    names = ["CUDA graph" if number == ABSENT else f"CUDA graph {number}" for number in distinct.tolist()]
    builder.add_timed(Kind.KERNEL, builder.interned(names)[place], columns, findings)


def _graph_ids(graph: Column, node: Column) -> Column:
    """The graph of each op; where the version stores only the node, its upper half is the graph."""
    own = np.where((graph == ABSENT) | (graph == 0), ABSENT, graph)
    upper = np.where((node == ABSENT) | (node >> 32 == 0), ABSENT, node >> 32)
    return np.where(own != ABSENT, own, upper)
