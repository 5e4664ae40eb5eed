// Labels of threads, and the pools that carry one (heapgauge.h). Blocks of the program's own pools
// are sampled like others and kept apart from them.
//
// A token is the set that was in force before a push, with a mark of the thread. Pop goes back to
// that set whatever happened in between, so that a pop that is missing (an exception, a longjmp) is
// made up for by the next one outside. The mark keeps a token from working in another thread.
//
// Threads: all of them, also signal handlers. Allocation-free. Usable before any constructor ran;
// what it refers to must outlive it.
#pragma once

#include <cstdint>

#include "agent/record/samples.h"
#include "agent/record/session.h"
#include "agent/table/label_table.h"

namespace heapgauge::agent {

class ProgramLabels {
 public:
  constexpr ProgramLabels(Session& session, Samples& samples)
      : session_(session), samples_(samples) {}

  // The calling thread's labels. A negative answer is a code of heapgauge.h.
  int64_t Push(const char* key, const char* value);
  void Pop(int64_t token);
  int NameThread(const char* name);

  // The number of the pool of this name, or a negative code.
  int FindPool(const char* name);
  bool IsPool(int pool) const { return pools().SetOf(pool) != 0; }
  // REQUIRES: IsPool, ControlFollower::BeginSample.
  void RecordAllocation(int pool, const SampledRequest& block, const Registers& caller);
  void RecordFree(int pool, uintptr_t address);

 private:
  uint32_t Intern(uint32_t parent, const LabelText& label, uint16_t flags = 0);
  uint32_t OnThreadName(uint32_t set, uint16_t name);
  uint16_t SetInPool(int pool);
  void CountFree(const wire::LiveRecord& record);
  int WhyNone() const;
  LabelTable& table() const { return session_.tables().labels; }
  PoolTable& pools() const { return session_.tables().pools; }

  Session& session_;
  Samples& samples_;
};

}  // namespace heapgauge::agent
