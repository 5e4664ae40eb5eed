// Blocks of the program's own pools. heapgauge_pool_allocated itself is in entries_ARCH.S: it
// counts down like malloc, and hands over the registers of its caller when a sample is due.
#define HEAPGAUGE_LINKED 1
#pragma GCC visibility push(default)
#include "include/heapgauge/heapgauge.h"
#pragma GCC visibility pop

#include <errno.h>

#include "agent/hooks/entry_table.h"
#include "agent/hooks/last_error.h"
#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"
#include "agent/table/sample_filter.h"

// As hg_pool_due in entries_ARCH.S lays it out.
struct HgPoolCall {
  uint64_t pool;
  uintptr_t block;
  uint64_t size;
  heapgauge::agent::Registers caller;
  uint64_t countdown;
};
static_assert(sizeof(HgPoolCall) == 56);

HG_HIDDEN void hg_pool_sample(const HgPoolCall* call);

void hg_pool_sample(const HgPoolCall* call) {
  using namespace heapgauge::agent;
  const int kept_errno = errno;
  const uint64_t interval = samples.sampler().Decide(call->size, call->countdown);
  StartCounting();
  if (interval == 0 || ThreadIsExcluded()) {
    Poll();
  } else if (const int pool = static_cast<int>(call->pool);
             call->block != 0 && labels.IsPool(pool) && control.BeginSample()) {
    labels.RecordAllocation(
        pool, {call->block, call->size, call->size, interval, heapgauge::wire::Function::kPool, 0},
        call->caller);
  }
  errno = kept_errno;
}

int heapgauge_pool(const char* name) {
  using namespace heapgauge::agent;
  const int number = labels.FindPool(name);
  if (number > 0) return number;
  return FailWith(number, number == HEAPGAUGE_INVALID ? "a pool needs a name"
                          : number == HEAPGAUGE_FULL  ? "there are too many pools or labels"
                                                      : "there is no gauge file");
}

void heapgauge_pool_freed(int pool, const void* block) {
  using namespace heapgauge::agent;
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (sample_filter::PoolCounterOf(address).load(std::memory_order_relaxed) == 0) return;
  labels.RecordFree(pool, address);
}
