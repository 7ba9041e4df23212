#include "sqlite_library.h"

#include <dlfcn.h>

namespace overlap_native {

namespace {

template <class Function>
bool found(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool filled(void* library, SqliteLibrary& all) {
  return found(library, "sqlite3_libversion", all.libversion) &&
         found(library, "sqlite3_open_v2", all.open_v2) &&
         found(library, "sqlite3_close", all.close) &&
         found(library, "sqlite3_prepare_v2", all.prepare_v2) &&
         found(library, "sqlite3_finalize", all.finalize) &&
         found(library, "sqlite3_step", all.step) &&
         found(library, "sqlite3_bind_text", all.bind_text) &&
         found(library, "sqlite3_column_count", all.column_count) &&
         found(library, "sqlite3_column_type", all.column_type) &&
         found(library, "sqlite3_column_int64", all.column_int64) &&
         found(library, "sqlite3_column_text", all.column_text) &&
         found(library, "sqlite3_column_bytes", all.column_bytes) &&
         found(library, "sqlite3_progress_handler", all.progress_handler);
}

}  // namespace

const SqliteLibrary* sqlite_library() {
  static SqliteLibrary all{};
  static const bool loaded = [] {
    // Python's own sqlite3 module has it loaded already on most machines: then this is the same
    // one.
    void* library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && filled(library, all);
  }();
  return loaded ? &all : nullptr;
}

}  // namespace overlap_native
