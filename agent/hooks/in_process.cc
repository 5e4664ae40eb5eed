// For other libraries of ours in the same process, not for programs: wire/in_process.h.
#include "wire/in_process.h"

#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

HG_EXPORT void heapgauge_watch_v1(heapgauge::wire::WatchCallback* callback,
                                  const heapgauge::wire::Marks* marks,
                                  heapgauge::wire::Marks* totals) {
  heapgauge::agent::Watch& watch = heapgauge::agent::samples.watch();
  if (marks != nullptr) watch.Set(callback, *marks);
  if (totals != nullptr) *totals = watch.Totals();
}

HG_EXPORT void heapgauge_exclude_v1(int exclude) { heapgauge::agent::ExcludeThread(exclude != 0); }
