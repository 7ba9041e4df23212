#include "progress.h"

namespace overlap_native {

Progress& progress() {
  static Progress all;
  return all;
}

}  // namespace overlap_native
