// Labels for the blocks that are allocated in a scope: C++11, header-only, linked with nothing.
//
//   void Search(const Request& request) {
//     heapgauge::LabelScope handler("handler", "search");
//     heapgauge::LabelScope tenant("tenant", request.tenant());
//     ...
//   }
//
// What this thread allocates until the end of the scope carries handler=search and tenant=NAME, in
// every profile (pprof's -tagfocus and -tags work on it). Scopes nest; the inner value of a key
// hides the outer one. Meant for values of a few kinds, such as names of handlers, and not for
// request numbers: there is room for 65,535 different sets, and when that is used up new ones have
// no effect.
//
// A scope belongs to the thread and the function that opened it. Costs some tens of nanoseconds, or
// a test of a pointer where the agent is not loaded.
#ifndef HEAPGAUGE_LABEL_H_
#define HEAPGAUGE_LABEL_H_

#include <string>

#include "heapgauge.h"

namespace heapgauge {

class LabelScope {
 public:
  LabelScope(const char* key, const char* value) noexcept
      : token_(heapgauge_push_label(key, value)) {}
  LabelScope(const char* key, const std::string& value) noexcept : LabelScope(key, value.c_str()) {}
  ~LabelScope() { heapgauge_pop_label(token_); }
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

  // False if there is no agent, or no room for the label.
  explicit operator bool() const noexcept { return token_ >= 0; }

 private:
  int64_t token_;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_LABEL_H_
