// The words for the last call of the program's interface that failed in a thread: one pointer in
// static TLS, since functions of that interface may be called in signal handlers and none may
// allocate. It leads to text that is never freed, or to the service library's text of this thread.
#ifndef HEAPGAUGE_AGENT_HOOKS_LAST_ERROR_H_
#define HEAPGAUGE_AGENT_HOOKS_LAST_ERROR_H_

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

#endif  // HEAPGAUGE_AGENT_HOOKS_LAST_ERROR_H_
