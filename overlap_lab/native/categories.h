// What torch.profiler's categories stand for.
#pragma once

#include <cstdint>
#include <string_view>

namespace overlap_native {

/// As `overlap_lab.schema.Kind`, and what an event of the table can be besides.
enum class Kind : uint8_t {
  api = 0,
  kernel = 1,
  memcpy = 2,
  memset = 3,
  sync = 4,
  range = 5,
  cpu_op = 6,
  python = 7,
  device_range = 8,
  overhead = 9,
  /// The end of an event of two parts: only its thread and start mean something.
  end = 253,
  /// Of a category that is known to mean nothing here.
  unused = 254,
  /// Of a category unlike any of torch.profiler's.
  unknown = 255,
};

/// The kind of a category, whose ASCII letters may be of either case.
Kind kind_of(std::string_view category);

/// Whether calls of this category tell the vendor by their names.
bool names_vendor(std::string_view category);

constexpr bool is_row(Kind kind) { return kind <= Kind::overhead; }
constexpr bool is_op(Kind kind) { return kind >= Kind::kernel && kind <= Kind::memset; }
constexpr bool on_device(Kind kind) {
  return is_op(kind) || kind == Kind::sync || kind == Kind::device_range;
}

}  // namespace overlap_native
