// The machine's own SQLite, loaded when it is first asked for. Nothing of it is needed to build.
#pragma once

#include <cstdint>

namespace overlap_native {

struct Connection;  // sqlite3
struct Statement;   // sqlite3_stmt

// Result codes, types and flags as SQLite's file format and interface fix them for good.
constexpr int kSqliteOk = 0;
constexpr int kSqliteRow = 100;
constexpr int kSqliteDone = 101;
constexpr int kSqliteInteger = 1;
constexpr int kSqliteFloat = 2;
constexpr int kSqliteNull = 5;
constexpr int kSqliteText = 3;
constexpr int kOpenReadOnly = 0x1;
constexpr int kOpenUri = 0x40;
constexpr int kOpenNoMutex = 0x8000;

/// The functions that reading takes, by their names without `sqlite3_`.
struct SqliteLibrary {
  const char* (*libversion)();
  int (*open_v2)(const char* name, Connection** opened, int flags, const char* system);
  int (*close)(Connection*);
  int (*prepare_v2)(Connection*, const char* text, int size, Statement** made, const char** rest);
  int (*finalize)(Statement*);
  int (*step)(Statement*);
  int (*bind_text)(Statement*, int place, const char* text, int size, void (*free)(void*));
  int (*column_count)(Statement*);
  int (*column_type)(Statement*, int column);
  int64_t (*column_int64)(Statement*, int column);
  const unsigned char* (*column_text)(Statement*, int column);
  int (*column_bytes)(Statement*, int column);
  void (*progress_handler)(Connection*, int steps, int (*called)(void*), void* with);
};

/// The library; nullptr where there is none, or one without all of these functions.
const SqliteLibrary* sqlite_library();

}  // namespace overlap_native
