// What every entry of the service library does around its work: it keeps the calling thread's
// memory out of the profile, notices a fork, turns exceptions into codes, and keeps the words of
// errors.
//
// Forks. A child has the memory of its parent, but of its threads only the one that forked. Locks
// that another thread held at that moment are held for ever. So calls are counted: a child that was
// forked while some other thread was in here refuses all calls; any other child may use everything,
// with objects of its own. Nothing waits for a fork, and no fork waits for us.
//
// Threads: any.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/base/result.h"
#include "wire/service_api.h"

namespace heapgauge::service {

// Set once, before anything else.
void SetHost(const wire::ServiceHost* host);
const wire::ServiceHost& Host();

// The words for the last failure in this thread. Plain memory without a destructor: a thread may
// ask while it ends.
const char* LastError();
// Notes the words and gives the code that the program's interface has for it.
int FailWith(const Error& error);
int FailWith(int code, const char* why);

// Called in a forked child, once, before any other call is let in.
void OnFork(void (*forget)());

// One call, from its beginning to its end.
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  // False in a child that cannot use the library.
  bool ok() const { return ok_; }

 private:
  bool ok_;
};

// Runs a function that returns a code as one call.
template <typename Function>
int Guarded(Function&& function) {
  const CallScope scope;
  if (!scope.ok()) {
    return FailWith(-3,
                    "this process was forked while its parent answered a request; it can be "
                    "asked from outside: heapgauge serve");
  }
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return FailWith(-3, "out of memory");
  } catch (const std::exception& e) {
    return FailWith(-3, e.what());
  }
}

}  // namespace heapgauge::service
