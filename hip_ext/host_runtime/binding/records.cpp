#include "records.h"

#include "columns.h"
#include "hip_host/recorder.h"
#include "stacks.h"

namespace hip_host_binding {
namespace {

using hip_host::ApiRecord;
using hip_host::OpRecord;
using hip_host::RangeRecord;
using hip_host::StreamRecord;

/// The columns that calls and ops share; ids of threads and streams are 64 bits wide for Python.
template <class Record>
nb::dict shared_columns(const std::vector<Record>& records) {
  nb::dict table;
  table["start_ns"] = column<int64_t>(records, [](const Record& r) { return r.start_ns; });
  table["end_ns"] = column<int64_t>(records, [](const Record& r) { return r.end_ns; });
  table["correlation_id"] =
      column<uint64_t>(records, [](const Record& r) { return r.correlation_id; });
  table["stream_id"] = column<int64_t>(records, [](const Record& r) { return r.stream_id; });
  table["thread_id"] = column<int64_t>(records, [](const Record& r) { return r.thread_id; });
  table["bytes"] = column<uint64_t>(records, [](const Record& r) { return r.bytes; });
  table["copy_kind"] = column<int32_t>(records, [](const Record& r) { return r.copy_kind; });
  table["src_memory"] = column<uint8_t>(records, [](const Record& r) { return r.src_kind; });
  table["dst_memory"] = column<uint8_t>(records, [](const Record& r) { return r.dst_kind; });
  table["src"] = column<uint64_t>(records, [](const Record& r) { return r.src; });
  table["dst"] = column<uint64_t>(records, [](const Record& r) { return r.dst; });
  return table;
}

nb::dict api_table(const std::vector<ApiRecord>& records) {
  nb::dict table = shared_columns(records);
  table["name"] = text_column(records, [](const ApiRecord& r) { return r.name; });
  table["kernel"] =
      text_column(records, [](const ApiRecord& r) { return r.kernel ? r.kernel->c_str() : ""; });
  table["result"] = column<int32_t>(records, [](const ApiRecord& r) { return r.result; });
  table["stack"] = column<uint32_t>(records, [](const ApiRecord& r) { return r.stack; });
  table["waited"] = column<bool>(records, [](const ApiRecord& r) { return r.waited; });
  table["stream_argument"] =
      column<uint64_t>(records, [](const ApiRecord& r) { return r.stream_argument; });
  table["event"] = column<uint64_t>(records, [](const ApiRecord& r) { return r.event; });
  return table;
}

template <class Pick>
void add_dim(nb::dict& table, const char* name, const std::vector<OpRecord>& records, Pick pick) {
  const std::string prefix = name;
  auto put = [&](const char* axis, uint32_t dim3::* member) {
    table[(prefix + axis).c_str()] =
        column<int64_t>(records, [&](const OpRecord& r) { return pick(r).*member; });
  };
  put("_x", &dim3::x);
  put("_y", &dim3::y);
  put("_z", &dim3::z);
}

nb::dict op_table(const std::vector<OpRecord>& records) {
  nb::dict table = shared_columns(records);
  table["kind"] = column<uint8_t>(records, [](const OpRecord& r) { return r.kind; });
  table["name"] = text_column(records, [](const OpRecord& r) { return r.name->c_str(); });
  table["graph_exec"] = column<uint64_t>(records, [](const OpRecord& r) { return r.graph_exec; });
  table["lds_bytes"] = column<uint64_t>(records, [](const OpRecord& r) { return r.lds_bytes; });
  add_dim(table, "grid", records, [](const OpRecord& r) { return r.grid; });
  add_dim(table, "block", records, [](const OpRecord& r) { return r.block; });
  return table;
}

nb::dict range_table(const std::vector<RangeRecord>& records) {
  nb::dict table;
  table["name"] = text_column(records, [](const RangeRecord& r) { return r.name->c_str(); });
  table["start_ns"] = column<int64_t>(records, [](const RangeRecord& r) { return r.start_ns; });
  table["end_ns"] = column<int64_t>(records, [](const RangeRecord& r) { return r.end_ns; });
  table["thread_id"] = column<int64_t>(records, [](const RangeRecord& r) { return r.thread_id; });
  return table;
}

nb::dict stream_table(const std::vector<StreamRecord>& records) {
  nb::dict table;
  table["stream_id"] = column<int64_t>(records, [](const StreamRecord& r) { return r.stream_id; });
  table["handle"] = column<uint64_t>(records, [](const StreamRecord& r) { return r.handle; });
  table["non_blocking"] =
      column<bool>(records, [](const StreamRecord& r) { return r.flags == hipStreamNonBlocking; });
  return table;
}

nb::dict take_records() {
  hip_host::Records records;
  std::vector<StreamRecord> streams;
  {
    nb::gil_scoped_release release;
    records = hip_host::recorder_take();
    streams = hip_host::recorder_streams();
  }
  nb::dict tables;
  tables["api"] = api_table(records.api);
  tables["device"] = op_table(records.ops);
  tables["host_functions"] = op_table(records.host_functions);
  tables["ranges"] = range_table(records.ranges);
  tables["streams"] = stream_table(streams);
  tables["stacks"] = python_stacks();
  return tables;
}

void start_recording(bool stacks) {
  hip_host::recorder_set_stack_provider(stacks ? &current_python_stack : nullptr);
  hip_host::recorder_start();
}

}  // namespace

void add_recording(nb::module_& module) {
  module.def("start_recording", &start_recording, nb::kw_only(), nb::arg("stacks") = false,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("stop_recording", &hip_host::recorder_stop, nb::call_guard<nb::gil_scoped_release>());
  module.def("take_records", &take_records);
}

}  // namespace hip_host_binding
