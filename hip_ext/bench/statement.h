// What the program prints: AITER's line, and the distributions below it.
#pragma once

#include <string>

#include "measurement.h"

namespace hip_ext_bench {

// Floating-point operations of one backward, as AITER counts them: a causal mask halves nothing.
double flop(const hip_ext_test::Shape& shape);

// Bytes of the tensors, as AITER counts them: keys once per query head.
double moved_bytes(const hip_ext_test::Shape& shape);

// "[bf16|group|bhsd] b:2, h:4/2, ... mask:n" as AITER begins its line.
std::string beginning(const Options& options);

// The milliseconds of the line by the timer that was asked for.
double milliseconds(const Options& options, const Samples& samples);

// ", 1.234 ms, 5.67 TFlops, 8.90 GB/s"; with -prepare_only or -loop there are no kernel times.
std::string speed(const Options& options, const Samples& samples);

// The distributions of one mode.
std::string distributions(const Options& options, const Samples& samples);

}  // namespace hip_ext_bench
