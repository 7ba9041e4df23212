// The machine's own zlib, as far as unpacking goes. Nothing of it is needed to build.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "law.h"

namespace fuzz {

class Zlib {
 public:
  Zlib() {
    void* library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    require(library != nullptr, "this machine has zlib");
    find(library, "inflateInit2_", begin_);
    find(library, "inflate", inflate_);
    find(library, "inflateEnd", end_);
    find(library, "crc32", crc32_);
  }

  /// Unpacks a stream of DEFLATE; false where it is damaged, cut off, or has more text than `most`.
  bool unpack(std::string_view packed, size_t most, std::string& text, size_t& used) const {
    constexpr int kRaw = -15, kFinish = 4, kStreamEnd = 1;
    Stream stream{};
    require(begin_(&stream, kRaw, "1.2.11", static_cast<int>(sizeof stream)) == 0, "zlib begins");
    text.resize(most);
    stream.next_in = packed.data();
    stream.avail_in = static_cast<unsigned>(packed.size());
    stream.next_out = text.data();
    stream.avail_out = static_cast<unsigned>(most);
    const bool whole = inflate_(&stream, kFinish) == kStreamEnd;
    end_(&stream);
    text.resize(most - stream.avail_out);
    used = packed.size() - stream.avail_in;
    return whole;
  }
  uint32_t crc32(std::string_view text) const {
    return static_cast<uint32_t>(crc32_(0, text.data(), static_cast<unsigned>(text.size())));
  }

 private:
  /// z_stream, as zlib's interface fixes it for good.
  struct Stream {
    const char* next_in;
    unsigned avail_in;
    unsigned long total_in;
    char* next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char* message;
    void *state, *allocate, *free, *opaque;
    int data_type;
    unsigned long adler, reserved;
  };

  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    require(function != nullptr, name);
  }

  int (*begin_)(Stream*, int bits, const char* version, int size) = nullptr;
  int (*inflate_)(Stream*, int flush) = nullptr;
  int (*end_)(Stream*) = nullptr;
  unsigned long (*crc32_)(unsigned long, const char*, unsigned) = nullptr;
};

}  // namespace fuzz
