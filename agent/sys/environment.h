// The variables of the environment. Read in the agent's constructor, from the vector that the
// dynamic linker hands to constructors (libc's own may not be set yet then).
//
// Allocation-free. By one thread, before the program starts.
#pragma once

#include <cstdint>

namespace heapgauge::agent {

// The value of a variable, in the environment; "" if it is not set.
const char* EnvironmentValue(char** environment, const char* name);

// Takes the agent out of LD_PRELOAD and removes HEAPGAUGE_* in place, so that programs which this
// one executes run without it.
void RemoveFromEnvironment(char** environment);

// "524288", "512K", "512KiB", "1M", "2G": false if it is none of these or overflows.
bool ParseSize(const char* text, uint64_t* size);

}  // namespace heapgauge::agent
