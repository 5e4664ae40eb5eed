// The allocators of this process that can be asked something, found by their own functions.
//
// To be called in the process itself, once, when it is up: files are read for functions that are
// linked in and not exported. Threads: each engine is for one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "endpoint/base/engine.h"

namespace heapgauge::engines {

// Those that can profile first: "jemalloc", "tcmalloc", then "mimalloc", "glibc".
std::vector<std::unique_ptr<endpoint::Engine>> FindEngines();

}  // namespace heapgauge::engines
