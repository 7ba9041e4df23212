#include "inflate_module.h"

#include <string>

#include "array_arguments.h"
#include "crc32.h"
#include "gzip_text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

nb::object unpacked(int file) {
  std::string text;
  bool sound = false;
  {
    nb::gil_scoped_release released;
    GzipText gzip(file);
    sound = read_rest(gzip, 0, text, ask_for_signals);
  }
  if (!sound) return nb::none();
  return nb::bytes(text.data(), text.size());
}

template <uint32_t (*checksum)(uint32_t, const uint8_t*, size_t)>
uint32_t checksum_of(const nb::bytes& text, uint32_t before) {
  return checksum(before, reinterpret_cast<const uint8_t*>(text.c_str()), text.size());
}

}  // namespace

void add_inflate(nb::module_& m) {
  m.def("gunzip", &unpacked, "file"_a);
  m.def("crc32", &checksum_of<crc32>, "text"_a, "before"_a = 0);
  m.def("crc32_plain", &checksum_of<crc32_plain>, "text"_a, "before"_a = 0);
}

}  // namespace overlap_native
