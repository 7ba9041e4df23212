// The two functions of roctx that hip_ext uses; on this target they write to the recording.
#pragma once

#include "hip_host/export.h"

extern "C" {

/// Begins a range on the calling thread; returns how many were open before.
HIP_HOST_API int roctxRangePushA(const char* message);
/// Ends the innermost range of the calling thread; returns how many stay open, -1 where none was.
/// A range is recorded that began in a recording and ended before its records were taken.
HIP_HOST_API int roctxRangePop();

}  // extern "C"
