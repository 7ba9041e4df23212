// A rocprofv3 JSON file, handed over in pieces, into a document of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record_document.h"
#include "record_reader.h"
#include "structure.h"

namespace overlap_native {

/// Takes what Python's strict parser takes, less what only Python can judge: keys that come twice,
/// NaN, other encodings, another arrangement than rocprofv3's.
class RecordParser {
 public:
  explicit RecordParser(WantedArguments wanted, Path path = fastest_path());
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;

  /// How much text is best read next: more where a value is long.
  size_t wanted() const;
  /// Where the next `size` bytes of text are to be written before `read`.
  char* room(size_t size);
  /// Read what `size` more bytes complete. False where the text is for Python to judge, also if it
  /// is the `last` and not complete. Nothing may be read after that.
  bool read(size_t size, bool last);

  /// Bytes of text that were used so far.
  uint64_t used() const { return used_; }
  /// Begin behind a record of a list, of callback records or of others.
  void begin_in_list(bool callback);
  /// Whether a record of a list was the last thing read.
  bool in_list() const { return where_ == Where::records && !first_; }
  /// Whether the last list is of callback records.
  bool callback() const { return callback_; }
  /// How the first record of the last list began: its brace and first key. Empty where that is
  /// long.
  const std::string& opening() const { return opening_; }

  RecordDocument document;

 private:
  enum class Where : uint8_t { start, processes, process, lists, records, symbols, behind, end };

  size_t parse(const char* text, size_t size);
  const char* step(const char* at);
  const char* open_root(const char* at);
  const char* next_process(const char* at);
  const char* next_section(const char* at);
  const char* section(const char* at, std::string key);
  const char* next_list(const char* at);
  const char* next_record(const char* at);
  const char* next_symbol(const char* at);
  const char* close_root(const char* at);

  bool next_item(const char*& at, char closing, Where outer);
  const char* text(const char* at, char expected);
  const char* key(const char* at, std::string& found);
  const char* whole(Outcome outcome, const char* end);
  const char* fail(const char* at);
  void keep_opening(const char* at);

  Path path_;
  WantedArguments wanted_;
  KeyOrders orders_{record_key, static_cast<PlaceCode>(RecordPlace::count)};
  RecordReader reader_{orders_};
  Structure structure_;
  Record record_;
  Symbol symbol_;
  std::vector<char> buffer_;
  size_t held_ = 0;    // bytes of text in the buffer
  size_t enough_ = 0;  // bytes to look at again what held nothing whole
  uint64_t used_ = 0;
  Where where_ = Where::start;
  bool first_ = true;  // nothing was read yet of what is being read
  bool callback_ = false;
  bool plain_ = true;
  std::string opening_;
};

}  // namespace overlap_native
