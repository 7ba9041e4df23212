// A rocprofv3 JSON file into a document, several parts of its records at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "record_document.h"

namespace overlap_native {

/// Reads the file from `begin` on, in parts of about `part_size` bytes, on as many threads as there
/// are cores. False where Python must judge, or the file cannot be read. `interrupted` is asked now
/// and then and may throw.
bool read_record_file(const std::string& path, uint64_t begin, uint64_t part_size,
                      const WantedArguments& wanted, RecordDocument& found,
                      const std::function<void()>& interrupted);

}  // namespace overlap_native
