#pragma once

#ifdef HIP_HOST_BUILD
#define HIP_HOST_API __attribute__((visibility("default")))
#else
#define HIP_HOST_API
#endif
