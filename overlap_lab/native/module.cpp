// Python's door to the readers: text in, columns out. No Python object is made for an event, and
// the interpreter lock is free while text is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "array_module.h"
#include "block_module.h"
#include "csv_module.h"
#include "event_parser.h"
#include "event_parts.h"
#include "gather_module.h"
#include "interrupts.h"
#include "nesting.h"
#include "numbers.h"
#include "progress.h"
#include "record_module.h"
#include "sqlite_module.h"
#include "threads.h"
#include "utf8.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

/// Read-only bytes of any object that lends them, for as long as this lives.
class Lent {
 public:
  explicit Lent(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { PyBuffer_Release(&view_); }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
};

template <class Value>
using Array = nb::ndarray<nb::numpy, Value, nb::ndim<1>>;

/// The column's own memory as an array.
template <class Value>
Array<Value> taken(Column<Value>& column) {
  if (column.data() == nullptr) column.reserve(1);  // an array of nothing still wants an address
  const size_t size = column.size();
  Value* values = column.release();
  return {values, {size}, nb::capsule(values, [](void* memory) noexcept { std::free(memory); })};
}

template <class Value>
nb::tuple taken(Sparse<Value>& sparse) {
  return nb::make_tuple(taken(sparse.row), taken(sparse.value));
}

nb::str decoded(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

nb::list texts(const Interned& from) {
  nb::list all;
  for (size_t code = 0; code < from.size(); ++code) all.append(decoded(from[code]));
  return all;
}

size_t parse(EventParser& parser, nb::handle text, bool last) {
  const Lent lent(text);
  nb::gil_scoped_release released;
  return parser.parse(lent.data(), lent.size(), last);
}

void ask_for_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

uint64_t read_file(EventParser& parser, int file, uint64_t begin, size_t part, size_t threads) {
  const PartSize size{part == 0 ? PartSize().bytes : part, threads == 0 ? thread_count() : threads};
  nb::gil_scoped_release released;
  return parse_file({file, begin}, size, parser, ask_for_signals);
}

bool accept(EventParser& parser, const nb::bytes& event) {
  return parser.accept({event.c_str(), event.size()});
}

nb::dict columns(EventParser& parser) {
  EventTable& table = parser.table;
  nb::dict all;
  all["kind"] = taken(table.kind);
  all["name"] = taken(table.name);
  all["start_ns"] = taken(table.start_ns);
  all["length_ns"] = taken(table.length_ns);
  all["process"] = taken(table.process);
  all["thread"] = taken(table.thread);
  all["correlation"] = taken(table.correlation);
  all["begins"] = taken(table.begins);
  all["ends"] = taken(table.ends);
  return all;
}

nb::dict sparse_columns(EventParser& parser) {
  EventTable& table = parser.table;
  nb::dict all;
  all["device"] = taken(table.device);
  all["stream"] = taken(table.stream);
  all["wait_stream"] = taken(table.wait_stream);
  all["bytes"] = taken(table.bytes);
  all["graph"] = taken(table.graph);
  all["queue"] = taken(table.queue);
  all["wait_correlation"] = taken(table.wait_correlation);
  all["copy_kind"] = taken(table.copy_kind);
  return all;
}

nb::dict odd_values(EventParser& parser) {
  constexpr const char* kNames[kKeys] = {
      "phase",    "category",    "name",      "process", "thread",      "start",
      "duration", "correlation", "device",    "stream",  "bytes",       "size",
      "kind",     "graph",       "hsa_queue", "queue",   "wait_stream", "wait_correlation"};
  nb::dict all;
  for (size_t key = 0; key < kKeys; ++key) {
    Sparse<uint32_t>& odd = parser.table.odd[key];
    if (odd.row.size() != 0) all[kNames[key]] = taken(odd);
  }
  return all;
}

nb::bytes process_names(const EventParser& parser) {
  const Column<char>& text = parser.table.process_names;
  return nb::bytes(text.data(), text.size());
}

Structure scanned(const nb::bytes& text, Path path) {
  if (!path_supported(path)) throw std::invalid_argument("scan: not on this machine");
  Structure found;
  scan(text.c_str(), text.size(), /*last=*/true, path, found);
  return found;
}

/// What the scan finds: offsets of quotes (the end marks left out) and of faults, any backslash,
/// UTF-8.
nb::tuple scan_text(const nb::bytes& text, Path path) {
  Structure found = scanned(text, path);
  while (found.quotes.size() != 0 && found.quotes[found.quotes.size() - 1] == text.size()) {
    found.quotes.set_size(found.quotes.size() - 1);
  }
  return nb::make_tuple(taken(found.quotes), taken(found.faults), found.escapes, found.utf8);
}

nb::object nanoseconds(std::string_view text) {
  int64_t value = 0;
  if (!nanoseconds_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::object integer(std::string_view text) {
  int64_t value = 0;
  if (!integer_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::object unsigned_integer(std::string_view text) {
  uint64_t value = 0;
  if (!unsigned_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::str unescaped(std::string_view text) {
  std::string found;
  append_unescaped(found, text.data(), text.data() + text.size());
  return decoded(found);
}

template <class Value>
using In = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Array<int32_t> depths(In<uint8_t> kind, In<int32_t> process, In<int64_t> thread,
                      In<int64_t> start_ns, In<int64_t> end_ns, uint32_t kinds) {
  const size_t size = kind.size();
  if (process.size() != size || thread.size() != size || start_ns.size() != size ||
      end_ns.size() != size) {
    throw std::invalid_argument("nesting_depth: columns differ in length");
  }
  Column<int32_t> depth;
  depth.reserve(size + 1);
  depth.set_size(size);
  {
    nb::gil_scoped_release released;
    nesting_depth(
        {kind.data(), process.data(), thread.data(), start_ns.data(), end_ns.data(), size}, kinds,
        depth.data());
  }
  return taken(depth);
}

void add_parser(nb::module_& m) {
  nb::enum_<State>(m, "State")
      .value("READING", State::reading)
      .value("STOPPED", State::stopped)
      .value("CLOSED", State::closed)
      .value("NOT_UTF8", State::not_utf8);
  nb::class_<EventParser>(m, "EventParser")
      .def(nb::init<Path>(), "path"_a = fastest_path())
      .def("parse", &parse, "text"_a, "last"_a)
      .def("parse_file", &read_file, "file"_a, "begin"_a, nb::kw_only(), "part"_a = 0,
           "threads"_a = 0)
      .def("accept", &accept, "event"_a)
      .def("resume", &EventParser::resume)
      .def("columns", &columns)
      .def("sparse_columns", &sparse_columns)
      .def("odd", &odd_values)
      .def("names", [](const EventParser& p) { return texts(p.table.names); })
      .def("tokens", [](const EventParser& p) { return texts(p.table.tokens); })
      .def("categories", [](const EventParser& p) { return texts(p.table.categories); })
      .def("category_counts", [](EventParser& p) { return taken(p.table.category_counts); })
      .def("process_names", &process_names)
      .def_prop_ro("state", &EventParser::state)
      .def_rw("lenient", &EventParser::lenient)
      .def_rw("count_replaced", &EventParser::count_replaced)
      .def_ro("events", &EventParser::events)
      .def_ro("repaired", &EventParser::repaired)
      .def_ro("replaced", &EventParser::replaced)
      .def_ro("skipped", &EventParser::skipped)
      .def_ro("longest", &EventParser::longest)
      .def_ro("long_events", &EventParser::long_events)
      .def_prop_ro("hip_calls", [](const EventParser& p) { return p.table.hip_calls; })
      .def_prop_ro("cuda_calls", [](const EventParser& p) { return p.table.cuda_calls; })
      .def_prop_ro("any_start", [](const EventParser& p) { return p.table.any_start; })
      .def_prop_ro("whole_thousands",
                   [](const EventParser& p) { return p.table.any_time && p.table.whole_thousands; })
      .def_prop_ro("odd_letters", [](const EventParser& p) { return p.table.odd_letters; });
}

void add_parts(nb::module_& m) {
  nb::enum_<Path>(m, "Path")
      .value("SCALAR", Path::scalar)
      .value("AVX2", Path::avx2)
      .value("AVX512", Path::avx512);
  m.def("path_supported", &path_supported, "path"_a);
  m.def("fastest_path", &fastest_path);
  m.def("scan", &scan_text, "text"_a, "path"_a);
  m.def("thread_count", &thread_count);
  m.def("nanoseconds", &nanoseconds, "text"_a);
  m.def("integer", &integer, "text"_a);
  m.def("unsigned_integer", &unsigned_integer, "text"_a);
  m.def("unescaped", &unescaped, "text"_a);
  m.def("nesting_depth", &depths, "kind"_a, "process"_a, "thread"_a, "start_ns"_a, "end_ns"_a,
        nb::kw_only(), "kinds"_a);
  m.def("end_after_interrupt", &end_after_interrupt, "pipe"_a, "message"_a);
  m.def("claim_message", &claim_message);
  m.def("hold_end", &hold_end);
  m.def("release_end", &release_end);
  m.def("count_read", [](uint64_t size) { progress().add_bytes(size); }, "size"_a);
  m.def("read_so_far", [] {
    return nb::make_tuple(progress().bytes.load(std::memory_order_relaxed),
                          progress().rows.load(std::memory_order_relaxed));
  });
}

}  // namespace

}  // namespace overlap_native

NB_MODULE(_native, m) {
  m.doc() = "The readers' core: text in, columns out. See _native.pyi.";
  nb::list offered;
  for (const char* name :
       {"EventParser", "Path", "State", "fastest_path", "integer", "nanoseconds", "nesting_depth",
        "path_supported", "scan", "thread_count", "unescaped", "unsigned_integer"}) {
    offered.append(name);
  }
  m.attr("__all__") = offered;
  overlap_native::add_parts(m);
  overlap_native::add_parser(m);
  overlap_native::add_sqlite(m);
  overlap_native::add_blocks(m);
  overlap_native::add_arrays(m);
  overlap_native::add_csv(m);
  overlap_native::add_gathers(m);
  overlap_native::add_records(m);
}
