#include "categories.h"

#include <array>

namespace overlap_native {

namespace {

struct Category {
  std::string_view name;
  Kind kind;
};

// Frequent ones first: the length alone tells most of them apart.
constexpr std::array<Category, 24> kCategories{{
    {"cpu_op", Kind::cpu_op},
    {"cuda_runtime", Kind::api},
    {"kernel", Kind::kernel},
    {"ac2g", Kind::unused},
    {"python_function", Kind::python},
    {"gpu_memcpy", Kind::memcpy},
    {"gpu_memset", Kind::memset},
    {"cuda_driver", Kind::api},
    {"cuda_sync", Kind::sync},
    {"user_annotation", Kind::range},
    {"gpu_user_annotation", Kind::device_range},
    {"fwdbwd", Kind::unused},
    {"overhead", Kind::overhead},
    {"hip_runtime", Kind::api},
    {"runtime", Kind::api},
    {"driver", Kind::api},
    {"memcpy", Kind::memcpy},
    {"memset", Kind::memset},
    {"operator", Kind::cpu_op},
    {"python", Kind::python},
    {"trace", Kind::unused},
    {"async_cpu_to_gpu", Kind::unused},
    {"cpu_instant_event", Kind::unused},
    {"overlap_lab", Kind::unused},  // what our exports add
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool same(std::string_view text, std::string_view name) {
  if (text.size() != name.size()) return false;
  if (text == name) return true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != name[i]) return false;
  }
  return true;
}

}  // namespace

Kind kind_of(std::string_view category) {
  if (category.empty()) return Kind::unused;
  for (const Category& known : kCategories) {
    if (same(category, known.name)) return known.kind;
  }
  return Kind::unknown;
}

bool names_vendor(std::string_view category) {
  return same(category, "cuda_runtime") || same(category, "runtime");
}

}  // namespace overlap_native
