// Small numbers for things that are alike in up to four integers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "column.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

using Likeness = std::array<int64_t, 4>;

/// Numbers likenesses in the order in which they come; one like the last costs a comparison.
class Likes {
 public:
  int32_t of(const Likeness& likeness, size_t at) {
    if (last_ < 0 || likeness != last_likeness_) {
      last_likeness_ = likeness;
      last_ = found(likeness, at);
    }
    return last_;
  }
  size_t size() const { return all_.size(); }
  const std::vector<Likeness>& all() const { return all_; }
  const std::vector<size_t>& first() const { return first_; }  // where each came first

 private:
  int32_t found(const Likeness& likeness, size_t at);
  void grow();

  Likeness last_likeness_{};
  int32_t last_ = -1;
  std::vector<Likeness> all_;
  std::vector<size_t> first_;
  std::vector<int32_t> slots_;
};

/// The likenesses of rows [0, size), in order, and where each came first.
struct Alike {
  std::vector<Likeness> all;
  std::vector<int64_t> first;
};

/// Numbers rows by parts, each on a thread of its own.
class AlikeParts {
 public:
  struct Part {
    size_t begin, end;
    Likes likes;
  };
  void add(Part part);

  /// Brings the parts' own numbers in `code` to those in the order of the likenesses; -1 stays.
  Alike joined(int32_t* code);
  /// After `joined`: what a part's own numbers became.
  const std::vector<std::vector<int32_t>>& ranks() const { return ranks_; }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::mutex adding_;
  std::vector<Part> parts_;
  std::vector<std::vector<int32_t>> ranks_;
};

constexpr size_t kAlikeGrain = 1 << 16;

/// Numbers rows by `likeness(row)`, into `code`.
template <class LikenessOf>
Alike alike(size_t size, int32_t* code, const LikenessOf& likeness) {
  AlikeParts parts;
  for_parts(size, kAlikeGrain, [&](size_t begin, size_t end) {
    AlikeParts::Part part{begin, end, {}};
    for (size_t row = begin; row < end; ++row) code[row] = part.likes.of(likeness(row), row);
    parts.add(std::move(part));
  });
  return parts.joined(code);
}

/// The positions of each code below `count`, in order: those of code c are
/// `order[edges[c] .. edges[c + 1])`.
struct Groups {
  Column<int32_t> order;
  std::vector<int64_t> edges;
};
Groups groups_of(const int32_t* code, size_t size, size_t count);

/// The positions whose code is flagged, in order.
Column<int32_t> flagged_rows(const int32_t* code, size_t size, const uint8_t* flags);

}  // namespace overlap_native
