// Records of rocprofv3's JSON as columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coded_numbers.h"
#include "column.h"
#include "interned.h"
#include "record_reader.h"
#include "text_codes.h"

namespace overlap_native {

/// What a number that is not there is in a column; `ABSENT` in Python.
constexpr int64_t kNoNumber = INT64_MIN;

/// The arguments of calls that are kept, by name or by type.
struct WantedArguments {
  std::vector<std::string> names;
  std::vector<std::string> types;
};

struct RecordTable {
  /// Adds a record; `odd` is set where Python must judge some value of it.
  void add(const Record& record, const RecordReader& reader, const WantedArguments& wanted);

  size_t size() const { return start.size(); }

  Column<int64_t> start, end, bytes;
  Column<uint64_t> correlation;  // 0 where there is none
  CodedNumbers kind, operation, thread, kernel, agent, queue, stream, source, target, graph;
  Column<uint32_t> argument_row;
  TextCodes argument_type, argument_name, argument_value;
  bool odd = false;

 private:
  int64_t number(const Record& record, RecordKey key);
  uint64_t id(const Record& record);
  void add_argument(const Argument& argument, const RecordReader& reader,
                    const WantedArguments& wanted);
};

struct SymbolTable {
  void add(const Symbol& symbol, const RecordReader& reader);

  Column<int64_t> ids;
  TextCodes names;  // no text where there is none
  bool odd = false;

 private:
  std::string room_;
};

}  // namespace overlap_native
