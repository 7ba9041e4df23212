#include "record_keys.h"

namespace overlap_native {

namespace {

struct Named {
  RecordPlace place;
  std::string_view name;
  RecordKey key;
};

constexpr Named kNamed[] = {
    {RecordPlace::record, "kind", RecordKey::kind},
    {RecordPlace::record, "operation", RecordKey::operation},
    {RecordPlace::record, "thread_id", RecordKey::thread},
    {RecordPlace::record, "start_timestamp", RecordKey::start},
    {RecordPlace::record, "end_timestamp", RecordKey::end},
    {RecordPlace::record, "stream_id", RecordKey::stream},
    {RecordPlace::record, "src_agent_id", RecordKey::source},
    {RecordPlace::record, "dst_agent_id", RecordKey::target},
    {RecordPlace::record, "bytes", RecordKey::bytes},
    {RecordPlace::record, "graph_exec_id", RecordKey::graph},
    {RecordPlace::record, "correlation_id", RecordKey::correlation_id},
    {RecordPlace::record, "dispatch_info", RecordKey::dispatch_info},
    {RecordPlace::record, "args", RecordKey::arguments},
    {RecordPlace::correlation_id, "internal", RecordKey::correlation},
    {RecordPlace::dispatch_info, "agent_id", RecordKey::agent},
    {RecordPlace::dispatch_info, "queue_id", RecordKey::queue},
    {RecordPlace::dispatch_info, "kernel_id", RecordKey::kernel},
    {RecordPlace::handle, "handle", RecordKey::handle},
    {RecordPlace::argument, "type", RecordKey::argument_type},
    {RecordPlace::argument, "name", RecordKey::argument_name},
    {RecordPlace::argument, "value", RecordKey::argument_value},
    {RecordPlace::symbol, "kernel_id", RecordKey::kernel},
    {RecordPlace::symbol, "formatted_kernel_name", RecordKey::formatted_name},
    {RecordPlace::symbol, "demangled_kernel_name", RecordKey::demangled_name},
    {RecordPlace::symbol, "kernel_name", RecordKey::symbol_name},
};

}  // namespace

KeyCode record_key(PlaceCode place, std::string_view key) {
  for (const Named& named : kNamed) {
    if (static_cast<PlaceCode>(named.place) == place && named.name == key) {
      return static_cast<KeyCode>(named.key);
    }
  }
  return kOtherKey;
}

}  // namespace overlap_native
