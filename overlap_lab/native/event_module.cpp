#include "event_module.h"

#include <string>
#include <string_view>

#include "array_arguments.h"
#include "event_parser.h"
#include "event_parts.h"
#include "gzip_text.h"
#include "long_members.h"
#include "threads.h"

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

PartSize part_size(size_t part, size_t threads) {
  return {part == 0 ? PartSize().bytes : part, threads == 0 ? thread_count() : threads};
}

uint64_t read_file(EventParser& parser, int file, uint64_t begin, size_t part, size_t threads) {
  nb::gil_scoped_release released;
  FileText text(file);
  return parse_parts(text, begin, part_size(part, threads), parser, ask_for_signals);
}

nb::object read_gzip(EventParser& parser, int file, uint64_t begin, size_t part, size_t threads) {
  std::string rest;
  uint64_t used = 0;
  bool sound = false;
  {
    nb::gil_scoped_release released;
    GzipText text(file);
    used = parse_parts(text, begin, part_size(part, threads), parser, ask_for_signals);
    sound = read_rest(text, begin + used, rest, ask_for_signals);
  }
  if (!sound) return nb::none();
  return nb::make_tuple(used, nb::bytes(rest.data(), rest.size()));
}

bool accept(EventParser& parser, const nb::bytes& event) {
  return parser.accept({event.c_str(), event.size()});
}

nb::object long_values(nb::handle text, size_t least) {
  const Lent lent(text);
  if (lent.size() < kMembersMargin) throw nb::value_error("the text has no margin behind it");
  LongMembers found;
  bool whole = false;
  {
    nb::gil_scoped_release released;
    const size_t size = lent.size() - kMembersMargin;
    const Task search = [&](const Stop& stop) {
      whole = long_members(lent.data(), size, least, fastest_path(), found, stop);
    };
    run_tasks({search}, ask_for_signals);
  }
  if (!whole) return nb::none();
  nb::list values;
  for (const LongMembers::Span& span : found.values) {
    values.append(nb::make_tuple(span.begin, span.end, span.repaired));
  }
  return values;
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
      "phase",       "category",    "name",      "process", "thread",      "start",
      "duration",    "correlation", "device",    "stream",  "bytes",       "size",
      "kind",        "graph",       "hsa_queue", "queue",   "wait_stream", "wait_correlation",
      "call_stream", "call_device"};
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

}  // namespace

void add_parser(nb::module_& m) {
  nb::enum_<State>(m, "State")
      .value("READING", State::reading)
      .value("STOPPED", State::stopped)
      .value("CLOSED", State::closed)
      .value("NOT_UTF8", State::not_utf8);
  m.def("long_members", &long_values, "text"_a, nb::kw_only(), "least"_a);
  nb::class_<EventParser>(m, "EventParser")
      .def(nb::init<Path>(), "path"_a = fastest_path())
      .def("parse", &parse, "text"_a, "last"_a)
      .def("parse_file", &read_file, "file"_a, "begin"_a, nb::kw_only(), "part"_a = 0,
           "threads"_a = 0)
      .def("parse_gzip", &read_gzip, "file"_a, "begin"_a, nb::kw_only(), "part"_a = 0,
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
      .def_rw("any_commas", &EventParser::any_commas)
      .def_rw("count_replaced", &EventParser::count_replaced)
      .def_ro("events", &EventParser::events)
      .def_ro("repaired", &EventParser::repaired)
      .def_ro("replaced", &EventParser::replaced)
      .def_ro("odd_commas", &EventParser::odd_commas)
      .def_ro("skipped", &EventParser::skipped)
      .def_ro("longest", &EventParser::longest)
      .def_ro("long_events", &EventParser::long_events)
      .def_prop_ro("parts",
                   [](const EventParser& p) {
                     return nb::make_tuple(p.parts.count, p.parts.longest, p.parts.again);
                   })
      .def_prop_ro("hip_calls", [](const EventParser& p) { return p.table.hip_calls; })
      .def_prop_ro("cuda_calls", [](const EventParser& p) { return p.table.cuda_calls; })
      .def_prop_ro("any_start", [](const EventParser& p) { return p.table.any_start; })
      .def_prop_ro("whole_thousands",
                   [](const EventParser& p) { return p.table.any_time && p.table.whole_thousands; })
      .def_prop_ro("odd_letters", [](const EventParser& p) { return p.table.odd_letters; });
}

}  // namespace overlap_native
