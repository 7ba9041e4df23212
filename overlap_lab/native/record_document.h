// What a rocprofv3 JSON file holds: per process its sections as text, its records as columns.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record_table.h"

namespace overlap_native {

struct RecordList {
  bool callback = false;  // of the section of callback records
  std::string name;
  std::vector<std::unique_ptr<RecordTable>> parts;
};

struct RecordProcess {
  std::vector<std::pair<std::string, std::string>> sections;  // key and JSON text
  std::vector<RecordList> lists;
  std::vector<std::unique_ptr<SymbolTable>> symbols;
};

struct RecordDocument {
  std::vector<RecordProcess> processes;

  /// Add what follows: a document whose first list is the rest of the last one here.
  void append(RecordDocument&& rest);
};

}  // namespace overlap_native
