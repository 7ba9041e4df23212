"""The rocpd schema 3 tables and views that the host capture writes.

Column names and meanings are those of rocprofiler-sdk 1.x, so that rocpd's own tools and SQL written for
rocprofv3 files work on ours. Tables carry a suffix made from the GUID; views of the same name without the
suffix, and the joined views `regions`, `kernels`, `memory_copies`, `processes` and `threads`, sit on top.
"""

from __future__ import annotations

__all__ = ["BASE_TABLES", "schema_sql"]

_KEY = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
_GUID = "guid TEXT NOT NULL DEFAULT '{guid}'"
_EXTDATA = "extdata JSONB NOT NULL DEFAULT '{{}}'"
_HOME = "nid INTEGER NOT NULL, pid INTEGER NOT NULL"
_TIMES = "start BIGINT NOT NULL, end BIGINT NOT NULL"

BASE_TABLES: dict[str, tuple[str, ...]] = {
    "metadata": (_KEY, "tag TEXT NOT NULL", "value TEXT NOT NULL"),
    "string": (_KEY, _GUID, "string TEXT NOT NULL"),
    "info_node": (
        _KEY,
        _GUID,
        "hash BIGINT NOT NULL, machine_id TEXT NOT NULL, system_name TEXT, hostname TEXT",
        "release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT",
    ),
    "info_process": (
        _KEY,
        _GUID,
        "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL",
        "init BIGINT, fini BIGINT, start BIGINT, end BIGINT, command TEXT",
        "environment JSONB NOT NULL DEFAULT '{{}}'",
        _EXTDATA,
    ),
    "info_thread": (
        _KEY,
        _GUID,
        "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL",
        "name TEXT, start BIGINT, end BIGINT",
        _EXTDATA,
    ),
    "info_agent": (
        _KEY,
        _GUID,
        _HOME,
        "type TEXT CHECK (type IN ('CPU', 'GPU'))",
        "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER",
        "name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT",
        _EXTDATA,
    ),
    "info_queue": (_KEY, _GUID, _HOME, "name TEXT", _EXTDATA),
    "info_stream": (_KEY, _GUID, _HOME, "name TEXT", _EXTDATA),
    "info_kernel_symbol": (
        _KEY,
        _GUID,
        _HOME,
        "code_object_id INTEGER, kernel_name TEXT, display_name TEXT, kernel_object INTEGER",
        "kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER, group_segment_size INTEGER",
        "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
        _EXTDATA,
    ),
    "event": (
        _KEY,
        _GUID,
        "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER",
        "call_stack JSONB NOT NULL DEFAULT '{{}}', line_info JSONB NOT NULL DEFAULT '{{}}'",
        _EXTDATA,
    ),
    "arg": (
        _KEY,
        _GUID,
        "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL",
        "value TEXT",
        _EXTDATA,
    ),
    "region": (
        _KEY,
        _GUID,
        _HOME,
        "tid INTEGER NOT NULL",
        _TIMES,
        "name_id INTEGER NOT NULL, event_id INTEGER",
        _EXTDATA,
    ),
    "kernel_dispatch": (
        _KEY,
        _GUID,
        _HOME,
        "tid INTEGER, agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL",
        "queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL",
        _TIMES,
        "private_segment_size INTEGER, group_segment_size INTEGER",
        "workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL",
        "workgroup_size_z INTEGER NOT NULL",
        "grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL",
        "region_name_id INTEGER, event_id INTEGER",
        _EXTDATA,
        "graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0",
    ),
    "memory_copy": (
        _KEY,
        _GUID,
        _HOME,
        "tid INTEGER",
        _TIMES,
        "name_id INTEGER NOT NULL, dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER",
        "src_address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER",
        "region_name_id INTEGER, event_id INTEGER",
        _EXTDATA,
        "graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0",
    ),
}
"""Table name without prefix and suffix -> column clauses."""

_STRING = "(SELECT s.string FROM rocpd_string s WHERE s.id = {id} AND s.guid = {guid})"

