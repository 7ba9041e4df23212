#include "sqlite_module.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python_columns.h"
#include "sqlite_columns.h"
#include "sqlite_library.h"
#include "sqlite_table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

/// The texts, and the bytes of those that are not UTF-8.
std::pair<nb::list, nb::list> decoded_strictly(const Interned& from) {
  nb::list all, faulty;
  for (size_t code = 0; code < from.size(); ++code) {
    const std::string_view text = from[code];
    const auto size = static_cast<Py_ssize_t>(text.size());
    PyObject* found = PyUnicode_DecodeUTF8(text.data(), size, "strict");
    if (found != nullptr) {
      all.append(nb::steal<nb::str>(found));
    } else {
      PyErr_Clear();
      all.append(decoded(text));
      faulty.append(nb::bytes(text.data(), text.size()));
    }
  }
  return {all, faulty};
}

nb::object sql_columns(bool complete, std::vector<SqlColumn>& columns) {
  if (!complete) return nb::none();
  nb::list all;
  for (SqlColumn& column : columns) {
    if (column.cell == Cell::text) {
      const auto [texts, faulty] = decoded_strictly(column.texts.texts);
      all.append(nb::make_tuple(taken(column.texts.codes), texts, faulty));
    } else if (column.cell == Cell::coded) {
      all.append(nb::make_tuple(taken(column.texts.codes), taken(column.few.values)));
    } else {
      all.append(taken(column.numbers));
    }
  }
  return all;
}

using Place = std::pair<int, bool>;
using Conditions = std::vector<std::vector<std::pair<Place, std::vector<std::string>>>>;

nb::object columns_of_query(std::string uri, std::string sql, const std::vector<Cell>& cells,
                            std::vector<std::string> parameters) {
  std::vector<SqlColumn> columns;
  for (const Cell cell : cells) columns.push_back({cell, {}, {}, {}});
  bool complete = false;
  {
    nb::gil_scoped_release released;
    complete = read_columns({std::move(uri), std::move(sql), std::move(parameters)}, columns,
                            ask_for_signals);
  }
  return sql_columns(complete, columns);
}

/// Columns are a place in a record (kRowid: the row's number) and whether older rows have a
/// default.
nb::object columns_of_table(const nb::bytes& path, uint32_t root, const std::vector<Place>& stored,
                            const std::vector<Cell>& cells, const Conditions& conditions) {
  if (stored.size() != cells.size()) throw std::invalid_argument("read_table: a cell per column");
  TableQuestion question{{path.c_str(), path.size()}, root, {}, {}};
  for (const auto& [place, has_default] : stored) question.columns.push_back({place, has_default});
  for (const auto& any : conditions) {
    question.all_of_any.emplace_back();
    for (const auto& [place, texts] : any) {
      question.all_of_any.back().push_back({{place.first, place.second}, texts});
    }
  }
  std::vector<SqlColumn> columns;
  for (const Cell cell : cells) columns.push_back({cell, {}, {}, {}});
  bool complete = false;
  {
    nb::gil_scoped_release released;
    complete = read_table(question, columns, ask_for_signals);
  }
  return sql_columns(complete, columns);
}

nb::object sqlite_version() {
  const SqliteLibrary* library = sqlite_library();
  if (library == nullptr) return nb::none();
  return nb::str(library->libversion());
}

}  // namespace

void add_sqlite(nb::module_& m) {
  nb::enum_<Cell>(m, "Cell")
      .value("INTEGER", Cell::integer)
      .value("CAST", Cell::cast)
      .value("TEXT", Cell::text)
      .value("CODED", Cell::coded);
  m.def("read_columns", &columns_of_query, "uri"_a, "sql"_a, "cells"_a,
        "parameters"_a = std::vector<std::string>());
  m.def("read_table", &columns_of_table, "path"_a, "root"_a, "stored"_a, "cells"_a,
        "conditions"_a = Conditions());
  m.def("sqlite_version", &sqlite_version);
}

}  // namespace overlap_native
