// The tests' whole framework: CHECK, and a main that runs what TEST registered. No dependency, so
// that a bare machine can run the tests. A failed check ends the program: tests hold latches that
// other threads wait on, and unwinding through them would hang.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace check {

struct Case {
  const char* name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
  std::fflush(nullptr);
  std::_Exit(1);
}

/// Runs every test, or the ones named on the command line.
inline int run_all(int count, char** arguments) {
  int ran = 0;
  for (const Case& test : cases()) {
    bool wanted = count < 2;
    for (int i = 1; i < count; ++i) wanted = wanted || std::strcmp(arguments[i], test.name) == 0;
    if (!wanted) continue;
    std::printf("%s\n", test.name);
    std::fflush(stdout);
    test.run();
    ++ran;
  }
  std::printf("%d tests passed\n", ran);
  return ran > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) ((condition) ? void() : check::fail(#condition, __FILE__, __LINE__))
#define TEST(name)                                               \
  static void name();                                            \
  static const check::Registration register_##name(#name, name); \
  static void name()
#define CHECK_MAIN() \
  int main(int count, char** arguments) { return check::run_all(count, arguments); }
