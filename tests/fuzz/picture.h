// Everything a parser has read, as one text that can be compared.
#pragma once

#include <string>

#include "event_parser.h"

namespace fuzz {

class Picture {
 public:
  explicit Picture(const overlap_native::EventParser& parser) {
    counts(parser);
    table(parser.table);
  }
  bool operator==(const Picture& other) const { return text_ == other.text_; }
  bool operator!=(const Picture& other) const { return text_ != other.text_; }

 private:
  template <class Value>
  void add(const overlap_native::Column<Value>& column) {
    add(static_cast<uint64_t>(column.size()));
    if (column.size() == 0) return;
    text_.append(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(Value));
  }
  template <class Value>
  void add(const overlap_native::Sparse<Value>& column) {
    add(column.row);
    add(column.value);
  }
  void add(const overlap_native::Interned& texts) {
    add(static_cast<uint64_t>(texts.size()));
    for (size_t code = 0; code < texts.size(); ++code) text_.append(texts[code]) += '\0';
  }
  void add(uint64_t number) { text_.append(std::to_string(number)) += '\0'; }

  void counts(const overlap_native::EventParser& parser) {
    for (const uint64_t count : {parser.events, parser.repaired, parser.replaced, parser.odd_commas,
                                 parser.skipped, parser.longest, parser.long_events}) {
      add(count);
    }
    add(static_cast<uint64_t>(parser.state()));
  }
  void table(const overlap_native::EventTable& table) {
    add(table.kind);
    add(table.name);
    for (const auto* column : {&table.start_ns, &table.length_ns, &table.process, &table.thread}) {
      add(*column);
    }
    add(table.correlation);
    for (const auto* column : {&table.device, &table.stream, &table.wait_stream, &table.bytes,
                               &table.graph, &table.queue}) {
      add(*column);
    }
    add(table.wait_correlation);
    add(table.copy_kind);
    for (const auto& odd : table.odd) add(odd);
    add(table.begins);
    add(table.ends);
    for (const auto* texts : {&table.names, &table.tokens, &table.categories}) add(*texts);
    add(table.category_counts);
    add(table.process_names);
    for (const bool flag : {table.hip_calls, table.cuda_calls, table.any_start, table.any_time,
                            table.whole_thousands, table.odd_letters}) {
      add(static_cast<uint64_t>(flag));
    }
  }

  std::string text_;
};

}  // namespace fuzz
