// Records as numpy columns.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

namespace hip_host_binding {

namespace nb = nanobind;

/// One array of `field(record)` for each record; the array owns its memory.
template <class Value, class Record, class Field>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> column(const std::vector<Record>& records, Field field) {
  auto owned = std::make_unique<Value[]>(records.size());
  for (size_t i = 0; i < records.size(); ++i) owned[i] = static_cast<Value>(field(records[i]));
  Value* values = owned.release();
  nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<Value*>(memory); });
  return {values, {records.size()}, owner};
}

template <class Record, class Field>
nb::list text_column(const std::vector<Record>& records, Field field) {
  nb::list texts;
  for (const Record& record : records) texts.append(nb::str(field(record)));
  return texts;
}

}  // namespace hip_host_binding
