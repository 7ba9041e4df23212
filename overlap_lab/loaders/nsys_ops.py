"""Device ops of an Nsight Systems export: kernels, copies, memsets, and whole graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from overlap_lab.columns import dense_codes
from overlap_lab.loaders.alike import Coded, CodedNumbers, gathered
from overlap_lab.loaders.building import Block, Findings, TraceBuilder, plain
from overlap_lab.loaders.nsys_tables import NO_ID, NsysTables, distinct_rows, known_ids
from overlap_lab.loaders.nsys_target import Target, owners
from overlap_lab.loaders.sqlite_columns import TableColumns
from overlap_lab.schema import ABSENT, NO_CORRELATION, CopyKind, Kind, Memory
from overlap_lab.trace import Column

__all__ = ["add_ops", "correlations"]

_PREFIX: Final = "CUPTI_ACTIVITY_KIND_"
_TIMED: Final = ("start", "end", "correlationId")
_OWNERS: Final = ("globalPid", "deviceId", "contextId", "streamId")
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
    return np.where((ids < 0) | (ids == NO_ID), NO_CORRELATION, ids).view(np.uint64)


def add_ops(tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings) -> None:
    """Add every op of the export; `target` learns the devices of contexts from them."""
    kernels = _kernels(tables, target, builder, findings)
    copies = _copies(tables, target, builder, findings)
    memsets = _memsets(tables, target, builder, findings)
    _graphs(tables, target, builder, findings, (kernels, copies, memsets))


def _rows(tables: NsysTables, table: str, numbers: Sequence[str], few: Sequence[str]) -> TableColumns:
    """The rows of a table of ops with these columns, and those that every op has.

    Both times are absent where CUPTI had none and wrote 0 and 0.
    """
    rows = tables.columns(_PREFIX + table, (*_TIMED, *numbers), (*_OWNERS, *few))
    untimed = (rows["start"] == 0) & (rows["end"] == 0)
    if untimed.any():
        rows.numbers["start"] = np.where(untimed, ABSENT, rows["start"])
        rows.numbers["end"] = np.where(untimed, ABSENT, rows["end"])
    return rows


def _shared(rows: TableColumns, target: Target) -> dict[str, Block]:
    """Columns that every op has."""
    few = rows.few
    owner, stream = owners(few["globalPid"].values), few["streamId"]
    return {
        "part": few["globalPid"].mapped(owner["part"]),
        "process": few["globalPid"].mapped(owner["process"]),
        "start_ns": rows["start"],
        "end_ns": rows["end"],
        "device": target.devices_of(few["globalPid"], few["deviceId"], few["contextId"]),
        "stream": stream.mapped(known_ids(stream.values)),
        "correlation": correlations(rows["correlationId"]),
    }


def _kernels(
    tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings
) -> dict[str, Block]:
    rows = _rows(
        tables, "KERNEL", (), ("demangledName", "shortName", "mangledName", "graphId", "graphNodeId")
    )
    columns = _shared(rows, target)
    columns["graph"] = _graph_ids(rows.few["graphNodeId"], rows.few["graphId"])
    (demangled, short, mangled), place = distinct_rows(
        *(rows.few[name] for name in ("demangledName", "shortName", "mangledName"))
    )
    ids = np.where(demangled != ABSENT, demangled, np.where(short != ABSENT, short, mangled))
    of_name = CodedNumbers.of(ids)
    names, at = tables.names(of_name, "kernel")
    codes = CodedNumbers(place, builder.interned(names)[at])
    builder.add_timed(Kind.KERNEL, codes, columns, findings)
    return columns


def _copies(
    tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings
) -> dict[str, Block]:
    rows = _rows(tables, "MEMCPY", ("bytes",), ("copyKind", "srcKind", "dstKind", "graphNodeId"))
    columns = _shared(rows, target)
    operations = tables.enum("ENUM_CUDA_MEMCPY_OPER", _OPERATIONS)
    memories = tables.enum("ENUM_CUDA_MEM_KIND", _MEMORIES)
    distinct, place = distinct_rows(*(rows.few[name] for name in ("copyKind", "srcKind", "dstKind")))
    kinds = zip(*(column.tolist() for column in distinct), strict=True)
    shown = [_copy(operations.get(o, ""), memories.get(s, ""), memories.get(d, "")) for o, s, d in kinds]
    columns |= {
        "bytes": rows["bytes"],
        "copy_kind": CodedNumbers(place, np.array([kind for _, kind, _ in shown], np.uint8)),
        "memory": CodedNumbers(place, np.array([memory for _, _, memory in shown], np.uint8)),
        "graph": _graph_ids(rows.few["graphNodeId"]),
    }
    managed = gathered(np.array([name.startswith("Managed") for name, _, _ in shown], bool), place)
    if managed.any():
        findings.note(f"{int(managed.sum())} copies are migrations of managed memory: no call made them.")
    names = CodedNumbers(place, builder.interned([name for name, _, _ in shown]))
    builder.add_timed(Kind.MEMCPY, names, columns, findings)
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


def _memsets(
    tables: NsysTables, target: Target, builder: TraceBuilder, findings: Findings
) -> dict[str, Block]:
    rows = _rows(tables, "MEMSET", ("bytes",), ("graphNodeId",))
    columns = _shared(rows, target)
    columns |= {"bytes": rows["bytes"], "graph": _graph_ids(rows.few["graphNodeId"])}
    names = Coded(np.zeros(rows.rows, np.int8), ["Memset"]).interned(builder)
    builder.add_timed(Kind.MEMSET, names, columns, findings)
    return columns


def _graphs(
    tables: NsysTables,
    target: Target,
    builder: TraceBuilder,
    findings: Findings,
    nodes: tuple[dict[str, Block], ...],
) -> None:
    """Graphs recorded as a whole: one op per launch, unless the launch's nodes are recorded too."""
    rows = _rows(tables, "GRAPH_TRACE", ("graphId",), ())
    columns, graph = _shared(rows, target), rows["graphId"]
    if not graph.size:
        return
    columns["graph"] = graph
    keys = ("part", "process", "correlation")
    code = dense_codes(*(np.concatenate([plain(rows[key]) for rows in (columns, *nodes)]) for key in keys))
    doubled = np.isin(code[: graph.size], code[graph.size :]) & (
        plain(columns["correlation"]) != NO_CORRELATION
    )
    if doubled.any():
        findings.note(f"{int(doubled.sum())} graph records were left out: their nodes are recorded too.")
        graph, columns = graph[~doubled], {name: column[~doubled] for name, column in columns.items()}
    if graph.size:
        findings.note(f"{graph.size} graph launches are one op each: the kernels in them were not recorded.")
    distinct, place = np.unique(graph, return_inverse=True)
    names = ["CUDA graph" if number == ABSENT else f"CUDA graph {number}" for number in distinct.tolist()]
    builder.add_timed(Kind.KERNEL, builder.interned(names)[place], columns, findings)


def _graph_ids(node: CodedNumbers, graph: CodedNumbers | None = None) -> CodedNumbers:
    """The graph of each op; where the version stores only the node, its upper half is the graph."""
    if graph is None:
        return node.mapped(_upper(node.values))
    (nodes, graphs), place = distinct_rows(node, graph)
    own = np.where((graphs == ABSENT) | (graphs == 0), ABSENT, graphs)
    return CodedNumbers(place, np.where(own != ABSENT, own, _upper(nodes)))


def _upper(node: Column) -> Column:
    return np.where((node == ABSENT) | (node >> 32 == 0), ABSENT, node >> 32)
