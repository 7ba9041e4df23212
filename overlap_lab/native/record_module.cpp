#include "record_module.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "gzip_pieces.h"
#include "python_columns.h"
#include "record_file.h"
#include "record_parser.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

nb::tuple taken(CodedNumbers& column) {
  column.flush();
  return nb::make_tuple(taken(column.codes), taken(column.numbers));
}

nb::tuple taken(TextCodes& column) {
  return nb::make_tuple(taken(column.codes), decoded(column.texts, "surrogatepass"));
}

nb::dict table_columns(RecordTable& table) {
  nb::dict all;
  all["start_ns"] = taken(table.start);
  all["end_ns"] = taken(table.end);
  all["bytes"] = taken(table.bytes);
  all["correlation"] = taken(table.correlation);
  all["kind"] = taken(table.kind);
  all["operation"] = taken(table.operation);
  all["thread"] = taken(table.thread);
  all["kernel"] = taken(table.kernel);
  all["agent"] = taken(table.agent);
  all["queue"] = taken(table.queue);
  all["stream"] = taken(table.stream);
  all["source"] = taken(table.source);
  all["target"] = taken(table.target);
  all["graph"] = taken(table.graph);
  all["argument_row"] = taken(table.argument_row);
  all["argument_type"] = taken(table.argument_type);
  all["argument_name"] = taken(table.argument_name);
  all["argument_value"] = taken(table.argument_value);
  return all;
}

nb::tuple list_parts(RecordList& list) {
  nb::list parts;
  size_t size = 0;
  bool odd = false;
  for (const auto& part : list.parts) {
    size += part->size();
    odd |= part->odd;
    if (part->size() != 0) parts.append(table_columns(*part));
  }
  nb::str name = decoded(list.name, "surrogatepass");
  return nb::make_tuple(list.callback, name, size, odd, parts);
}

nb::tuple process_values(RecordProcess& process) {
  nb::list sections, lists, symbols;
  bool odd = false;
  for (const auto& [key, text] : process.sections) {
    sections.append(nb::make_tuple(decoded(key), nb::bytes(text.data(), text.size())));
  }
  for (RecordList& list : process.lists) lists.append(list_parts(list));
  for (const auto& part : process.symbols) {
    odd |= part->odd;
    symbols.append(nb::make_tuple(taken(part->ids), taken(part->names)));
  }
  return nb::make_tuple(sections, lists, symbols, odd);
}

nb::list processes(RecordDocument& document) {
  nb::list all;
  for (RecordProcess& process : document.processes) all.append(process_values(process));
  return all;
}

nb::object record_file(const nb::bytes& path, uint64_t begin, uint64_t part_size,
                       std::vector<std::string> names, std::vector<std::string> types) {
  const std::string file(path.c_str(), path.size());
  const WantedArguments wanted{std::move(names), std::move(types)};
  RecordDocument document;
  bool plain = false;
  {
    nb::gil_scoped_release released;
    plain = read_record_file(file, begin, part_size, wanted, document, ask_for_signals);
  }
  if (!plain) return nb::none();
  return processes(document);
}

bool feed_gzip(RecordParser& reader, int file, uint64_t begin) {
  nb::gil_scoped_release released;
  return read_gzip(file, begin, reader, ask_for_signals);
}

bool feed(RecordParser& parser, const nb::bytes& text, bool last) {
  nb::gil_scoped_release released;
  std::memcpy(parser.room(text.size()), text.c_str(), text.size());
  return parser.read(text.size(), last);
}

}  // namespace

void add_records(nb::module_& m) {
  m.def("read_record_file", &record_file, "path"_a, "begin"_a, "part_size"_a, "argument_names"_a,
        "argument_types"_a);
  nb::class_<RecordParser>(m, "RecordParser")
      .def(
          "__init__",
          [](RecordParser* into, std::vector<std::string> names, std::vector<std::string> types,
             Path path) { new (into) RecordParser({std::move(names), std::move(types)}, path); },
          "argument_names"_a, "argument_types"_a, "path"_a = fastest_path())
      .def("read", &feed, "text"_a, "last"_a)
      .def("read_gzip", &feed_gzip, "file"_a, "begin"_a)
      .def("processes", [](RecordParser& parser) { return processes(parser.document); });
}

}  // namespace overlap_native
