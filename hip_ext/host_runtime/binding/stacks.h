// Python stacks of the calls that waited.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace hip_host_binding {

namespace nb = nanobind;

/// A number for the Python stack of this thread, 0 where it runs no Python. Takes the interpreter
/// lock.
uint32_t current_python_stack() noexcept;

/// Every stack so far: item i is number i + 1, its frames outermost first as
/// "file(line): function".
nb::list python_stacks();

}  // namespace hip_host_binding
