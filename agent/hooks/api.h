// What the parts of the program's interface share (heapgauge/heapgauge.h, whose functions the agent
// exports): that header, and the words for the last call that failed in a thread. That is one
// pointer in static TLS, since functions of the interface may be called in signal handlers and none
// may allocate. It leads to text that is never freed, or to the service library's text of this
// thread.
#pragma once

#define HEAPGAUGE_LINKED 1
#pragma GCC visibility push(default)
#include "include/heapgauge/heapgauge.h"
#pragma GCC visibility pop

extern "C"
    __attribute__((visibility("hidden"),
                   tls_model("initial-exec"))) thread_local constinit const char* hg_last_error;

namespace heapgauge::agent {

// Notes the reason and returns the code: `return FailWith(HEAPGAUGE_INVALID, "...")`.
inline int FailWith(int code, const char* why) {
  hg_last_error = why;
  return code;
}

}  // namespace heapgauge::agent
