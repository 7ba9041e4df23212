// Graphs: the nodes of a capture, launched any number of times.
#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;

namespace {

/// Takes the entry out of a registry and hands it back, so that it dies without the mutex.
template <class Registry>
hipError_t take_out(Registry& registry, typename Registry::key_type handle,
                    typename Registry::mapped_type* taken) {
  Guard guard(runtime().mutex);
  RuntimeLockScope lock(guard);
  const auto found = registry.find(handle);
  if (found == registry.end()) return hipErrorInvalidValue;
  *taken = std::move(found->second);
  registry.erase(found);
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph) {
  if (exec == nullptr) return hipErrorInvalidValue;
  Runtime& self = runtime();
  Guard guard(self.mutex);
  const auto found = self.graphs.find(graph);
  if (found == self.graphs.end()) return hipErrorInvalidValue;
  *exec = self.new_handle<hipGraphExec_t>();
  self.execs[*exec].nodes = found->second;
  return hipSuccess;
}

Nodes nodes_of(hipGraphExec_t exec) {
  Guard guard(runtime().mutex);
  const auto found = runtime().execs.find(exec);
  return found == runtime().execs.end() ? nullptr : found->second.nodes;
}

void label(Operation& op, hipGraphExec_t exec) {
  const ApiCall& call = *ApiCall::current();
  op.record.correlation_id = call.record.correlation_id;
  op.record.thread_id = call.record.thread_id;
  op.record.graph_exec = reinterpret_cast<uintptr_t>(exec);
  op.session = call.session;
}

hipError_t launch(hipGraphExec_t handle, hipStream_t stream_handle) {
  Runtime& self = runtime();
  const Nodes nodes = nodes_of(handle);
  if (!nodes) return hipErrorInvalidValue;
  // Each launch runs its own copies of the bodies: a replay starts from what was captured. Copied
  // without the mutex, because copying runs the caller's code.
  std::vector<Operation> ops = *nodes;
  Guard guard(self.mutex);
  const auto stream = find_stream(stream_handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->capture) return refuse_stream_wait(*stream);  // child graphs: not supported
  if (const hipError_t refused = refuse_null_stream(*stream)) return refused;
  const auto exec = self.execs.find(handle);
  if (exec == self.execs.end()) return hipErrorInvalidValue;
  if (!ops.empty() && exec->second.last_launch.stream) {
    ops.front().dependencies.push_back(exec->second.last_launch);
  }
  for (Operation& op : ops) {
    label(op, handle);
    exec->second.last_launch = enqueue(stream, std::move(op));
  }
  return hipSuccess;
}

}  // namespace

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node,
                               char* log_buffer, size_t buffer_bytes) {
  ApiCall call("hipGraphInstantiate");
  if (error_node != nullptr) *error_node = nullptr;
  if (log_buffer != nullptr && buffer_bytes > 0) *log_buffer = '\0';
  return call.finish(instantiate(exec, graph));
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  ApiCall call("hipGraphLaunch");
  return call.stream(stream).finish(launch(exec, stream));
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  ApiCall call("hipGraphExecDestroy");
  GraphExec taken;
  return call.finish(take_out(runtime().execs, exec, &taken));
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  ApiCall call("hipGraphDestroy");
  Nodes taken;
  return call.finish(take_out(runtime().graphs, graph, &taken));
}
