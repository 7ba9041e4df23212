// The end of a command after Ctrl-C, also where Python is inside of a long call and cannot answer.
#pragma once

#include <string>

namespace overlap_native {

/// From now on the process ends with exit code 130 soon after SIGINT, whatever it is doing, unless
/// it has ended before. `pipe` is where Python's signal handler writes the number of each signal.
void end_after_interrupt(int pipe, std::string message);

/// Whether nobody has told of the interrupt yet; the caller tells.
bool claim_message();

/// While held, the end waits for up to 2 s: there is a file to be taken away.
void hold_end();
void release_end();

}  // namespace overlap_native
