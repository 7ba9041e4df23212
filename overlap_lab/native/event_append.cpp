// One table of events behind another.
#include <stdexcept>

#include "event_table.h"

namespace overlap_native {

namespace {

template <class Value>
void append_all(Column<Value>& to, const Column<Value>& from) {
  to.append(from.data(), from.size());
}

/// Learn the codes of texts that came since the last time.
void learn(Interned& to, const Interned& from, Column<uint32_t>& codes) {
  for (size_t code = codes.size(); code < from.size(); ++code) codes.push(to.code_of(from[code]));
}

void append_codes(Column<int32_t>& to, const Column<int32_t>& from, const Column<uint32_t>& codes) {
  const size_t size = to.size();
  to.grow(size + from.size());
  int32_t* out = to.data() + size;
  for (size_t i = 0; i < from.size(); ++i) {
    out[i] = from[i] < 0 ? from[i] : static_cast<int32_t>(codes[static_cast<size_t>(from[i])]);
  }
}

void append_tokens(Sparse<uint32_t>& to, const Sparse<uint32_t>& from, uint32_t first_row,
                   const Column<uint32_t>& codes) {
  for (size_t i = 0; i < from.row.size(); ++i) {
    to.push(from.row[i] + first_row, codes[from.value[i]]);
  }
}

}  // namespace

void EventTable::append(const EventTable& other, TableCodes& codes) {
  if (other.kind.size() > kMaxRows - kind.size()) {
    throw std::length_error("more events than fit a trace");
  }
  const auto first_row = static_cast<uint32_t>(kind.size());
  learn(names, other.names, codes.names);
  learn(tokens, other.tokens, codes.tokens);
  append_all(kind, other.kind);
  append_codes(name, other.name, codes.names);
  append_all(start_ns, other.start_ns);
  append_all(length_ns, other.length_ns);
  append_all(process, other.process);
  append_all(thread, other.thread);
  append_all(correlation, other.correlation);
  device.append(other.device, first_row);
  stream.append(other.stream, first_row);
  wait_stream.append(other.wait_stream, first_row);
  bytes.append(other.bytes, first_row);
  graph.append(other.graph, first_row);
  queue.append(other.queue, first_row);
  wait_correlation.append(other.wait_correlation, first_row);
  append_tokens(copy_kind, other.copy_kind, first_row, codes.tokens);
  append_odd(other, codes);
  append_notes(other);
}

/// Behind the other columns of its rows.
void EventTable::append_odd(const EventTable& other, const TableCodes& codes) {
  const auto first_row = static_cast<uint32_t>(kind.size() - other.kind.size());
  for (size_t key = 0; key < kKeys; ++key) {
    append_tokens(odd[key], other.odd[key], first_row, codes.tokens);
  }
  for (size_t i = 0; i < other.begins.size(); ++i) {
    const uint32_t row = other.begins[i] + first_row;
    begins.push(row);
    if (kind[row] != static_cast<uint8_t>(Kind::unknown)) continue;
    length_ns[row] = codes.tokens[static_cast<size_t>(length_ns[row])];
  }
  for (size_t i = 0; i < other.ends.size(); ++i) ends.push(other.ends[i] + first_row);
}

void EventTable::append_notes(const EventTable& other) {
  for (size_t i = 0; i < other.categories.size(); ++i) {
    const uint32_t code = categories.code_of(other.categories[i]);
    if (code == category_counts.size()) category_counts.push(0);
    category_counts[code] += other.category_counts[i];
  }
  append_all(process_names, other.process_names);
  hip_calls |= other.hip_calls;
  cuda_calls |= other.cuda_calls;
  any_start |= other.any_start;
  any_time |= other.any_time;
  whole_thousands = whole_thousands && other.whole_thousands;
  odd_letters |= other.odd_letters;
}

void EventTable::clear() {
  kind.clear();
  name.clear();
  for (auto* column : {&start_ns, &length_ns, &process, &thread}) column->clear();
  correlation.clear();
  for (auto* column : {&device, &stream, &wait_stream, &bytes, &graph, &queue}) column->clear();
  wait_correlation.clear();
  copy_kind.clear();
  for (Sparse<uint32_t>& values : odd) values.clear();
  begins.clear();
  ends.clear();
  categories.clear();
  category_counts.clear();
  process_names.clear();
  hip_calls = cuda_calls = any_start = any_time = odd_letters = false;
  whole_thousands = true;
}

void EventTable::clear_texts() {
  names.clear();
  tokens.clear();
}

}  // namespace overlap_native
