// For other libraries of ours in the same process, not for programs: wire/in_process.h.
#include "wire/in_process.h"

#include "agent/recorder.h"
#include "agent/sample/thread_exclusion.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

HG_EXPORT void heapgauge_watch_v1(heapgauge::wire::WatchCallback* callback,
                                  const heapgauge::wire::Marks* marks,
                                  heapgauge::wire::Marks* totals) {
  heapgauge::agent::Watch& watch = heapgauge::agent::recorder.watch();
  if (marks != nullptr) watch.Set(callback, *marks);
  if (totals != nullptr) *totals = watch.Totals();
}

HG_EXPORT void heapgauge_exclude_v1(int exclude) { heapgauge::agent::ExcludeThread(exclude != 0); }
