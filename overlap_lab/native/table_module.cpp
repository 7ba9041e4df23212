#include "table_module.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python_columns.h"
#include "sqlite_columns.h"
#include "sqlite_library.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

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

}  // namespace

void add_tables(nb::module_& m) {
  nb::enum_<Cell>(m, "Cell")
      .value("INTEGER", Cell::integer)
      .value("CAST", Cell::cast)
      .value("TEXT", Cell::text);
  m.def("read_columns", &columns_of_query, "uri"_a, "sql"_a, "cells"_a,
        "parameters"_a = std::vector<std::string>());
  m.def("sqlite_version", &sqlite_version);
}

}  // namespace overlap_native
