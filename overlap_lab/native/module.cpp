// Python's door to the readers: text in, columns out. No Python object is made for an event, and
// the interpreter lock is free while text is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "array_arguments.h"
#include "array_module.h"
#include "block_module.h"
#include "csv_module.h"
#include "device_module.h"
#include "event_module.h"
#include "gather_module.h"
#include "inflate_module.h"
#include "interrupts.h"
#include "lane_module.h"
#include "link_module.h"
#include "nesting.h"
#include "numbers.h"
#include "progress.h"
#include "record_module.h"
#include "sqlite_module.h"
#include "structure.h"
#include "threads.h"
#include "utf8.h"
#include "wait_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

nb::str decoded(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

Structure scanned(const nb::bytes& text, Path path) {
  if (!path_supported(path)) throw std::invalid_argument("scan: not on this machine");
  Structure found;
  scan(text.c_str(), text.size(), /*last=*/true, path, found);
  return found;
}

/// What the scan finds: offsets of quotes (the end marks left out) and of faults, any backslash,
/// UTF-8.
nb::tuple scan_text(const nb::bytes& text, Path path) {
  Structure found = scanned(text, path);
  while (found.quotes.size() != 0 && found.quotes[found.quotes.size() - 1] == text.size()) {
    found.quotes.set_size(found.quotes.size() - 1);
  }
  return nb::make_tuple(taken(found.quotes), taken(found.faults), found.escapes, found.utf8);
}

nb::object nanoseconds(std::string_view text) {
  int64_t value = 0;
  if (!nanoseconds_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::object integer(std::string_view text) {
  int64_t value = 0;
  if (!integer_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::object unsigned_integer(std::string_view text) {
  uint64_t value = 0;
  if (!unsigned_of(text.data(), text.data() + text.size(), value)) return nb::none();
  return nb::int_(value);
}

nb::str unescaped(std::string_view text) {
  std::string found;
  append_unescaped(found, text.data(), text.data() + text.size());
  return decoded(found);
}

Out<int32_t> depths(In<uint8_t> kind, In<int32_t> process, In<int64_t> thread, In<int64_t> start_ns,
                    In<int64_t> end_ns, uint32_t kinds) {
  const size_t size = kind.size();
  if (process.size() != size || thread.size() != size || start_ns.size() != size ||
      end_ns.size() != size) {
    throw std::invalid_argument("nesting_depth: columns differ in length");
  }
  Column<int32_t> depth;
  depth.reserve(size + 1, Use::kept);
  depth.set_size(size);
  {
    nb::gil_scoped_release released;
    nesting_depth(
        {kind.data(), process.data(), thread.data(), start_ns.data(), end_ns.data(), size}, kinds,
        depth.data());
  }
  return taken(depth);
}

void add_parts(nb::module_& m) {
  nb::enum_<Path>(m, "Path")
      .value("SCALAR", Path::scalar)
      .value("AVX2", Path::avx2)
      .value("AVX512", Path::avx512);
  m.def("path_supported", &path_supported, "path"_a);
  m.def("fastest_path", &fastest_path);
  m.def("scan", &scan_text, "text"_a, "path"_a);
  m.def("thread_count", &thread_count);
  m.def("nanoseconds", &nanoseconds, "text"_a);
  m.def("integer", &integer, "text"_a);
  m.def("unsigned_integer", &unsigned_integer, "text"_a);
  m.def("unescaped", &unescaped, "text"_a);
  m.def("nesting_depth", &depths, "kind"_a, "process"_a, "thread"_a, "start_ns"_a, "end_ns"_a,
        nb::kw_only(), "kinds"_a);
  m.def("end_after_interrupt", &end_after_interrupt, "pipe"_a, "message"_a);
  m.def("claim_message", &claim_message);
  m.def("hold_end", &hold_end);
  m.def("release_end", &release_end);
  m.def("count_read", [](uint64_t size) { progress().add_bytes(size); }, "size"_a);
  m.def("read_so_far", [] {
    return nb::make_tuple(progress().bytes.load(std::memory_order_relaxed),
                          progress().rows.load(std::memory_order_relaxed));
  });
}

}  // namespace

}  // namespace overlap_native

NB_MODULE(_native, m) {
  m.doc() = "The readers' core: text in, columns out. See _native.pyi.";
  overlap_native::add_parts(m);
  overlap_native::add_parser(m);
  overlap_native::add_sqlite(m);
  overlap_native::add_blocks(m);
  overlap_native::add_arrays(m);
  overlap_native::add_csv(m);
  overlap_native::add_gathers(m);
  overlap_native::add_records(m);
  overlap_native::add_inflate(m);
  overlap_native::add_devices(m);
  overlap_native::add_lanes(m);
  overlap_native::add_waits(m);
  overlap_native::add_links(m);
  nb::list offered;
  for (nb::handle name : nb::list(m.attr("__dict__").attr("keys")())) {
    if (nb::cast<std::string_view>(name).front() != '_') offered.append(name);
  }
  offered.attr("sort")();
  m.attr("__all__") = offered;
}
