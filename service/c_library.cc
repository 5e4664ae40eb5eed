// A few functions of the C library as this library alone sees them: all its calls are bound to the
// definitions here, the program's are not touched.
//
// The library shares a process with a program that knows nothing of it. When that ends by exit()
// our thread may be in the middle of an answer, so nothing here is ever destroyed. Threads that the
// readers would start for speed stay out of the program's way: no more than one processor is
// counted, and what is started all the same takes no signals and is not profiled.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <memory>

#include "core/base/threads.h"
#include "service/runtime.h"

#define HG_OURS extern "C" __attribute__((visibility("hidden")))

HG_OURS int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

HG_OURS int get_nprocs();
int get_nprocs() { return 1; }

namespace {

struct Work {
  void* (*run)(void*);
  void* argument;
};

void* RunExcluded(void* work) {
  heapgauge::service::Host().exclude_thread(1);
  const Work copy = *static_cast<Work*>(work);
  delete static_cast<Work*>(work);
  return copy.run(copy.argument);
}

using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create* RealCreate() {
  static Create* const real = reinterpret_cast<Create*>(dlsym(RTLD_DEFAULT, "pthread_create"));
  return real;
}

}  // namespace

HG_OURS int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                           void* argument) noexcept {
  auto work = std::make_unique<Work>(Work{run, argument});
  const heapgauge::BlockedSignals blocked;
  const int result = RealCreate()(thread, attributes, RunExcluded, work.get());
  if (result == 0) work.release();
  return result;
}
