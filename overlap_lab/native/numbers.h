// Numbers from their decimal text, exactly: no double is ever made.
#pragma once

#include <cstdint>

namespace overlap_native {

/// End of the JSON number at `text`, or nullptr where there is none. `integral`: no fraction or
/// exponent.
const char* number_end(const char* text, const char* end, bool& integral);

/// An integer in its shortest spelling that fits; false for anything else, `+1` and `007` among it.
bool integer_of(const char* text, const char* end, int64_t& value);

/// As `integer_of` for the whole unsigned range.
bool unsigned_of(const char* text, const char* end, uint64_t& value);

/// Microseconds as nanoseconds, rounded half up. False, and no value, for what is not plain decimal
/// text with or without an exponent, is negative below a nanosecond, or does not fit.
bool nanoseconds_of(const char* text, const char* end, int64_t& value);

/// As above for a number whose `digits` are known, `decimals` of them behind the dot.
bool nanoseconds_of(uint64_t digits, int decimals, bool negative, int64_t& value);

}  // namespace overlap_native
