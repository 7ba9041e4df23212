#include "csv_module.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "csv_file.h"
#include "csv_index.h"
#include "csv_reader.h"
#include "csv_records.h"
#include "gzip_pieces.h"
#include "python_columns.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

nb::tuple csv_header(const nb::bytes& text) {
  CsvRecords records({text.c_str(), text.size()});
  records.next();
  nb::list names;
  for (const std::string_view field : records.fields) names.append(decoded(field));
  return nb::make_tuple(names, records.offset(), records.closed());
}

/// The index of a whole text: separators without the first entry, places of the line ends among
/// them, whether it is odd, whether it is clean.
nb::tuple csv_index(const nb::bytes& text, Path path) {
  if (!path_supported(path)) throw std::invalid_argument("csv_index: not on this machine");
  CsvIndex found;
  index_csv(text.c_str(), text.size(), /*last=*/true, path, found);
  nb::list separators;
  for (size_t i = 1; i < found.separators.size(); ++i) separators.append(found.separators[i]);
  return nb::make_tuple(separators, taken(found.lines), found.odd, found.doubled, found.clean);
}

nb::object csv_column(CsvColumn& column) {
  if (column.field == Field::skipped) return nb::none();
  nb::tuple texts = nb::make_tuple(taken(column.codes), decoded(column.texts));
  if (column.field == Field::text) return texts;
  nb::object numbers = column.field == Field::time ? taken(column.times) : taken(column.numbers);
  return nb::make_tuple(numbers, taken(column.odd_rows), texts);
}

nb::object csv_part(CsvReader& reader) {
  nb::list all;
  for (CsvColumn& column : reader.columns) all.append(csv_column(column));
  return nb::make_tuple(all, reader.rows.seen, reader.rows.kept, reader.rows.last_kept);
}

bool feed_gzip(CsvReader& reader, int file, uint64_t begin) {
  nb::gil_scoped_release released;
  return read_gzip(file, begin, reader, ask_for_signals);
}

bool feed_csv(CsvReader& reader, const nb::bytes& text, bool last) {
  nb::gil_scoped_release released;
  std::memcpy(reader.room(text.size()), text.c_str(), text.size());
  return reader.read(text.size(), last);
}

using CsvRequest = std::tuple<nb::bytes, uint64_t, std::vector<Field>>;

nb::list csv_files(const std::vector<CsvRequest>& requests, uint64_t part_size) {
  std::vector<CsvFile> files;
  for (const auto& [path, begin, fields] : requests) {
    files.push_back({std::string(path.c_str(), path.size()), begin, fields, {}, false});
  }
  {
    nb::gil_scoped_release released;
    read_csv_files(files, part_size, ask_for_signals);
  }
  nb::list all;
  for (CsvFile& file : files) {
    nb::list parts;
    for (const auto& part : file.parts) parts.append(csv_part(*part));
    all.append(nb::make_tuple(parts, file.ends_line));
  }
  return all;
}

}  // namespace

void add_csv(nb::module_& m) {
  nb::enum_<Field>(m, "Field")
      .value("SKIPPED", Field::skipped)
      .value("INTEGER", Field::integer)
      .value("TIME", Field::time)
      .value("TEXT", Field::text);
  m.def("csv_header", &csv_header, "text"_a);
  m.def("csv_index", &csv_index, "text"_a, "path"_a);
  m.def("read_csv_files", &csv_files, "files"_a, "part_size"_a);
  nb::class_<CsvReader>(m, "CsvReader")
      .def(nb::init<const std::vector<Field>&, Path>(), "fields"_a, "path"_a = fastest_path())
      .def("read", &feed_csv, "text"_a, "last"_a)
      .def("read_gzip", &feed_gzip, "file"_a, "begin"_a)
      .def_prop_ro("ends_line", &CsvReader::ends_line)
      .def("part", &csv_part);
}

}  // namespace overlap_native
