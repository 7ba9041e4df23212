#include "alike.h"

#include <algorithm>
#include <numeric>

namespace overlap_native {

namespace {

size_t hash_of(const Likeness& likeness) {
  uint64_t mixed = 0;
  for (const int64_t each : likeness) {
    mixed = (mixed ^ static_cast<uint64_t>(each)) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
  }
  return mixed;
}

}  // namespace

int32_t Likes::found(const Likeness& likeness, size_t at) {
  if (2 * all_.size() >= slots_.size()) grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_of(likeness) & mask;
  for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    if (all_[static_cast<size_t>(slots_[slot])] == likeness) return slots_[slot];
  }
  slots_[slot] = static_cast<int32_t>(all_.size());
  all_.push_back(likeness);
  first_.push_back(at);
  return slots_[slot];
}

void Likes::grow() {
  slots_.assign(std::max<size_t>(64, 4 * slots_.size()), -1);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < all_.size(); ++i) {
    size_t slot = hash_of(all_[i]) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<int32_t>(i);
  }
}

void AlikeParts::add(Part part) {
  const std::lock_guard<std::mutex> lock(adding_);
  parts_.push_back(std::move(part));
}

Alike AlikeParts::joined(int32_t* code) {
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return a.begin < b.begin; });
  Alike result;
  for (const Part& part : parts_) {
    result.all.insert(result.all.end(), part.likes.all().begin(), part.likes.all().end());
  }
  std::sort(result.all.begin(), result.all.end());
  result.all.erase(std::unique(result.all.begin(), result.all.end()), result.all.end());
  result.first.assign(result.all.size(), -1);
  for (const Part& part : parts_) {
    std::vector<int32_t>& rank = ranks_.emplace_back();
    bool same = true;
    for (size_t i = 0; i < part.likes.size(); ++i) {
      const auto at = std::lower_bound(result.all.begin(), result.all.end(), part.likes.all()[i]) -
                      result.all.begin();
      int64_t& first = result.first[static_cast<size_t>(at)];
      if (first < 0) first = static_cast<int64_t>(part.likes.first()[i]);
      same &= static_cast<size_t>(at) == i;
      rank.push_back(static_cast<int32_t>(at));
    }
    if (same) continue;
    for_parts(part.end - part.begin, kAlikeGrain, [&](size_t begin, size_t end) {
      int32_t* mine = code + part.begin;
      for (size_t i = begin; i < end; ++i) {
        if (mine[i] >= 0) mine[i] = rank[static_cast<size_t>(mine[i])];
      }
    });
  }
  return result;
}

Groups groups_of(const int32_t* code, size_t size, size_t count) {
  Groups groups;
  groups.edges.assign(count + 1, 0);
  for (size_t i = 0; i < size; ++i) ++groups.edges[static_cast<size_t>(code[i]) + 1];
  std::partial_sum(groups.edges.begin(), groups.edges.end(), groups.edges.begin());
  groups.order = sized_column<int32_t>(size);
  std::vector<int64_t> place(groups.edges.begin(), groups.edges.end() - 1);
  for (size_t i = 0; i < size; ++i) {
    const auto at = static_cast<size_t>(place[static_cast<size_t>(code[i])]++);
    groups.order[at] = static_cast<int32_t>(i);
  }
  return groups;
}

Column<int32_t> flagged_rows(const int32_t* code, size_t size, const uint8_t* flags) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += code[i] >= 0 && flags[code[i]] != 0 ? 1 : 0;
  Column<int32_t> rows = sized_column<int32_t>(count);
  size_t at = 0;
  for (size_t i = 0; i < size; ++i) {
    if (code[i] >= 0 && flags[code[i]] != 0) rows[at++] = static_cast<int32_t>(i);
  }
  return rows;
}

}  // namespace overlap_native