_JOINED_VIEWS = {
    "regions": f"""
        SELECT r.id, r.guid, {_STRING.format(id="e.category_id", guid="r.guid")} AS category,
               {_STRING.format(id="r.name_id", guid="r.guid")} AS name, r.nid, p.pid, t.tid, r.start, r.end,
               r.end - r.start AS duration, r.event_id, e.stack_id, e.parent_stack_id,
               e.correlation_id AS corr_id, e.extdata, e.call_stack, e.line_info
        FROM rocpd_region r
        JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid
        JOIN rocpd_info_process p ON p.id = r.pid AND p.guid = r.guid
        JOIN rocpd_info_thread t ON t.id = r.tid AND t.guid = r.guid""",
    "kernels": f"""
        SELECT k.id, k.guid, t.tid, {_STRING.format(id="e.category_id", guid="k.guid")} AS category,
               {_STRING.format(id="k.region_name_id", guid="k.guid")} AS region, s.display_name AS name,
               k.nid, p.pid, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,
               a.type_index AS agent_type_index, a.type AS agent_type, s.code_object_id, k.kernel_id,
               k.dispatch_id, k.stream_id, k.queue_id, q.name AS queue, st.name AS stream, k.start, k.end,
               k.end - k.start AS duration, k.grid_size_x AS grid_x, k.grid_size_y AS grid_y,
               k.grid_size_z AS grid_z, k.workgroup_size_x AS workgroup_x, k.workgroup_size_y AS workgroup_y,
               k.workgroup_size_z AS workgroup_z, k.group_segment_size AS lds_size,
               k.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count, s.accum_vgpr_count,
               s.sgpr_count, s.group_segment_size AS static_lds_size,
               s.private_segment_size AS static_scratch_size, e.stack_id, e.parent_stack_id,
               e.correlation_id AS corr_id
        FROM rocpd_kernel_dispatch k
        JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid
        JOIN rocpd_event e ON e.id = k.event_id AND e.guid = k.guid
        JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
        LEFT JOIN rocpd_info_stream st ON st.id = k.stream_id AND st.guid = k.guid
        LEFT JOIN rocpd_info_queue q ON q.id = k.queue_id AND q.guid = k.guid
        JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
        JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid""",
    "memory_copies": f"""
        SELECT m.id, m.guid, {_STRING.format(id="e.category_id", guid="m.guid")} AS category, m.nid, p.pid,
               t.tid, m.start, m.end, m.end - m.start AS duration,
               {_STRING.format(id="m.name_id", guid="m.guid")} AS name,
               {_STRING.format(id="m.region_name_id", guid="m.guid")} AS region_name, m.stream_id, m.queue_id,
               st.name AS stream_name, q.name AS queue_name, m.size, d.name AS dst_device,
               d.absolute_index AS dst_agent_abs_index, d.logical_index AS dst_agent_log_index,
               d.type_index AS dst_agent_type_index, d.type AS dst_agent_type, m.dst_address,
               s.name AS src_device, s.absolute_index AS src_agent_abs_index,
               s.logical_index AS src_agent_log_index, s.type_index AS src_agent_type_index,
               s.type AS src_agent_type, m.src_address, e.stack_id, e.parent_stack_id,
               e.correlation_id AS corr_id
        FROM rocpd_memory_copy m
        JOIN rocpd_info_agent d ON d.id = m.dst_agent_id AND d.guid = m.guid
        JOIN rocpd_info_agent s ON s.id = m.src_agent_id AND s.guid = m.guid
        JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid
        LEFT JOIN rocpd_info_stream st ON st.id = m.stream_id AND st.guid = m.guid
        LEFT JOIN rocpd_info_queue q ON q.id = m.queue_id AND q.guid = m.guid
        JOIN rocpd_info_process p ON p.id = m.pid AND p.guid = m.guid
        JOIN rocpd_info_thread t ON t.id = m.tid AND t.guid = m.guid""",
    "processes": """
        SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,
               n.version AS system_version, p.guid, p.ppid, p.pid, p.init, p.start, p.end, p.fini, p.command
        FROM rocpd_info_process p JOIN rocpd_info_node n ON n.id = p.nid AND n.guid = p.guid""",
    "threads": """
        SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,
               n.version AS system_version, p.guid, p.ppid, p.pid, t.tid, t.start, t.end, t.name
        FROM rocpd_info_thread t
        JOIN rocpd_info_process p ON p.id = t.pid AND p.guid = t.guid
        JOIN rocpd_info_node n ON n.id = t.nid AND n.guid = t.guid""",
}


def schema_sql(guid: str) -> str:
    """The script that makes the empty tables of one GUID and the views over them."""
    suffix = "_" + guid.replace("-", "_")
    statements = []
    for table, clauses in BASE_TABLES.items():
        columns = ", ".join(clauses).format(guid=guid)
        statements.append(f'CREATE TABLE "rocpd_{table}{suffix}" ({columns});')
        statements.append(f'CREATE VIEW "rocpd_{table}" AS SELECT * FROM "rocpd_{table}{suffix}";')
    statements += [f'CREATE VIEW "{name}" AS {query};' for name, query in _JOINED_VIEWS.items()]
    return "\n".join(statements)
