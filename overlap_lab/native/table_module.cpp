#include "table_module.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "csv_columns.h"
#include "sqlite_columns.h"
#include "sqlite_library.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

template <class Value>
nb::object taken(Column<Value>& column) {
  if (column.data() == nullptr) column.reserve(1);  // an array of nothing still wants an address
  const size_t size = column.size();
  column.reserve(size == 0 ? 1 : size);
  Value* values = column.release();
  nb::capsule owner(values, [](void* memory) noexcept { std::free(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {size}, owner));
}

nb::str decoded(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), size, "replace"));
}

nb::list decoded(const Interned& texts) {
  nb::list all;
  for (size_t code = 0; code < texts.size(); ++code) all.append(decoded(texts[code]));
  return all;
}

void ask_for_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::object columns_of_query(std::string uri, std::string sql, const std::vector<Cell>& cells,
                            std::vector<std::string> parameters) {
  std::vector<SqlColumn> columns;
  for (const Cell cell : cells) columns.push_back({cell, {}, {}});
  bool complete = false;
  {
    nb::gil_scoped_release released;
    complete = read_columns({std::move(uri), std::move(sql), std::move(parameters)}, columns,
                            ask_for_signals);
  }
  if (!complete) return nb::none();
  nb::list all;
  for (SqlColumn& column : columns) {
    if (column.cell == Cell::text) {
      all.append(nb::make_tuple(taken(column.texts.codes), decoded(column.texts.texts)));
    } else {
      all.append(taken(column.numbers));
    }
  }
  return all;
}

nb::object sqlite_version() {
  const SqliteLibrary* library = sqlite_library();
  if (library == nullptr) return nb::none();
  return nb::str(library->libversion());
}

nb::tuple csv_header(const nb::bytes& text) {
  CsvRecords records({text.c_str(), text.size()});
  records.next();
  nb::list names;
  for (const std::string_view field : records.fields) names.append(decoded(field));
  return nb::make_tuple(names, records.offset());
}

nb::object csv_column(CsvColumn& column) {
  if (column.field == Field::skipped) return nb::none();
  nb::tuple texts = nb::make_tuple(taken(column.texts.codes), decoded(column.texts.texts));
  if (column.field == Field::text) return std::move(texts);
  return nb::make_tuple(taken(column.numbers), taken(column.odd_rows), texts);
}

nb::object csv_columns(const nb::bytes& text, size_t offset, const std::vector<Field>& fields) {
  if (offset > text.size()) throw std::invalid_argument("read_csv: offset is past the text");
  std::vector<CsvColumn> columns;
  for (const Field field : fields) columns.push_back({field, {}, {}, {}});
  CsvRows rows;
  bool complete = false;
  {
    nb::gil_scoped_release released;
    complete =
        read_csv({text.c_str() + offset, text.size() - offset}, columns, rows, ask_for_signals);
  }
  if (!complete) return nb::none();
  nb::list all;
  for (CsvColumn& column : columns) all.append(csv_column(column));
  return nb::make_tuple(all, rows.seen, rows.kept, rows.last_kept);
}

}  // namespace

void add_tables(nb::module_& m) {
  nb::enum_<Cell>(m, "Cell")
      .value("INTEGER", Cell::integer)
      .value("CAST", Cell::cast)
      .value("TEXT", Cell::text);
  m.def("read_columns", &columns_of_query, "uri"_a, "sql"_a, "cells"_a,
        "parameters"_a = std::vector<std::string>());
  nb::enum_<Field>(m, "Field")
      .value("SKIPPED", Field::skipped)
      .value("INTEGER", Field::integer)
      .value("TIME", Field::time)
      .value("TEXT", Field::text);
  m.def("csv_header", &csv_header, "text"_a);
  m.def("read_csv", &csv_columns, "text"_a, "offset"_a, "fields"_a);
  m.def("sqlite_version", &sqlite_version);
}

}  // namespace overlap_native
