// CSV files into columns, several parts of them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "csv_reader.h"

namespace overlap_native {

struct CsvFile {
  std::string path;
  uint64_t begin = 0;  // of the records
  std::vector<Field> fields;

  // Found:
  /// The parts in order; none where Python must judge, or the file cannot be read.
  std::vector<std::unique_ptr<CsvReader>> parts;
  bool ends_line = false;  // whether the last byte is a line end
};

/// Reads all files, in parts of about `part_size` bytes, on as many threads as there are cores.
/// `interrupted` is asked now and then and may throw.
void read_csv_files(std::vector<CsvFile>& files, uint64_t part_size,
                    const std::function<void()>& interrupted);

}  // namespace overlap_native
