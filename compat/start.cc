// Where this library begins and ends: the variables that switch profilers on without a call, and
// the dumps at the end of the program.
#include <cstdlib>

#include "compat/common/agent_link.h"
#include "compat/gperftools/heap_profiler.h"
#include "compat/jemalloc/profiler.h"

// By which the engines of the service tell this library from the real ones.
extern "C" __attribute__((visibility("default"))) const char heapgauge_compat_version[] = "1";

namespace heapgauge::compat {
namespace {

__attribute__((constructor)) void Begin() {
  HeapProfiler::Get().StartFromEnvironment();
  JemallocProfiler::Get().StartFromConf();
}

__attribute__((destructor)) void End() {
  HeapProfiler::Get().AtExit();
  JemallocProfiler::Get().AtExit();
}

}  // namespace
}  // namespace heapgauge::compat
