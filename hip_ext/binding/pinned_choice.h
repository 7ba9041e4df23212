// Where the async mode's pinned blocks come from: one choice for the process.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace hip_ext {

// As the op of this name says it: "pool", "bare" or "torch".
void choose_pinned_memory(const std::string& kind);

std::shared_ptr<void> allocate_chosen(size_t bytes);

}  // namespace hip_ext
