// rocprofv3's JSON: text in pieces, and a file in parts, give the document of the whole text, and
// what is taken is JSON.
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "law.h"
#include "memory_file.h"
#include "plain_json.h"
#include "plain_text.h"
#include "record_file.h"
#include "record_parser.h"

namespace {

using fuzz::require;
using overlap_native::CodedNumbers;
using overlap_native::Path;
using overlap_native::RecordDocument;
using overlap_native::RecordParser;
using overlap_native::TextCodes;

const overlap_native::WantedArguments& wanted() {
  static const overlap_native::WantedArguments arguments{{"dst", "kind"}, {"hipStream_t"}};
  return arguments;
}

/// All values of a document as one text, however many parts its lists have.
class Picture {
 public:
  explicit Picture(RecordDocument& document) {
    for (auto& process : document.processes) {
      text_ += "process\n";
      for (const auto& [key, text] : process.sections) text_ += key + "=" + text + "\n";
      for (auto& list : process.lists) add(list);
      for (auto& part : process.symbols) {
        for (size_t i = 0; i < part->ids.size(); ++i) add(part->ids[i], text_of(part->names, i));
        text_ += part->odd ? "odd\n" : "plain\n";
      }
    }
  }
  const std::string& text() const { return text_; }
  bool odd() const { return odd_; }

 private:
  static std::string text_of(const TextCodes& column, size_t row) {
    const int32_t code = column.codes[row];
    return code < 0 ? "none" : std::string(column.texts[static_cast<size_t>(code)]);
  }
  template <class... Values>
  void add(const Values&... values) {
    const auto one = [this](const auto& value) {
      if constexpr (std::is_convertible_v<decltype(value), std::string>) {
        text_ += value;
      } else {
        text_ += std::to_string(value);
      }
      text_ += '\t';
    };
    (one(values), ...);
    text_ += '\n';
  }
  void add(overlap_native::RecordList& list) {
    add(list.callback ? "callback" : "buffer", list.name);
    size_t rows = 0;
    for (auto& part : list.parts) {
      for (auto* column :
           {&part->kind, &part->operation, &part->thread, &part->kernel, &part->agent, &part->queue,
            &part->stream, &part->source, &part->target, &part->graph}) {
        column->flush();
        require(column->codes.size() == part->size(), "each row has a code");
      }
      const size_t first = rows;
      for (size_t row = 0; row < part->size(); ++row, ++rows) add_row(*part, row);
      for (size_t next = 0; next < part->argument_row.size(); ++next) {
        add(first + part->argument_row[next], text_of(part->argument_type, next),
            text_of(part->argument_name, next), text_of(part->argument_value, next));
      }
      odd_ |= part->odd;
    }
  }
  void add_row(overlap_native::RecordTable& part, size_t row) {
    const auto number = [row](const CodedNumbers& column) {
      return column.numbers[static_cast<size_t>(column.codes[row])];
    };
    add(part.start[row], part.end[row], part.bytes[row], part.correlation[row], number(part.kind),
        number(part.operation), number(part.thread), number(part.kernel), number(part.agent),
        number(part.queue), number(part.stream), number(part.source), number(part.target),
        number(part.graph));
  }

  std::string text_;
  bool odd_ = false;
};

/// Whether a section or a list comes twice, which whoever takes the document sees in it.
bool names_repeat(const RecordDocument& document) {
  for (const auto& process : document.processes) {
    std::set<std::string> sections;
    std::set<std::pair<bool, std::string>> lists;
    for (const auto& section : process.sections) sections.insert(section.first);
    for (const auto& list : process.lists) lists.emplace(list.callback, list.name);
    if (sections.size() < process.sections.size() || lists.size() < process.lists.size()) {
      return true;
    }
  }
  return false;
}

bool read_pieces(RecordParser& parser, std::string_view text, size_t most) {
  fuzz::Chance chance(most);
  bool plain = true;
  for (size_t at = 0; plain;) {
    const size_t size = std::min<size_t>(1 + chance.below(most), text.size() - at);
    std::memcpy(parser.room(size), text.data() + at, size);
    at += size;
    plain = parser.read(size, at == text.size());
    if (at == text.size()) break;
  }
  return plain;
}

/// Arguments of odd documents may be left out, and only Python reads these.
void check_same(RecordDocument& whole, RecordDocument& other, const char* law) {
  const Picture one(whole), two(other);
  require(one.odd() == two.odd(), "what only Python can judge is known");
  if (!one.odd()) require(one.text() == two.text(), law);
}

}  // namespace

/// Blank text before it lets the head of a file, which is one piece of the parser's, end anywhere.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr unsigned kDeepest = 1024;
  fuzz::Choices choices(data, size);
  const uint8_t settings = choices.byte();
  const size_t most = size_t{1} << settings % 16;
  const uint32_t place = choices.word();
  const std::string_view text = choices.rest();
  RecordParser whole(wanted(), Path::scalar);
  const bool plain = read_pieces(whole, text, text.size() + 1);
  if (plain) {
    fuzz::PlainJson json(text, kDeepest);
    const bool sound = json.document() && (json.repaired == 0 || names_repeat(whole.document));
    require(sound, "what is taken is JSON without repeated keys");
    require(fuzz::is_utf8(text) && whole.used() == text.size(), "all of it is taken");
  }
  for (const Path path : {Path::scalar, Path::avx2, Path::avx512}) {
    if (!overlap_native::path_supported(path)) continue;
    RecordParser pieces(wanted(), path);
    require(read_pieces(pieces, text, most) == plain, "pieces are judged as the whole is");
    if (plain) check_same(whole.document, pieces.document, "the size of pieces changes nothing");
  }
  static const fuzz::MemoryFile file;
  const size_t behind = settings >= 128 && plain ? place % (text.size() + 1) : 0;
  file.write(std::string(behind == 0 ? 0 : whole.wanted() - behind, ' '), text);
  RecordDocument parts;
  const uint32_t part = 1 + place % 2048;
  const bool read = overlap_native::read_record_file(file.path(), 0, part, wanted(), parts, [] {});
  require(read == (plain && !text.empty()), "a file is judged as its text is");
  if (read) check_same(whole.document, parts, "parts change nothing");
  return 0;
}
